"""Breadth-first search."""

from collections.abc import Sequence

from honeyguide.contracts import Agent, Candidates, Step, Vector
from honeyguide.features.discovery import Discovery
from honeyguide.registry import part


@part("agent", "breadth_first")
class BreadthFirst(Agent):
    """Follows links in the order in which they were found."""

    foresees = False

    def __init__(self) -> None:
        self.features = Discovery()

    def score(self, links: Candidates) -> Vector:
        """Minus the number of URLs found before; exact for the first 16 million URLs."""
        return -links.x[:, 0]

    def learn(self, steps: Sequence[Step]) -> None:
        """Do nothing: this agent does not learn."""
