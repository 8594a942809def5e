"""Random search."""

from collections.abc import Sequence

import numpy as np

from honeyguide.contracts import Agent, Candidates, Step, Vector
from honeyguide.features.discovery import Discovery
from honeyguide.registry import part


@part("agent", "random")
class Random(Agent):
    """Follows a waiting link drawn uniformly at random."""

    foresees = False

    def __init__(self) -> None:
        self.features = Discovery()

    def score(self, links: Candidates) -> Vector:
        """Zero for every link."""
        return np.zeros(len(links), np.float32)

    def explores(self) -> bool:
        """Always take a random link."""
        return True

    def learn(self, steps: Sequence[Step]) -> None:
        """Do nothing: this agent does not learn."""
