"""AUC: how well scores separate two classes."""

import numpy as np
from numpy.typing import ArrayLike


def ranked_above(scores: ArrayLike, positive: ArrayLike) -> float:
    """The chance that a positive one has a higher score than another: area under the ROC curve."""
    yes = np.asarray(positive, np.bool_)
    _, place, count = np.unique(np.asarray(scores), return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]  # equals share their mean rank
    pairs = int(yes.sum()) * int((~yes).sum())
    if not pairs:
        return 0.5
    return float((rank[yes].sum() - yes.sum() * (yes.sum() + 1) / 2) / pairs)
