"""A text's vector from the vectors of its words."""

from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Matrix, Vector


def flat(bags: Sequence[Collection[int]]) -> NDArray[np.intp]:
    """All numbers of all bags in one array."""
    return np.fromiter(chain.from_iterable(bags), np.intp, sum(map(len, bags)))


def pooled(
    bags: Sequence[Collection[int] | NDArray[np.integer[Any]]],
    vectors: NDArray[np.floating[Any]],
    weights: Vector | None = None,  # one for each number in `flat(bags)`
) -> Matrix:
    """Unit vectors of the sums of the rows that each bag names; zero for an empty bag."""
    sums = np.zeros((len(bags), vectors.shape[1]), np.float32)
    end = 0
    # bag by bag the rows stay in the processor's cache, and the bits are the same in any batch
    for row, bag in zip(sums, bags, strict=True):
        numbers = bag if isinstance(bag, np.ndarray) else np.fromiter(bag, np.intp, len(bag))
        rows = vectors.take(numbers, axis=0)
        if weights is not None:
            start, end = end, end + len(bag)
            rows = rows * weights[start:end, None]
        np.add.reduce(rows, axis=0, out=row)
    return unit(sums)


def unit(vectors: Matrix) -> Matrix:
    """Each row divided by its length; zero rows stay."""
    lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    units: Matrix = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return units
