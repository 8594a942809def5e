"""The best waiting links, so that not all have to be looked at to count those above a score."""

import numpy as np

from honeyguide.contracts import Mask, Vector
from honeyguide.frontiers.block import Block, Rows

FEW = 200_000  # rows of a block; so many are compared in a tenth of a millisecond


class Leaders:
    """The rows of a block above some score; rows that are put in later are added."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._rows: Rows | None = None
        self._cut = np.float32(np.inf)  # all rows above it are among `_rows`

    def forget(self) -> None:
        """Find them anew: rows have moved, or have other scores."""
        self._rows = None

    def add(self, rows: Rows, scores: Vector) -> None:
        """Note rows that were put in with these scores."""
        if self._rows is not None and np.any(scores > self._cut):
            self._rows = np.union1d(self._rows, rows[scores > self._cut])

    def exceed(self, score: float, hosts: Mask, most: float) -> bool:
        """Whether more than `most` rows of these hosts have a higher score."""
        scores = self._block.score
        if len(scores) <= FEW:
            return self._count(np.flatnonzero(scores > score), hosts) > most
        if self._rows is None or len(self._rows) > 4 * self._wanted(most):
            self._find(self._wanted(most))
        known: Rows = self._rows  # type: ignore[assignment] # found above
        if self._count(known[scores[known] > score], hosts) > most:
            return True
        if score >= self._cut:
            return False
        return self._count(np.flatnonzero(scores > score), hosts) > most

    @staticmethod
    def _wanted(most: float) -> int:
        return 64 + 4 * int(most)

    def _find(self, count: int) -> None:
        scores = self._block.score
        self._cut = np.partition(scores, len(scores) - count)[len(scores) - count]
        self._rows = np.flatnonzero(scores > self._cut)

    def _count(self, rows: Rows, hosts: Mask) -> int:
        return int(np.count_nonzero(hosts[self._block.host[rows]]))
