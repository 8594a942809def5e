"""The area under the ROC curve: how well scores separate two classes."""

import numpy as np
from numpy.typing import ArrayLike


def roc_auc(scores: ArrayLike, positive: ArrayLike) -> float:
    """The probability that a positive has a higher score than a negative; 0.5 without either."""
    yes = np.asarray(positive, np.bool_)
    _, place, count = np.unique(np.asarray(scores), return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]  # ties get their mean rank
    pairs = int(yes.sum()) * int((~yes).sum())
    if not pairs:
        return 0.5
    return float((rank[yes].sum() - yes.sum() * (yes.sum() + 1) / 2) / pairs)
