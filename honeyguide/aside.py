"""Links that were skipped, with all that is needed to let them wait again."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Ids, Matrix, Scorer, State, Vector
from honeyguide.frontiers.block import NOTHING, Block


@dataclass(frozen=True, slots=True)
class Skipped:
    """Some links, as a frontier takes them."""

    ids: Ids
    hosts: Ids
    x: Matrix


class Aside:
    """Skipped links by host; they cost what waiting links cost."""

    def __init__(self, width: int) -> None:
        self._block = Block(width)
        self._hosts = 0

    def __len__(self) -> int:
        return len(self._block)

    def add(self, id: int, host: int, x: Vector) -> None:
        """Keep a link."""
        self._hosts = max(self._hosts, host + 1)
        self._block.know_hosts(self._hosts)
        ids, hosts = np.array([id], np.int32), np.array([host], np.int32)
        self._block.put(ids, hosts, x[None], np.zeros(1, np.float32))

    def discard(self, ids: Ids) -> None:
        """These wait again, or were visited: forget them."""
        if len(self):
            for id in ids[self._block.holds(ids)].tolist():
                self._block.remove(id)

    def take_host(self, host: int) -> Skipped | None:
        """All links of a host, no longer kept here; none when there are none."""
        if host >= self._hosts or not self._block.waiting(host):
            return None
        block = self._block
        return self._take(np.flatnonzero((block.host == host) & (block.score > NOTHING)))

    def take_best(self, worths: Callable[[Ids], Vector], score: Scorer, count: int) -> Skipped:
        """Some links, half of them worth most and half with the best scores; no longer kept here."""
        block = self._block
        block.rescore(score)
        rows = np.flatnonzero(block.score > NOTHING)
        pages, scores = block.page[rows], block.score[rows]
        by_worth = np.lexsort((pages, -scores, -worths(pages)))[: count // 2]
        by_score = np.lexsort((pages, -scores))[: count - len(by_worth)]
        return self._take(rows[np.union1d(by_worth, by_score)])

    def state(self) -> State:
        """All of it."""
        return {"block": self._block.state(), "hosts": self._hosts}

    def load(self, state: State) -> None:
        """Become what was saved."""
        self._block.load(state["block"])
        self._hosts = state["hosts"]

    def _take(self, rows: NDArray[np.intp]) -> Skipped:
        rows = rows[np.argsort(self._block.page[rows])]
        ids, hosts = self._block.page[rows].copy(), self._block.host[rows].copy()
        x = np.stack([self._block.remove(id)[1] for id in ids.tolist()])
        return Skipped(ids, hosts, x)
