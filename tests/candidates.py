"""Rows of features as the links that agents score and learn from."""

import numpy as np

from honeyguide.contracts import Candidates


def candidates(x, ids=None):
    """Links to pages of these numbers; to pages 0, 1, 2 ... when none are given."""
    x = np.asarray(x, np.float32)
    return Candidates(np.arange(len(x), dtype=np.int32) if ids is None else ids, x)
