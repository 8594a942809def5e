"""Any link of the page just read (Friar 2017, §3.4: the baseline)."""

from collections.abc import Sequence

import numpy as np

from honeyguide.contracts import Agent, Candidates, Step, Vector, Visit
from honeyguide.features.discovery import Discovery
from honeyguide.registry import part


@part("agent", "random_walk")
class RandomWalk(Agent):
    """Walks from page to page at random until it finds something, then begins elsewhere."""

    frontier = "walks"
    foresees = False

    def __init__(self) -> None:
        self.features = Discovery()

    def score(self, links: Candidates) -> Vector:
        """All the same."""
        return np.zeros(len(links), np.float32)

    def explores(self) -> bool:
        """Always."""
        return True

    def ends(self, visit: Visit) -> bool:
        """Section 3.2.3: an episode ends with a reward; so does any without links."""
        return visit.verdict.relevant

    def learn(self, steps: Sequence[Step]) -> None:
        """Do nothing: this agent does not learn."""
