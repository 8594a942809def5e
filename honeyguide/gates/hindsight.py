"""Compares how well the agent and the gate have ranked the last pages."""

import math
from collections import deque

import numpy as np

from honeyguide.contracts import State
from honeyguide.learning.ranking import roc_auc

EVERY = 10  # pages between two comparisons
FEWEST = 30  # pages of a comparison
SURE = 2.0  # standard deviations that the gate's lead must exceed


class Hindsight:
    """Compares the agent's scores and the gate's values of the last pages with their relevance.

    An agent that ranks links well needs no gate: skipping its best links costs relevant pages. So
    the gate acts only while the ROC AUC of its own values exceeds that of the agent's scores by a
    margin and by more than chance explains. It always acts for an agent that foresees nothing.
    """

    def __init__(self, window: int = 200, margin: float = 0.1) -> None:
        self._margin = margin
        self._pages: deque[tuple[float, float, bool]] = deque(maxlen=window)
        self._expected: dict[
            int, tuple[float, float]
        ] = {}  # by page: the agent's score, the gate's value
        self._since = 0  # pages since the last comparison
        self.gate_ranks_better = False

    def expect(self, id: int, score: float | None, value: float) -> None:
        """Store the agent's score and the gate's value of a page that will be fetched."""
        if score is None:
            self.gate_ranks_better = True
        else:
            self._expected[id] = score, value

    def learn(self, id: int, relevant: bool) -> None:
        """Add the outcome of a fetched page, and compare again every ten pages."""
        if id not in self._expected:
            return
        self._pages.append((*self._expected.pop(id), relevant))
        self._since += 1
        if self._since >= EVERY and len(self._pages) >= FEWEST:
            self._since = 0
            self.gate_ranks_better = self._lead() > self._margin

    def _lead(self) -> float:
        """The difference of the two AUCs, less what chance may explain."""
        scores, values, outcomes = zip(*self._pages, strict=True)
        relevant = sum(outcomes)
        others = len(outcomes) - relevant
        if not relevant or not others:
            return -math.inf
        # standard deviation of the difference of two AUCs of random rankings (Mann-Whitney)
        chance = math.sqrt((len(outcomes) + 1) / (6 * relevant * others))
        return roc_auc(values, outcomes) - roc_auc(scores, outcomes) - SURE * chance

    def state(self) -> State:
        """Everything that `load` restores."""
        return {
            "pages": np.array(self._pages, np.float64).reshape(-1, 3),
            "expected": [[id, *both] for id, both in self._expected.items()],
            "since": self._since,
            "gate_knows_more": self.gate_ranks_better,
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._pages.clear()
        self._pages.extend((score, value, bool(yes)) for score, value, yes in state["pages"])
        self._expected = {id: (score, value) for id, score, value in state["expected"]}
        self._since = state["since"]
        self.gate_ranks_better = state["gate_knows_more"]
