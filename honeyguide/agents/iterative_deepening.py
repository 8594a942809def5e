"""Depth-first down to a limit that grows when nothing is left above it (Lim 2016, §3.3)."""

from collections.abc import Sequence

import numpy as np

from honeyguide.contracts import Agent, Candidates, State, Step, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.features.recency import Recency
from honeyguide.registry import part

BELOW = np.float32(2**23)  # more than any place: what lies below the limit comes after all above it


@part("agent", "iterative_deepening", argument="step")
class IterativeDeepening(Agent):
    """Depth-first within a depth that grows step by step; no page is visited again.

    What a step leaves below its limit waits for the next one, so that nothing above has to be
    fetched again to find it. Depth is that of the first path found.
    """

    foresees = False

    def __init__(self, step: int = 1) -> None:
        if step < 1:
            raise HoneyguideError("the depth must grow by at least 1")
        self.features: Recency = Recency()
        self.step = step
        self.limit = step  # hops from a seed
        self._stale = False

    def score(self, links: Candidates) -> Vector:
        """The later the better, within the limit first; exact for 8 million links found."""
        below = np.where(links.x[:, 1] > self.limit, BELOW, np.float32(0))
        scores: Vector = links.x[:, 0] - below
        return scores

    def learn(self, steps: Sequence[Step]) -> None:
        """A link from below the limit says that nothing is left above it."""
        deepest = max((int(step.x[1]) for step in steps), default=0)
        self._stale = deepest > self.limit
        while deepest > self.limit:
            self.limit += self.step

    def stale(self) -> bool:
        """When the limit has grown."""
        return self._stale

    def state(self) -> State:
        """How many links were found, and how deep to go."""
        return {"features": self.features.state(), "limit": self.limit, "stale": self._stale}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.features.load(state["features"])
        self.limit, self._stale = state["limit"], state["stale"]
