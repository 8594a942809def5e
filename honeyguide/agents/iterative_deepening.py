"""Iterative deepening: depth-first search with a growing depth limit (Lim 2016, §3.3)."""

from collections.abc import Sequence

import numpy as np

from honeyguide.contracts import Agent, Candidates, State, Step, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.features.recency import Recency
from honeyguide.registry import part

BELOW = np.float32(2**23)  # subtracted from scores of links below the limit, so that they come last


@part("agent", "iterative_deepening", argument="step")
class IterativeDeepening(Agent):
    """Depth-first within a depth limit that grows step by step; no page is visited again.

    Links below the limit wait until it grows, so that no page is fetched again to find them. Depth
    is that of the first path found, which with a step of 1 is a shortest one.
    """

    foresees = False

    def __init__(
        self,
        step: int = 1,  # hops by which the limit grows
        deepest: int | None = None,  # hops beyond which no link is followed; None: no maximum
    ) -> None:
        if step < 1:
            raise HoneyguideError("iterative_deepening needs a step of at least 1")
        if deepest is not None and deepest < 1:
            raise HoneyguideError("iterative_deepening needs a maximum depth of at least 1")
        self.features: Recency = Recency()
        self.step = step
        self.deepest = np.inf if deepest is None else deepest
        self.limit = step  # hops from a seed
        self._stale = False

    def score(self, links: Candidates) -> Vector:
        """The later found the better, links within the limit first; exact for 8 million links."""
        depth = links.x[:, 1]
        scores: Vector = links.x[:, 0] - np.where(depth > self.limit, BELOW, np.float32(0))
        scores[depth > self.deepest] = -np.inf
        return scores

    def learn(self, steps: Sequence[Step]) -> None:
        """Raise the limit when a link below it was taken: none was left above."""
        deepest = max((int(step.x[1]) for step in steps), default=0)
        self._stale = deepest > self.limit
        while deepest > self.limit:
            self.limit += self.step

    def stale(self) -> bool:
        """Whether the limit has grown."""
        return self._stale

    def state(self) -> State:
        """The number of links found, and the depth limit."""
        return {"features": self.features.state(), "limit": self.limit, "stale": self._stale}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.features.load(state["features"])
        self.limit, self._stale = state["limit"], state["stale"]
