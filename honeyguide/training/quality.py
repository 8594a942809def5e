"""Measure predicted probabilities against the truth."""

from dataclasses import dataclass

import numpy as np

from honeyguide.contracts import Mask
from honeyguide.learning.logistic import Numbers
from honeyguide.learning.ranking import roc_auc

BINS = 10


@dataclass(frozen=True, slots=True)
class Quality:
    """Accuracy, precision and recall at a threshold of 0.5, AUC and calibration error."""

    accuracy: float
    precision: float
    recall: float
    auc: float  # P(a positive page has a higher probability than a negative one)
    calibration_error: float  # expected calibration error, in ten bins


def quality(probability: Numbers, target: Mask) -> Quality:
    """Return the quality of probabilities, given the true classes."""
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
