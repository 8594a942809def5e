"""How much more one agent finds than another, and how sure that is."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.float64]
RESAMPLES = 2000
LEAST = 0.5  # pages: finding nothing has a ratio too


class Interval(NamedTuple):
    """A ratio and the middle 95 % of what chance would make of it."""

    ratio: float
    low: float
    high: float


def spread(numbers: Sequence[float]) -> float:
    """The sample's standard deviation, 0 for a single run."""
    return float(np.std(numbers, ddof=1)) if len(numbers) > 1 else 0.0


def ratio(found: Sequence[float], base: Sequence[float]) -> float:
    """Of the means of two agents' runs on one task."""
    return max(float(np.mean(found)), LEAST) / max(float(np.mean(base)), LEAST)


def geometric_mean(ratios: Sequence[float]) -> float:
    """The mean of ratios: twice as much and half as much make one."""
    return float(np.exp(np.mean(np.log(ratios))))


def bootstrap(
    pairs: Sequence[tuple[Sequence[float], Sequence[float]]], generator: np.random.Generator
) -> Interval:
    """The geometric mean over tasks of the ratio of their means; tasks and runs are drawn anew."""
    known = [(np.array(found, float), np.array(base, float)) for found, base in pairs]
    whole = geometric_mean([ratio(*pair) for pair in pairs])
    logs = np.stack([np.log(_drawn(f, generator) / _drawn(b, generator)) for f, b in known])
    chosen = generator.integers(len(known), size=(len(known), RESAMPLES))
    means = np.exp(np.take_along_axis(logs, chosen, axis=0).mean(axis=0))
    low, high = np.quantile(means, [0.025, 0.975]).tolist()
    return Interval(whole, low, high)


def _drawn(runs: Counts, generator: np.random.Generator) -> Counts:
    """Means of runs drawn with replacement, one for each resample."""
    chosen = generator.integers(len(runs), size=(RESAMPLES, len(runs)))
    means: Counts = np.maximum(runs[chosen].mean(axis=1), LEAST)
    return means
