"""Pages at which a walk may start: all of them, or a uniform sample of bounded size."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import Columns
from honeyguide.contracts import Ids, Mask, Matrix, State, Vector

Rows = NDArray[np.integer[Any]]
DRAWS = 16  # random rows that are tried before all are checked


class Pool:
    """Rows of pages; beyond `room` rows it is a reservoir sample of all rows ever added."""

    def __init__(self, width: int, room: int | None = None) -> None:
        self.room = room
        self._added = 0
        self._rows = Columns(64, id=np.int32, host=np.int32, x=(np.float32, width))

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """Size of its rows in bytes."""
        return self._rows.nbytes

    @property
    def ids(self) -> Ids:
        """The page of each row."""
        return self._rows["id"]

    @property
    def hosts(self) -> Ids:
        """The host of each row."""
        return self._rows["host"]

    def row(self, row: int) -> tuple[int, int, Vector]:
        """The page, host and features of a row."""
        rows = self._rows
        return int(rows["id"][row]), int(rows["host"][row]), rows["x"][row].copy()

    def add(self, ids: Ids, hosts: Ids, x: Matrix, rng: np.random.Generator) -> None:
        """Add rows; in a full pool they replace random others, ever more rarely."""
        space = len(ids) if self.room is None else min(len(ids), self.room - len(self))
        self._set(np.arange(len(self), len(self) + space), ids[:space], hosts[:space], x[:space])
        self._added += space
        if space == len(ids) or self.room is None:
            return
        late = np.arange(self._added + 1, self._added + 1 + len(ids) - space)
        places = (rng.random(len(late)) * late).astype(np.int64)  # reservoir sampling
        self._added += len(late)
        lucky = np.flatnonzero(places < self.room)
        if len(lucky):
            chosen = space + lucky
            self._set(places[lucky], ids[chosen], hosts[chosen], x[chosen])

    def remove(self, id: int) -> None:
        """Remove all rows of a page."""
        for row in np.flatnonzero(self.ids == id)[::-1]:
            last = len(self) - 1
            for name in ("id", "host", "x"):
                self._rows[name][row] = self._rows[name][last]
            self._rows.pop()

    def draw(self, rng: np.random.Generator, fits: Callable[[Rows], Mask]) -> int | None:
        """A uniformly random row among those that fit; without any, None and no use of `rng`."""
        before = rng.bit_generator.state
        if len(self) > DRAWS:
            rows = rng.integers(0, len(self), DRAWS)
            found = rows[fits(rows)]
            if len(found):
                return int(found[0])
        every = np.arange(len(self))
        found = every[fits(every)]
        if not len(found):
            rng.bit_generator.state = before
            return None
        return int(found[rng.integers(len(found))])

    def state(self) -> State:
        """Everything that `load` restores."""
        return {"rows": self._rows.state(), "added": self._added}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._rows.load(state["rows"])
        self._added = state["added"]

    def _set(self, rows: Rows, ids: Ids, hosts: Ids, x: Matrix) -> None:
        self._rows.grow(int(rows.max(initial=-1)) + 1)
        self._rows["id"][rows], self._rows["host"][rows] = ids, hosts
        self._rows["x"][rows] = x
