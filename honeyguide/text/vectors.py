"""Vectors of texts."""

import numpy as np

from honeyguide.contracts import Matrix


def unit(vectors: Matrix) -> Matrix:
    """Each row divided by its length; zero rows stay."""
    lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    units: Matrix = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return units
