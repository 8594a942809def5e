"""Bags of hashed words as rows of a matrix, weighted by tf-idf."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Vector
from honeyguide.judges.hashed_words import Bag
from honeyguide.learning.logistic import Places

BUCKETS = 1 << 16


class Sparse(NamedTuple):
    """The values of sparse rows, ordered by row."""

    row: Places
    bucket: NDArray[np.int32]
    value: NDArray[np.float32]


def idf_of(buckets: Sequence[NDArray[np.int32]]) -> Vector:
    """ln((1 + pages) / (1 + pages with it)) + 1 by bucket, 0 for empty ones.

    `buckets` are the distinct ones of each page.
    """
    found = np.concatenate([*buckets, np.empty(0, np.int32)])
    pages_with = np.bincount(found, minlength=BUCKETS)
    idf = np.log((1 + len(buckets)) / (1 + pages_with)) + 1
    return np.where(pages_with > 0, idf, 0).astype(np.float32)


def counts_of(bags: Sequence[Bag]) -> Sparse:
    """The weights of the words of each bag, not yet tf-idf."""
    row = np.repeat(np.arange(len(bags)), [len(bag.words) for bag in bags])
    bucket = np.concatenate([*(bag.buckets for bag in bags), np.empty(0, np.int32)])
    weight = np.concatenate([*(bag.weights for bag in bags), np.empty(0, np.float32)])
    return Sparse(row, bucket, weight)


def tfidf(counts: Sparse, idf: Vector, pages: int) -> Sparse:
    """Rows of length 1; a page without a known word has a row of zeros."""
    value = counts.value * idf[counts.bucket]
    norm = np.sqrt(np.bincount(counts.row, value * value, pages))
    norm[norm == 0] = 1
    return counts._replace(value=(value / norm[counts.row]).astype(np.float32))
