"""Ratios of what two agents find, with bootstrap confidence intervals."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.float64]
RESAMPLES = 2000
LEAST = 0.5  # pages: smaller means count as this, so that every ratio is finite


class Interval(NamedTuple):
    """A ratio and its 95 % confidence interval."""

    ratio: float
    low: float
    high: float


def ratio(found: Sequence[float], base: Sequence[float]) -> float:
    """Return the ratio of the means of two agents' runs on one task."""
    return max(float(np.mean(found)), LEAST) / max(float(np.mean(base)), LEAST)


def geometric_mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean: that of 2 and 1/2 is 1."""
    return float(np.exp(np.mean(np.log(ratios))))


def bootstrap(
    pairs: Sequence[tuple[Sequence[float], Sequence[float]]], generator: np.random.Generator
) -> Interval:
    """Return the geometric mean over tasks of ratios of means; resamples tasks and runs."""
    known = [(np.array(found, float), np.array(base, float)) for found, base in pairs]
    whole = geometric_mean([ratio(*pair) for pair in pairs])
    logs = np.stack([np.log(_drawn(f, generator) / _drawn(b, generator)) for f, b in known])
    chosen = generator.integers(len(known), size=(len(known), RESAMPLES))
    means = np.exp(np.take_along_axis(logs, chosen, axis=0).mean(axis=0))
    low, high = np.quantile(means, [0.025, 0.975]).tolist()
    return Interval(whole, low, high)


def paired_bootstrap(
    pairs: Sequence[tuple[Sequence[float], Sequence[float]]], generator: np.random.Generator
) -> Interval:
    """Return the same mean where run i of both agents belongs together; resamples such pairs."""
    whole = geometric_mean([ratio(*pair) for pair in pairs])
    logs = np.stack([_drawn_together(np.array(pair, float), generator) for pair in pairs])
    chosen = generator.integers(len(logs), size=(len(logs), RESAMPLES))
    means = np.exp(np.take_along_axis(logs, chosen, axis=0).mean(axis=0))
    low, high = np.quantile(means, [0.025, 0.975]).tolist()
    return Interval(whole, low, high)


def _drawn_together(runs: Counts, generator: np.random.Generator) -> Counts:
    """Return the log ratio of each resample of pairs of runs; `runs` has shape (2, runs)."""
    chosen = generator.integers(runs.shape[1], size=(RESAMPLES, runs.shape[1]))
    found, base = np.maximum(runs[:, chosen].mean(axis=2), LEAST)
    logs: Counts = np.log(found / base)
    return logs


def _drawn(runs: Counts, generator: np.random.Generator) -> Counts:
    """Return the mean of each resample of the runs, drawn with replacement."""
    chosen = generator.integers(len(runs), size=(RESAMPLES, len(runs)))
    means: Counts = np.maximum(runs[chosen].mean(axis=1), LEAST)
    return means
