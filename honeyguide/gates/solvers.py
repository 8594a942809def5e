"""Three ways to a policy of parsing and skipping: document 002's own, and two that work."""

from typing import Protocol

import numpy as np

from honeyguide.contracts import State
from honeyguide.gates.document import document_model
from honeyguide.gates.mdp import PARSE, SKIP, Array, policy_iteration

STATES = 16


class Solver(Protocol):
    """Says in which of 16 states to parse, and learns from what came of it."""

    def parses(self, state: int) -> bool: ...

    def learn(self, state: int, action: int, reward: float, after: int, share: float) -> None:
        """A decision, 1 when it brought a relevant page, and the state of the next decision.

        The share is that of relevant pages among all that were parsed so far.
        """
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

    def learn(self, state: int, action: int, reward: float, after: int, share: float) -> None:
        """Nothing to learn."""

    def worths(self) -> Array:
        """Of the solution."""
        return self._solution.worths

    def state(self) -> State:
        """Nothing to keep."""
        return {}

    def load(self, state: State) -> None:
        """Nothing to bring back."""


class EstimatedPolicy:
    """Policy iteration on transitions and rewards counted in the crawl so far.

    A relevant page is worth 1 and a fetch costs `price` times what a fetch brings on average.
    """

    def __init__(self, gamma: float = 0.3, price: float = 0.5, every: int = 10) -> None:
        self.gamma = gamma
        self.price = price
        self._every = every  # decisions that brought news, until the policy is solved again
        self._moves = np.full((2, STATES, STATES), 1.0 / STATES)  # counted, with one of chance
        self._parsed = np.zeros(STATES)
        self._relevant = np.zeros(STATES)
        self._news = 0
        self._share = 1.0
        self._solve()

    def parses(self, state: int) -> bool:
        """What the last solution says."""
        return self._parses[state]

    def learn(self, state: int, action: int, reward: float, after: int, share: float) -> None:
        """Count, and solve again now and then."""
        self._moves[action, state, after] += 1
        self._share = share
        if action == PARSE:
            self._parsed[state] += 1
            self._relevant[state] += reward
            self._news += 1
            if self._news % self._every == 0 or self._news < self._every:
                self._solve()

    def worths(self) -> Array:
        """Of the last solution."""
        return self._worths

    def state(self) -> State:
        """What was counted."""
        return {
            "moves": self._moves.copy(),
            "parsed": self._parsed.copy(),
            "relevant": self._relevant.copy(),
            "news": self._news,
            "share": self._share,
            "worths": self._worths.copy(),
        }

    def load(self, state: State) -> None:
        """Go on from there."""
        self._moves, self._worths = state["moves"].copy(), state["worths"].copy()
        self._parsed, self._relevant = state["parsed"].copy(), state["relevant"].copy()
        self._news, self._share = state["news"], state["share"]
        self._parses = (self._worths[:, PARSE] > self._worths[:, SKIP]).tolist()

    def _solve(self) -> None:
        # one relevant page more than there were: a state must fail often before it is given up
        chance = (self._relevant + 1) / (self._parsed + 1)
        rewards = np.zeros((STATES, 2))
        rewards[:, PARSE] = chance - self.price * self._share
        moves = self._moves / self._moves.sum(axis=2, keepdims=True)
        solution = policy_iteration(moves, rewards, self.gamma)
        self._worths = solution.worths
        self._parses = solution.parses.tolist()


class QLearning:
    """Model-free (section 9.1): worths follow what came of each decision and the best one next."""

    def __init__(self, gamma: float = 0.3, price: float = 0.5, slowest: float = 0.02) -> None:
        self.gamma = gamma
        self.price = price
        self._slowest = slowest  # the least weight of a new outcome
        self._worths = np.zeros((STATES, 2))
        self._worths[:, PARSE] = 1.0  # untried is promising
        self._times = np.zeros((STATES, 2))

    def parses(self, state: int) -> bool:
        """The action that is worth more."""
        return bool(self._worths[state, PARSE] > self._worths[state, SKIP])

    def learn(self, state: int, action: int, reward: float, after: int, share: float) -> None:
        """Q(s, a) += alpha (r + gamma max Q(s', .) - Q(s, a))."""
        self._times[state, action] += 1
        alpha = max(1 / (1 + self._times[state, action]), self._slowest)
        earned = reward - self.price * share if action == PARSE else 0.0
        target = earned + self.gamma * self._worths[after].max()
        self._worths[state, action] += alpha * (target - self._worths[state, action])

    def worths(self) -> Array:
        """As learnt so far."""
        return self._worths

    def state(self) -> State:
        """What was learnt."""
        return {"worths": self._worths.copy(), "times": self._times.copy()}

    def load(self, state: State) -> None:
        """Go on from there."""
        self._worths, self._times = state["worths"].copy(), state["times"].copy()
