"""The order in which links were first found."""

import numpy as np

from honeyguide.contracts import Matrix, MemoryView, Outlinks


class Discovery:
    """One feature a link: the number of URLs found before it."""

    width = 1

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        return found.ids.astype(np.float32)[:, None]
