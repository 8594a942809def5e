"""Depth-first search (Lim 2016, §3.1)."""

from collections.abc import Sequence

from honeyguide.contracts import Agent, Candidates, State, Step, Vector
from honeyguide.features.recency import Recency
from honeyguide.registry import part


@part("agent", "depth_first")
class DepthFirst(Agent):
    """Follows the link found last."""

    foresees = False

    def __init__(self) -> None:
        self.features: Recency = Recency()

    def score(self, links: Candidates) -> Vector:
        """The number of links found before; exact for the first 16 million."""
        return links.x[:, 0]

    def learn(self, steps: Sequence[Step]) -> None:
        """Do nothing: this agent does not learn."""

    def state(self) -> State:
        """The number of links found so far."""
        return self.features.state()

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.features.load(state)
