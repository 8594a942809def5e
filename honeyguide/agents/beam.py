"""Beam search: another agent's scores with a short queue (Lim 2016, §3.4 and 9.2)."""

import numpy as np

from honeyguide.agents.wrapped import Wrapped
from honeyguide.contracts import Goal
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make, part


@part("agent", "beam", argument="agent")
class Beam(Wrapped):
    """Scores links as another agent does and keeps only the best ones waiting."""

    def __init__(
        self,
        goal: Goal,
        rng: np.random.Generator,
        agent: str = "best_first",  # that scores the links
        width: int = 500,  # links that may wait
    ) -> None:
        if width < 1:
            raise HoneyguideError("beam needs a width of at least 1 waiting link")
        super().__init__(make("agent", agent, goal=goal, rng=rng))
        self.max_waiting = width
