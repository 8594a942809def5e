"""When a link was last found, and how far from a seed."""

import numpy as np

from honeyguide.contracts import Matrix, MemoryView, Outlinks, State


class Recency:
    """Two numbers a link: its place on a stack, where the latest is on top, and its depth."""

    width = 2

    def __init__(self) -> None:
        self._found = 0  # links found so far, each time they were found

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        start, self._found = self._found, self._found + len(found.ids)
        places = np.arange(start, self._found, dtype=np.float32)
        depths = [memory.depth(page) for page in found.ids.tolist()]
        return np.stack([places, np.array(depths, np.float32)], axis=1)

    def state(self) -> State:
        """How many were found."""
        return {"found": self._found}

    def load(self, state: State) -> None:
        """Go on from there."""
        self._found = state["found"]
