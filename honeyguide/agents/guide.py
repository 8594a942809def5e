"""Online ridge regression on all that speaks for a link, with a look one step ahead."""

from collections.abc import Sequence

import numpy as np

from honeyguide.contracts import Agent, Goal, Matrix, State, Step, Vector
from honeyguide.features.evidence import LinkEvidence
from honeyguide.registry import part


@part("agent", "guide")
class Guide(Agent):
    """Learns from every page which links lead to relevant ones, here or one step further."""

    def __init__(
        self,
        goal: Goal,
        gamma: float = 0.5,  # worth of the best link of a page against that of the page itself
        ridge: float = 1.0,  # trust in what is believed before the first page
        dimensions: int = 64,  # of the meaning of a link's words
        buckets: int = 256,  # for the words themselves
    ) -> None:
        self.features: LinkEvidence = LinkEvidence(goal, dimensions, buckets)
        self.gamma = gamma
        # before the first page: a link is worth its likeness to the topic, like best_first's
        self._belief = np.zeros(self.features.width)
        self._belief[dimensions + 1 : dimensions + 3] = 0.5  # its own words, and those around it
        self._inverse = np.eye(self.features.width) / ridge  # (ridge I + sum x x')^-1
        self._sum = np.zeros(self.features.width)  # of x (y - x belief)
        self._weigh()

    def score(self, x: Matrix) -> Vector:
        """The worth that is expected."""
        return x @ self._weights32

    def learn(self, steps: Sequence[Step]) -> None:
        """Least squares, one row at a time (Sherman and Morrison)."""
        for step in steps:
            x = step.x.astype(np.float64)
            worth = step.reward + self.gamma * self._best_of(step.options)
            along = self._inverse @ x
            self._inverse -= np.outer(along, along / (1 + x @ along))
            self._sum += x * (worth - x @ self._belief)
        self._weigh()

    def stale(self) -> bool:
        """After each page: every waiting link is seen in a new light."""
        return True

    def state(self) -> State:
        """What was learnt."""
        return {
            "inverse": self._inverse.copy(),
            "sum": self._sum.copy(),
            "features": self.features.state(),
        }

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        self._inverse, self._sum = state["inverse"].copy(), state["sum"].copy()
        self.features.load(state["features"])
        self._weigh()

    def _weigh(self) -> None:
        self._weights = self._belief + self._inverse @ self._sum
        self._weights32 = self._weights.astype(np.float32)

    def _best_of(self, options: Matrix) -> float:
        """The expected worth of the best link of a page, as a share of a relevant page's."""
        return min(1.0, max(0.0, float((options @ self._weights).max(initial=0.0))))
