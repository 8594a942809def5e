"""Who has lately told relevant pages from others better: the agent, or the gate."""

import math
from collections import deque

import numpy as np

from honeyguide.contracts import State
from honeyguide.learning.ranking import ranked_above

EVERY = 10  # pages until the question is asked again
FEWEST = 30  # pages to judge by
SURE = 2.0  # standard deviations of a lead that chance might give


class Hindsight:
    """Compares what agent and gate thought of the last pages with what became of them.

    An agent that orders links well needs no gate: what it ranks highest is the best there is, and
    skipping it costs. So the gate acts only while its own worths put relevant pages above others
    more often than the agent's scores do, by a margin and more than chance would give where
    relevant pages are few; always for an agent that foresees nothing.
    """

    def __init__(self, window: int = 200, margin: float = 0.1) -> None:
        self._margin = margin
        self._pages: deque[tuple[float, float, bool]] = deque(maxlen=window)
        self._expected: dict[int, tuple[float, float]] = {}  # by page: the agent's, the gate's
        self._since = 0
        self.gate_knows_more = False

    def expect(self, id: int, score: float | None, worth: float) -> None:
        """A page will be fetched: what the agent and the gate think of it."""
        if score is None:
            self.gate_knows_more = True
        else:
            self._expected[id] = score, worth

    def learn(self, id: int, relevant: bool) -> None:
        """What became of it."""
        if id not in self._expected:
            return
        self._pages.append((*self._expected.pop(id), relevant))
        self._since += 1
        if self._since >= EVERY and len(self._pages) >= FEWEST:
            self._since = 0
            self.gate_knows_more = self._lead() > self._margin

    def _lead(self) -> float:
        """By how much the gate has ranked better, less what may be chance."""
        scores, worths, outcomes = zip(*self._pages, strict=True)
        relevant = sum(outcomes)
        others = len(outcomes) - relevant
        if not relevant or not others:
            return -math.inf
        # twice the variance of the Mann-Whitney statistic where nothing is known: two rankings
        chance = math.sqrt((len(outcomes) + 1) / (6 * relevant * others))
        return ranked_above(worths, outcomes) - ranked_above(scores, outcomes) - SURE * chance

    def state(self) -> State:
        """Everything that `load` restores."""
        return {
            "pages": np.array(self._pages, np.float64).reshape(-1, 3),
            "expected": [[id, *both] for id, both in self._expected.items()],
            "since": self._since,
            "gate_knows_more": self.gate_knows_more,
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._pages.clear()
        self._pages.extend((score, worth, bool(yes)) for score, worth, yes in state["pages"])
        self._expected = {id: (score, worth) for id, score, worth in state["expected"]}
        self._since = state["since"]
        self.gate_knows_more = state["gate_knows_more"]
