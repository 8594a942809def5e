"""The optimal value function v* of pages (Friar 2017, §3.2.4)."""

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Mask, Truth, Vector

UNREACHABLE = -1  # hops


def hops_to_reward(truth: Truth, rewards: Mask) -> NDArray[np.int32]:
    """The number of links from each page to the nearest reward; -1 where none can be reached."""
    offsets, sources = _reversed(truth)
    hops = np.full(len(rewards), UNREACHABLE, np.int32)
    ring = np.flatnonzero(rewards)
    distance = 0
    while len(ring):
        hops[ring] = distance
        distance += 1
        found = sources[_spans(offsets[ring], offsets[ring + 1])]
        ring = np.unique(found[hops[found] == UNREACHABLE])
    return hops


def optimal_values(truth: Truth, gamma: float) -> Vector:
    """gamma ** hops to the nearest reward; 0 where none can be reached."""
    hops = hops_to_reward(truth, truth.relevant)
    values: Vector = np.power(gamma, hops.clip(0)).astype(np.float32)
    values[hops == UNREACHABLE] = 0.0
    return values


def _reversed(truth: Truth) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The pages that link to page p: sources[offsets[p]:offsets[p + 1]]."""
    pages = len(truth.relevant)
    inside = truth.targets >= 0
    sources = np.repeat(np.arange(pages, dtype=np.int32), np.diff(truth.offsets))[inside]
    targets = truth.targets[inside]
    order = np.argsort(targets, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=pages))])
    return offsets, sources[order]


def _spans(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """The integers of all ranges [start, end), one range after another."""
    counts = ends - starts
    jumps = np.repeat(starts - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
    spans: NDArray[np.int64] = jumps + np.arange(len(jumps))
    return spans
