"""The order in which links were last found, and their depth."""

import numpy as np

from honeyguide.contracts import Matrix, MemoryView, Outlinks, State


class Recency:
    """Two features a link: the number of links found before it, and its hops from a seed."""

    width = 2

    def __init__(self) -> None:
        self._found = 0  # links found so far; a link found twice counts twice

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        start, self._found = self._found, self._found + len(found.ids)
        places = np.arange(start, self._found, dtype=np.float32)
        depths = [memory.depth(page) for page in found.ids.tolist()]
        return np.stack([places, np.array(depths, np.float32)], axis=1)

    def state(self) -> State:
        """The number of links found so far."""
        return {"found": self._found}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._found = state["found"]
