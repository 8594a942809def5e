"""Compare learnt values of pages with the optimal ones, as Friar (2017, chapter 3) does."""

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Vector


def histograms(values: Vector, optimal: Vector, bins: int = 50) -> list[dict[str, object]]:
    """Return a histogram of learnt values for each optimal value (figures 3.4, 3.7, 3.9, 3.13)."""
    edges = np.linspace(
        min(0.0, float(values.min(initial=0))), max(1.0, values.max(initial=1)), bins + 1
    )
    return [
        {
            "optimal": round(float(level), 6),
            "pages": int((optimal == level).sum()),
            "mean": float(values[optimal == level].mean()),
            "counts": np.histogram(values[optimal == level], edges)[0].tolist(),
            "edges": edges.tolist(),
        }
        for level in np.unique(optimal)[::-1]
    ]


def separation(values: Vector, optimal: Vector) -> float:
    """Return the rank correlation of learnt and optimal values."""
    return float(np.corrcoef(_ranks(values), _ranks(optimal))[0, 1])


def _ranks(numbers: Vector) -> NDArray[np.float64]:
    """Return the rank of each number; equal numbers share their mean rank."""
    _, where, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2.0)[where]
    return ranks
