"""Make Candidates, the links that agents score, from rows of features."""

import numpy as np

from honeyguide.contracts import Candidates


def candidates(x, ids=None):
    """Return candidates with these page ids; with 0, 1, 2 ... if none are given."""
    x = np.asarray(x) if isinstance(x, np.ndarray) else np.asarray(x, np.float32)
    return Candidates(np.arange(len(x), dtype=np.int32) if ids is None else ids, x)
