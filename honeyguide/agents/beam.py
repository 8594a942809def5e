"""Beam search: another agent's order, with few links waiting (Lim 2016, §3.4 and 9.2)."""

import numpy as np

from honeyguide.agents.wrapped import Wrapped
from honeyguide.contracts import Goal
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make, part


@part("agent", "beam", argument="agent")
class Beam(Wrapped):
    """Follows another agent's order, and lets go of all but its best waiting links."""

    def __init__(
        self,
        goal: Goal,
        rng: np.random.Generator,
        agent: str = "best_first",  # whose score is the heuristic
        width: int = 500,  # links that may wait
    ) -> None:
        if width < 1:
            raise HoneyguideError("a beam needs room for at least one waiting link")
        super().__init__(make("agent", agent, goal=goal, rng=rng))
        self.max_waiting = width
