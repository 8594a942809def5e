"""A priority queue of pairs of page and link, as in Han et al. (2018) and Pertejo (2021)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import FeatureRows, Ids, Mask, Renew, State, Vector, Waiting
from honeyguide.frontiers.best_first import BestFirst
from honeyguide.frontiers.block import NOTHING, Block, Rows
from honeyguide.registry import part

NOWHERE = -1  # the page of links that were not found on one, such as seeds


class PairBlock(Block):
    """Waiting pairs as rows: a page has a row for each page that links to it."""

    def __init__(self, width: int, dtype: Any = np.float32) -> None:
        super().__init__(
            width, dtype, source=np.int32, age=np.int64
        )  # `_row_of` counts a page's rows
        self._added = 0  # rows ever written: the age of the next one

    @property
    def age(self) -> NDArray[Any]:
        """When each row was written, as a running number."""
        return self._rows["age"]

    def put(self, pages: Ids, hosts: Ids, x: FeatureRows, scores: Vector) -> Rows:
        """Write a free row for each page."""
        self._grow(pages)
        self._row_of["row"][pages] += 1
        rows = self._claim(hosts).astype(np.intp)
        self._write(rows, pages, hosts, x, scores)
        self._rows["source"][rows] = NOWHERE
        self._rows["age"][rows] = np.arange(self._added, self._added + len(rows))
        self._added += len(rows)
        return rows

    def features(self, pages: Ids) -> FeatureRows:
        """Zeros: a link starts with a new row on each page."""
        return np.zeros((len(pages), self._rows["x"].shape[1]), self._rows["x"].dtype)

    def name_source(self, rows: Rows, source: int) -> None:
        """Note the page that these rows stand on."""
        self._rows["source"][rows] = source

    def row(self, page: int) -> int:
        """The best row of a page, the oldest of equals."""
        return int(self._in_order(self._rows_where(self.page == page))[0])

    def take(self, row: int) -> tuple[int, NDArray[Any], float]:
        """Free all rows of a row's page, and return this row's host, features and score."""
        rest = self._rows_where(self.page == self.page[row])
        for other in rest[rest != row].tolist():
            self.free(other)
        return super().take(row)

    def free(self, row: int) -> None:
        """Free one row."""
        left = int(self._row_of["row"][self.page[row]]) - 1
        super().free(row)
        self._row_of["row"][self.page[row]] = left

    def on_page(self, source: int, pages: Ids) -> Rows:
        """The rows of these pages that stand on a page."""
        rows = self._rows_where(self._rows["source"] == source)
        return rows[np.isin(self.page[rows], pages)]

    def renew(self, sources: Ids, pages: Ids, renew: Renew) -> None:
        """Replace the features of rows that stand on, or lead to, one of these pages."""
        standing_on = self._rows["source"]
        changed = np.isin(standing_on, sources) | np.isin(self.page, pages)
        rows = self._rows_where(changed & (standing_on != NOWHERE))
        if len(rows):
            self._rows["x"][rows] = renew(standing_on[rows], self.page[rows], self._rows["x"][rows])

    def state(self) -> State:
        """Everything that `load` restores."""
        return {**super().state(), "added": self._added}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        super().load(state)
        self._added = state["added"]

    def _rows_where(self, fits: Mask) -> Rows:
        """The rows in use that fit."""
        return np.flatnonzero(fits & (self.score > NOTHING))

    def _renumber(self) -> None:
        """Do nothing: moving rows does not change how many a page has."""


@part("frontier", "pairs")
class Pairs(BestFirst):
    """As best_first, but a link waits once for each page that shows it, and its best pair counts.

    Taking a link takes all its pairs. A random link is drawn among pairs. `len`, `shed` and bounds
    count pairs.
    """

    _block: PairBlock
    _block_of = PairBlock

    def waiting(self) -> Waiting:
        """All waiting links, each by its best pair."""
        found = super().waiting()
        order = np.argsort(-found.scores, kind="stable")
        _, first = np.unique(found.ids[order], return_index=True)
        return found[order[first]]

    def put(self, ids: Ids, hosts: Ids, x: FeatureRows, scores: Vector) -> None:
        """Add links that stand on no page, such as seeds."""
        self.put_from(NOWHERE, ids, hosts, x, scores)

    def put_from(self, source: int, ids: Ids, hosts: Ids, x: FeatureRows, scores: Vector) -> None:
        """Add links of a page; those that wait for the same page already are replaced."""
        for row in self._block.on_page(source, ids).tolist():
            self._block.free(row)
        self._block.name_source(self._put(ids, hosts, x, scores), source)

    def refresh(self, sources: Ids, ids: Ids, renew: Renew) -> None:
        """Replace the features of pairs whose page or link is among these; keep their scores."""
        self._block.renew(sources, ids, renew)
