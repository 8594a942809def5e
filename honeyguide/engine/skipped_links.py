"""Links that a gate has skipped, kept so that they can wait again."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Candidates, Ids, Scorer, State, Vector
from honeyguide.frontiers.block import NOTHING, Block

WORTH, SCORE = 0, 1  # two opinions of a link: the gate's and the agent's
MEMORY = 20  # links by which an opinion is judged


class SkippedLinks:
    """Skipped links by host; they cost what waiting links cost."""

    def __init__(self, width: int) -> None:
        self._block = Block(width)
        self._hosts = 0
        self._kind: dict[int, int] = {}  # by page: why it was taken for want of better ones
        self._brought = [0.5, 0.5]  # relevant pages a fetch, lately, by kind

    def __len__(self) -> int:
        return len(self._block)

    @property
    def nbytes(self) -> int:
        """Bytes of its tables."""
        return self._block.nbytes

    def add(self, id: int, host: int, x: Vector) -> None:
        """Keep a link."""
        self._hosts = max(self._hosts, host + 1)
        self._block.grow_hosts(self._hosts)
        ids, hosts = np.array([id], np.int32), np.array([host], np.int32)
        self._block.put(ids, hosts, x[None], np.zeros(1, np.float32))

    def discard(self, ids: Ids) -> None:
        """These wait again, or were visited: forget them."""
        if len(self):
            for id in ids[self._block.holds(ids)].tolist():
                self._block.remove(id)

    def take(self, ids: Ids) -> Candidates | None:
        """Those of these links that are kept here, no longer; none when there are none."""
        if not len(self) or not len(ids):
            return None
        kept = ids[self._block.holds(ids)]
        return self._take(self._block.rows(kept)) if len(kept) else None

    def take_best(self, worths: Callable[[Ids], Vector], score: Scorer, count: int) -> Candidates:
        """Some links, those worth most and those with the best scores; no longer kept.

        Most are of the kind that has lately brought more relevant pages.
        """
        block = self._block
        block.rescore(score)
        rows = np.flatnonzero(block.score > NOTHING)
        pages, scores = block.page[rows], block.score[rows]
        most, least = count - count // 5, count // 5
        numbers = (most, least) if self._brought[WORTH] >= self._brought[SCORE] else (least, most)
        by_score = np.lexsort((pages, -scores))[: numbers[SCORE]]
        by_worth = np.lexsort((pages, -scores, -worths(pages)))[: numbers[WORTH]]
        for kind, chosen in ((SCORE, by_score), (WORTH, by_worth)):
            self._kind |= dict.fromkeys(pages[chosen].tolist(), kind)
        return self._take(rows[np.union1d(by_worth, by_score)])

    def learn(self, id: int, relevant: bool) -> None:
        """What came of a link that was taken for want of better ones; of others, nothing."""
        kind = self._kind.pop(id, None)
        if kind is not None:
            self._brought[kind] += (relevant - self._brought[kind]) / MEMORY

    def state(self) -> State:
        """All of it."""
        return {
            "block": self._block.state(),
            "hosts": self._hosts,
            "kind": list(self._kind.items()),
            "brought": list(self._brought),
        }

    def load(self, state: State) -> None:
        """Become what was saved."""
        self._block.load(state["block"])
        self._hosts = state["hosts"]
        self._kind = dict(state["kind"])
        self._brought = list(state["brought"])

    def _take(self, rows: NDArray[np.intp]) -> Candidates:
        rows = rows[np.argsort(self._block.page[rows])]
        ids = self._block.page[rows].copy()
        x = np.stack([self._block.remove(id)[1] for id in ids.tolist()])
        return Candidates(ids, x)
