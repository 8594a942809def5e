"""A random walk, the baseline of Friar (2017, §3.4)."""

from collections.abc import Sequence

import numpy as np

from honeyguide.contracts import Agent, Candidates, Step, Vector, Visit
from honeyguide.features.discovery import Discovery
from honeyguide.registry import part


@part("agent", "random_walk")
class RandomWalk(Agent):
    """Follows a random link of the last page; starts again elsewhere after a relevant page."""

    frontier = "walks"
    foresees = False

    def __init__(self) -> None:
        self.features = Discovery()

    def score(self, links: Candidates) -> Vector:
        """Zero for every link."""
        return np.zeros(len(links), np.float32)

    def explores(self) -> bool:
        """Always take a random link."""
        return True

    def ends(self, visit: Visit) -> bool:
        """End the episode at a relevant page (Friar 2017, §3.2.3)."""
        return visit.verdict.relevant

    def learn(self, steps: Sequence[Step]) -> None:
        """Do nothing: this agent does not learn."""
