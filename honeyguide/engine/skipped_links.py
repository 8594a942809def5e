"""Links that a gate has skipped; they can return to the frontier."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Candidates, Ids, Mask, Scorer, State, Vector
from honeyguide.frontiers.block import NOTHING, Block

WORTH, SCORE = 0, 1  # two ways to rank a skipped link: by the gate's worth, by the agent's score
MEMORY = 20  # fetches over which the success of a ranking is averaged


class SkippedLinks:
    """Skipped links with their features; each takes as much memory as a waiting link."""

    def __init__(self, width: int, dtype: Any = np.float32) -> None:
        self._block = Block(width, dtype)
        self._hosts = 0
        self._kind: dict[int, int] = {}  # by page: which ranking chose it in take_best
        self._brought = [0.5, 0.5]  # by ranking: recent relevant pages per fetch

    def __len__(self) -> int:
        return len(self._block)

    @property
    def nbytes(self) -> int:
        """Bytes of the table."""
        return self._block.nbytes

    def add(self, id: int, host: int, x: NDArray[Any]) -> None:
        """Add a skipped link: its page, host and features."""
        self._hosts = max(self._hosts, host + 1)
        self._block.grow_hosts(self._hosts)
        ids, hosts = np.array([id], np.int32), np.array([host], np.int32)
        self._block.put(ids, hosts, x[None], np.zeros(1, np.float32))

    def holds(self, ids: Ids) -> Mask:
        """Which of these links are here."""
        return self._block.holds(ids)

    def discard(self, ids: Ids) -> None:
        """Remove links that were visited or wait in the frontier again; unknown ids are ignored."""
        if len(self):
            for id in ids[self._block.holds(ids)].tolist():
                self._block.remove(id)

    def take(self, ids: Ids) -> Candidates | None:
        """Remove and return those of these links that are here; None if there are none."""
        if not len(self) or not len(ids):
            return None
        kept = ids[self._block.holds(ids)]
        return self._take(self._block.rows(kept)) if len(kept) else None

    def take_best(self, worths: Callable[[Ids], Vector], score: Scorer, count: int) -> Candidates:
        """Remove and return about `count` links: the best by worth and the best by score.

        Four in five come from the ranking that has recently found more relevant pages per fetch.
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
        """Update the success of the ranking that chose a link; ignore other links."""
        kind = self._kind.pop(id, None)
        if kind is not None:
            self._brought[kind] += (relevant - self._brought[kind]) / MEMORY

    def state(self) -> State:
        """Everything that `load` needs."""
        return {
            "block": self._block.state(),
            "hosts": self._hosts,
            "kind": list(self._kind.items()),
            "brought": list(self._brought),
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._block.load(state["block"])
        self._hosts = state["hosts"]
        self._kind = dict(state["kind"])
        self._brought = list(state["brought"])

    def _take(self, rows: NDArray[np.intp]) -> Candidates:
        rows = rows[np.argsort(self._block.page[rows])]
        ids = self._block.page[rows].copy()
        x = np.stack([self._block.remove(id)[1] for id in ids.tolist()])
        return Candidates(ids, x)
