"""Three ways to a policy of parsing and skipping: Lim's (2016) own, and two that work."""

from typing import Protocol

import numpy as np

from honeyguide.contracts import State
from honeyguide.gates.lim2016_model import document_model
from honeyguide.gates.mdp import PARSE, SKIP, Array, policy_iteration

STATES = 16
DOUBT = 1.0  # a relevant page that each state gets for nothing: it must fail for a while
MEMORY = 50  # pages of a state that count: a web runs dry, and what was true is true no more
FORGET = 1500  # pages of any state after which a state that is skipped is unknown again, by and by
MOST_CHILDREN = 2.0  # pages that a page leads to, at most, so that values stay finite


class Solver(Protocol):
    """Says in which of 16 states to parse, and learns from what came of it."""

    def parses(self, state: int) -> bool: ...

    def learn(self, state: int, relevant: bool, harvest: float) -> None:
        """A page was parsed; the harvest is what a fetch had lately brought before it."""
        ...

    def follow(self, state: int, child: int) -> None:
        """A page that was parsed in the second state had been found on one parsed in the first."""
        ...

    def worths(self) -> Array:
        """States x actions: what skipping and parsing are worth."""
        ...

    def state(self) -> State: ...

    def load(self, state: State) -> None: ...


class DocumentPolicy:
    """Policy iteration on the document's reward and stated transitions: it never learns."""

    def __init__(self, gamma: float = 0.9) -> None:
        self._solution = policy_iteration(*document_model(), gamma)

    def parses(self, state: int) -> bool:
        """What was computed beforehand."""
        return bool(self._solution.parses[state])

    def learn(self, state: int, relevant: bool, harvest: float) -> None:
        """Nothing to learn."""

    def follow(self, state: int, child: int) -> None:
        """Nothing to learn."""

    def worths(self) -> Array:
        """Of the solution."""
        return self._solution.worths

    def state(self) -> State:
        """An empty state: nothing is kept."""
        return {}

    def load(self, state: State) -> None:
        """Do nothing: there is no state."""


class EstimatedPolicy:
    """Policy iteration on transitions and rewards counted in the crawl so far.

    A relevant page is worth 1, a fetch costs `price` times what a fetch has lately brought, and a
    page leads to the pages parsed from it: Q(s, parse) = P(relevant | s) - price + gamma * sum of
    their values. A skipped link leads nowhere and costs nothing: Q(s, skip) = 0. P is the harvest
    times what the state's pages brought against what all pages brought when they were parsed: a
    state that was met when the crawl went well is no better for that.
    """

    def __init__(self, gamma: float = 0.3, price: float = 0.8, every: int = 10) -> None:
        self.gamma = gamma
        self.price = price
        self._every = every  # pages until the policy is solved again
        self._children = np.zeros((STATES, STATES))
        self._parsed = np.zeros(STATES)
        self._relevant = np.zeros(STATES)
        self._expected = np.zeros(STATES)  # what other pages would have brought meanwhile
        self._harvest = 1.0
        self._pages = 0
        self._worths: Array = np.zeros((STATES, 2))
        self._parses: list[bool] = []
        self._solve()

    def parses(self, state: int) -> bool:
        """What the last solution says."""
        return self._parses[state]

    def learn(self, state: int, relevant: bool, harvest: float) -> None:
        """Count, and solve again now and then."""
        for counts in (self._parsed, self._relevant, self._expected, self._children):
            np.multiply(counts, 1 - 1 / FORGET, out=counts)
        kept = 1 - 1 / MEMORY
        self._parsed[state] = kept * self._parsed[state] + 1
        self._relevant[state] = kept * self._relevant[state] + relevant
        self._expected[state] = kept * self._expected[state] + harvest
        self._children[state] *= kept
        self._harvest = harvest
        self._pages += 1
        if self._pages % self._every == 0:
            self._solve()

    def follow(self, state: int, child: int) -> None:
        """Count."""
        self._children[state, child] += 1

    def worths(self) -> Array:
        """Of the last solution."""
        return self._worths

    def state(self) -> State:
        """What was counted."""
        return {
            "children": self._children.copy(),
            "parsed": self._parsed.copy(),
            "relevant": self._relevant.copy(),
            "expected": self._expected.copy(),
            "harvest": self._harvest,
            "pages": self._pages,
            "worths": self._worths.copy(),
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._children, self._worths = state["children"].copy(), state["worths"].copy()
        self._parsed, self._relevant = state["parsed"].copy(), state["relevant"].copy()
        self._expected = state["expected"].copy()
        self._harvest, self._pages = state["harvest"], state["pages"]
        self._decide()

    def _solve(self) -> None:
        rewards = np.zeros((STATES, 2))
        against_others = (self._relevant + DOUBT) / (self._expected + DOUBT)
        rewards[:, PARSE] = self._harvest * (against_others - self.price)
        moves = np.zeros((2, STATES, STATES))
        children = self._children / np.maximum(self._parsed, 1)[:, None]
        many = children.sum(axis=1, keepdims=True)
        moves[PARSE] = children * np.minimum(1, MOST_CHILDREN / np.maximum(many, 1e-9))
        self._worths = policy_iteration(moves, rewards, self.gamma).worths
        self._decide()

    def _decide(self) -> None:
        self._parses = (self._worths[:, PARSE] > self._worths[:, SKIP]).tolist()


class QLearning:
    """Model-free (section 9.1): the same worths, followed outcome by outcome.

    A page's own outcome moves Q(s, parse) towards it; each page parsed from it adds gamma times
    the best worth of that page's state.
    """

    def __init__(self, gamma: float = 0.3, price: float = 0.9, slowest: float = 0.01) -> None:
        self.gamma = gamma
        self.price = price
        self._slowest = slowest  # the least weight of a new outcome
        self._worths: Array = np.zeros((STATES, 2))
        self._worths[:, PARSE] = 1.0  # untried is promising
        self._times = np.zeros(STATES)

    def parses(self, state: int) -> bool:
        """The action that is worth more."""
        return bool(self._worths[state, PARSE] > self._worths[state, SKIP])

    def learn(self, state: int, relevant: bool, harvest: float) -> None:
        """Q(s, a) += alpha (r - Q(s, a))."""
        self._times[state] += 1
        reward = float(relevant) - self.price * harvest
        self._worths[state, PARSE] += self._rate(state) * (reward - self._worths[state, PARSE])

    def follow(self, state: int, child: int) -> None:
        """Q(s, a) += alpha gamma max Q(s', .), for each s' that it leads to."""
        ahead = min(1.0, self._worths[child].max())
        self._worths[state, PARSE] += self._rate(state) * self.gamma * ahead

    def worths(self) -> Array:
        """As learnt so far."""
        return self._worths

    def state(self) -> State:
        """What was learnt."""
        return {"worths": self._worths.copy(), "times": self._times.copy()}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._worths, self._times = state["worths"].copy(), state["times"].copy()

    def _rate(self, state: int) -> float:
        return max(1 / (DOUBT + float(self._times[state])), self._slowest)
