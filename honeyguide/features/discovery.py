"""When a link was first seen."""

import numpy as np

from honeyguide.contracts import Matrix, MemoryView, Outlinks


class Discovery:
    """One number a link: how many URLs were seen before it."""

    width = 1

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        return found.ids.astype(np.float32)[:, None]
