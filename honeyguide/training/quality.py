"""How good probabilities are."""

from dataclasses import dataclass

import numpy as np

from honeyguide.contracts import Mask
from honeyguide.learning.logistic import Numbers
from honeyguide.learning.ranking import roc_auc

BINS = 10


@dataclass(frozen=True, slots=True)
class Quality:
    """Of verdicts at 0.5, of the order of pages, and of the probabilities themselves."""

    accuracy: float
    precision: float
    recall: float
    auc: float  # how often a positive page is above a negative one
    calibration_error: float  # mean distance of probability and truth, in ten bins


def quality(probability: Numbers, target: Mask) -> Quality:
    """Compare probabilities with what is true."""
    verdict = probability >= 0.5
    hits = int((verdict & target).sum())
    return Quality(
        accuracy=float((verdict == target).mean()),
        precision=hits / max(1, int(verdict.sum())),
        recall=hits / max(1, int(target.sum())),
        auc=roc_auc(probability, target),
        calibration_error=_calibration_error(probability, target),
    )


def _calibration_error(probability: Numbers, target: Mask) -> float:
    number = np.minimum((probability * BINS).astype(int), BINS - 1)
    gap = np.bincount(number, probability - target, BINS)
    return float(np.abs(gap).sum() / len(target))
