"""Three policies of parsing and skipping: that of Lim (2016), and two that learn in the crawl."""

from typing import Protocol

import numpy as np

from honeyguide.contracts import State
from honeyguide.gates.lim2016_model import lim2016_model
from honeyguide.gates.mdp import PARSE, SKIP, Array, Mask, policy_iteration

STATES = 16
PRIOR = 1.0  # pseudo-count of relevant pages a state, so that each is tried for a while
STATE_MEMORY = 50  # pages of a state over which its counts decay
CRAWL_MEMORY = 1500  # pages of any state over which all counts decay, to retry skipped states
MOST_CHILDREN = 2.0  # expected children of a page, at most
MOST_AHEAD = 0.95  # discounted children of a page, at most, so that values stay finite


class Solver(Protocol):
    """A policy over 16 states that may learn from the pages parsed."""

    def parses(self, state: int) -> bool:
        """Whether to parse a link in this state."""
        ...

    def learn(self, state: int, relevant: bool, harvest: float) -> None:
        """Learn from a page parsed in a state; `harvest` is the harvest rate before it."""
        ...

    def learn_child(self, state: int, child: int) -> None:
        """Learn that a page parsed in `state` has led to one parsed in the state `child`."""
        ...

    def q_values(self) -> Array:
        """The values of skipping and parsing: states x actions."""
        ...

    def state(self) -> State: ...

    def load(self, state: State) -> None: ...


class Lim2016Policy:
    """Policy iteration on the reward and transitions of lim2016_model; it never learns."""

    def __init__(
        self,
        gamma: float = 0.9,  # 1 maximises the mean reward of a step
        penalty: float = 0.0,  # subtracted from the reward for skipping (§7.3.2)
        first: Mask | None = None,  # as policy_iteration takes it
    ) -> None:
        self._solution = policy_iteration(*lim2016_model(penalty=penalty), gamma, first)

    def parses(self, state: int) -> bool:
        """As computed beforehand."""
        return bool(self._solution.parses[state])

    def learn(self, state: int, relevant: bool, harvest: float) -> None:
        """Do nothing: this policy does not learn."""

    def learn_child(self, state: int, child: int) -> None:
        """Do nothing: this policy does not learn."""

    def q_values(self) -> Array:
        """As computed beforehand."""
        return self._solution.q_values

    def state(self) -> State:
        """An empty state: nothing is kept."""
        return {}

    def load(self, state: State) -> None:
        """Do nothing: there is no state."""


class EstimatedPolicy:
    """Policy iteration on transitions and rewards counted in the crawl so far.

    A relevant page has the reward 1, a fetch costs `price` times the harvest rate, and a page leads
    to the pages parsed from it: Q(s, parse) = P(relevant | s) - cost + gamma * sum of their values.
    A skipped link leads nowhere and costs nothing: Q(s, skip) = 0. P is the harvest rate times the
    ratio of the state's relevant pages to those expected by the harvest rates when its pages were
    parsed, so that a state does not gain from having been seen in a good phase of the crawl.
    """

    def __init__(
        self,
        gamma: float = 0.3,
        price: float = 0.8,
        every: int = 10,  # pages between two policy iterations
        first: Mask | None = None,  # as policy_iteration takes it
    ) -> None:
        self.gamma = gamma
        self.price = price
        self._every = every
        self._first = first
        self._children = np.zeros((STATES, STATES))
        self._parsed = np.zeros(STATES)
        self._relevant = np.zeros(STATES)
        self._expected = np.zeros(
            STATES
        )  # relevant pages by the harvest rates when its pages were parsed
        self._harvest = 1.0
        self._pages = 0
        self._q_values: Array = np.zeros((STATES, 2))
        self._parses: list[bool] = []
        self._solve()

    def parses(self, state: int) -> bool:
        """As the last policy iteration decided."""
        return self._parses[state]

    def learn(self, state: int, relevant: bool, harvest: float) -> None:
        """Count the page, and repeat policy iteration every `every` pages."""
        for counts in (self._parsed, self._relevant, self._expected, self._children):
            np.multiply(counts, 1 - 1 / CRAWL_MEMORY, out=counts)
        kept = 1 - 1 / STATE_MEMORY
        self._parsed[state] = kept * self._parsed[state] + 1
        self._relevant[state] = kept * self._relevant[state] + relevant
        self._expected[state] = kept * self._expected[state] + harvest
        self._children[state] *= kept
        self._harvest = harvest
        self._pages += 1
        if self._pages % self._every == 0:
            self._solve()

    def learn_child(self, state: int, child: int) -> None:
        """Count the child."""
        self._children[state, child] += 1

    def q_values(self) -> Array:
        """As the last policy iteration gave them."""
        return self._q_values

    def state(self) -> State:
        """All counts and the Q-values."""
        return {
            "children": self._children.copy(),
            "parsed": self._parsed.copy(),
            "relevant": self._relevant.copy(),
            "expected": self._expected.copy(),
            "harvest": self._harvest,
            "pages": self._pages,
            "worths": self._q_values.copy(),
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._children, self._q_values = state["children"].copy(), state["worths"].copy()
        self._parsed, self._relevant = state["parsed"].copy(), state["relevant"].copy()
        self._expected = state["expected"].copy()
        self._harvest, self._pages = state["harvest"], state["pages"]
        self._decide()

    def _solve(self) -> None:
        rewards = np.zeros((STATES, 2))
        ratios = (self._relevant + PRIOR) / (self._expected + PRIOR)
        rewards[:, PARSE] = self._harvest * (ratios - self.price)
        moves = np.zeros((2, STATES, STATES))
        children = self._children / np.maximum(self._parsed, 1)[:, None]
        many = children.sum(axis=1, keepdims=True)
        most = min(MOST_CHILDREN, MOST_AHEAD / max(self.gamma, 1e-9))
        moves[PARSE] = children * np.minimum(1, most / np.maximum(many, 1e-9))
        self._q_values = policy_iteration(moves, rewards, self.gamma, self._first).q_values
        self._decide()

    def _decide(self) -> None:
        self._parses = (self._q_values[:, PARSE] > self._q_values[:, SKIP]).tolist()


class QLearning:
    """Q-learning, without a model (Lim 2016, §9.1), of the same values.

    A page's own outcome moves Q(s, parse) towards it; each page parsed from it adds gamma times
    the best worth of that page's state.
    """

    def __init__(self, gamma: float = 0.3, price: float = 0.9, slowest: float = 0.01) -> None:
        self.gamma = gamma
        self.price = price
        self._slowest = slowest  # the least weight of a new outcome
        self._q_values: Array = np.zeros((STATES, 2))
        self._q_values[:, PARSE] = 1.0  # optimistic, so that each state is tried
        self._times = np.zeros(STATES)

    def parses(self, state: int) -> bool:
        """Whether parsing has the higher Q-value."""
        return bool(self._q_values[state, PARSE] > self._q_values[state, SKIP])

    def learn(self, state: int, relevant: bool, harvest: float) -> None:
        """Q(s, a) += alpha (r - Q(s, a))."""
        self._times[state] += 1
        reward = float(relevant) - self.price * harvest
        self._q_values[state, PARSE] += self._rate(state) * (reward - self._q_values[state, PARSE])

    def learn_child(self, state: int, child: int) -> None:
        """Q(s, a) += alpha gamma max Q(s', .), for each child s'."""
        ahead = min(1.0, self._q_values[child].max())
        self._q_values[state, PARSE] += self._rate(state) * self.gamma * ahead

    def q_values(self) -> Array:
        """As learnt so far: states x actions."""
        return self._q_values

    def state(self) -> State:
        """The Q-values and the number of pages of each state."""
        return {"worths": self._q_values.copy(), "times": self._times.copy()}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._q_values, self._times = state["worths"].copy(), state["times"].copy()

    def _rate(self, state: int) -> float:
        return max(1 / (PRIOR + float(self._times[state])), self._slowest)
