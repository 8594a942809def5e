"""The whole state of a crawl from time to time, in pieces; the journal tells the rest."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import zstandard

from honeyguide.contracts import State
from honeyguide.disk.files import inside, open_inside
from honeyguide.disk.serialise import Aside, DamagedError, forms, join_state, read_open_state
from honeyguide.errors import HoneyguideError
from honeyguide.storage.database import FILE, is_whole, with_checksum
from honeyguide.storage.pieces import HASH, SIZE, Layout, Pieces, layout, unpacked

KEPT = 2  # should the newest be damaged
MIN_VISITS = 2000
SHARE = 50  # a visit is absorbed again in about the time in which fifty links are written
STEP = 32  # pieces that are written before events get their turn again
_MOST = 1 << 28  # bytes of a skeleton
_LEAST = 1 << 30  # bytes of arrays that any snapshot may have
_REPEATED = 100  # times the bytes of the database that larger ones may have

_shrink = zstandard.ZstdCompressor(level=1).compress


class Row(NamedTuple):
    """A snapshot as the database has it."""

    n: int  # the event that it follows
    now: float
    file: str  # of format 1
    skeleton: bytes | None = None
    hashes: bytes | None = None
    checksum: int | None = None

    @property
    def names(self) -> list[bytes]:
        """The hashes of its pieces, in order."""
        said = self.hashes or b""
        return [said[start : start + HASH] for start in range(0, len(said), HASH)]


def is_due(visits: int, links: int) -> bool:
    """Whether to write a snapshot of so many known links so many visits after the last one."""
    return visits >= max(MIN_VISITS, links // SHARE)


class Snapshots:
    """The snapshots in a database; those of format 1 are files beside it."""

    def __init__(self, folder: Path, database: sqlite3.Connection) -> None:
        self._folder = folder
        self._database = database
        self._pieces = Pieces(database)
        self._changed = False
        self._last: Layout = {}  # of the newest one
        self.damaged: list[int] = []  # those that `newest` passed over

    def write(self, skeleton: bytes, arrays: Sequence[Aside], n: int, now: float) -> Iterator[None]:
        """Keep a state that follows event n, some pieces at a time, each in an open transaction.

        Whatever happens in between: only the last step makes it a snapshot.
        """
        written: Layout = {}
        count = 0
        for aside in arrays:
            names: list[bytes] = []
            for name in self._pieces.put(aside, self._last.get(aside.path, ())):
                names.append(name)
                count += 1
                if count % STEP == 0:
                    yield
            written[aside.path] = names
        hashes = b"".join(name for names in written.values() for name in names)
        row = with_checksum(n, float(now), "", _shrink(skeleton), hashes)
        self._database.execute("REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?)", row)
        self._last = written
        self._drop_older()
        yield

    def _drop_older(self) -> None:
        """Forget what happened before the older of two snapshots: it is never needed again."""
        rows = self.newest_first()
        kept, dropped = rows[:KEPT], rows[KEPT:]
        if len(kept) < KEPT:
            return
        oldest = (kept[-1].n,)
        self._database.execute("DELETE FROM journal WHERE n <= ?", oldest)
        self._database.execute("DELETE FROM snapshots WHERE n < ?", oldest)
        gone = {name for row in dropped for name in row.names}
        with suppress(DamagedError):
            gone |= self._pieces.bases(gone)
        self._pieces.remove(gone - self._needed(kept))
        self._changed = True

    def tidy(self) -> None:
        """Remove the files of snapshots that are no longer needed, once that is committed."""
        if self._changed:
            self._remove("*.state")
            self._changed = False

    def recover(self) -> None:
        """Remove what a process left behind that ended before its snapshot was whole."""
        self._remove("*")
        if orphans := self._pieces.all() - self._needed(self.newest_first()):
            self._database.execute("BEGIN IMMEDIATE")
            self._pieces.remove(orphans)
            self._database.execute("COMMIT")

    def newest(self) -> tuple[State, int, float] | None:
        """The newest whole one, with the event it follows and the time of that."""
        for row in self.newest_first():
            try:
                return self.read(row), row.n, row.now
            except (DamagedError, OSError):
                self.damaged.append(row.n)
        return None

    def drop_damaged(self) -> None:
        """Forget those that were passed over, in the open transaction: a whole one stays in need.

        Otherwise the damaged one would count as one of those that are kept.
        """
        for n in self.damaged:
            self.drop(n)
        self._pieces.remove(self._pieces.all() - self._needed(self.newest_first()))
        self.damaged, self._changed = [], True

    def read(self, row: Row) -> State:
        """The state that a snapshot keeps; DamagedError when it is not what was written."""
        if row.file and row.checksum is None:
            return self._read_file(row.file)
        if not is_whole(row) or row.skeleton is None:
            raise DamagedError("its row is not what was written")
        said, wanted = forms(unpacked(row.skeleton, _MOST))
        names = row.names
        total = sum(form.size for form in wanted)
        if sum(-(-form.size // SIZE) for form in wanted) != len(names) or total > self._room():
            raise DamagedError("its arrays are larger than its pieces")
        state = join_state(said, self._pieces.read(names, wanted))
        self._last = layout(wanted, names)
        return state

    def newest_first(self) -> list[Row]:
        """All of them."""
        rows = self._database.execute("SELECT * FROM snapshots ORDER BY n DESC").fetchall()
        return [Row(*row) for row in rows]

    def drop(self, n: int) -> None:
        """Forget one that is damaged, in the transaction that is open."""
        self._database.execute("DELETE FROM snapshots WHERE n = ?", (n,))

    def _read_file(self, name: str) -> State:
        try:
            with open_inside(self._folder, name) as file:
                return read_open_state(file, name)
        except HoneyguideError as error:
            raise DamagedError(str(error)) from None

    def _room(self) -> int:
        return max(_LEAST, _REPEATED * inside(self._folder, FILE).stat().st_size)

    def _needed(self, rows: Sequence[Row]) -> set[bytes]:
        names = {name for row in rows for name in row.names}
        for name in tuple(names):
            with suppress(DamagedError):
                names |= self._pieces.bases((name,))
        return names

    def _remove(self, pattern: str) -> None:
        known = {row.file for row in self.newest_first()}
        for path in self._folder.glob(f"snapshot-{pattern}"):
            if path.name not in known:
                path.unlink(missing_ok=True)
