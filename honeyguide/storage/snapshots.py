"""Snapshots of a crawl's state, in pieces: resuming replays only the events since."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import zstandard

from honeyguide.contracts import State
from honeyguide.disk.files import inside, open_inside
from honeyguide.disk.serialise import (
    DamagedError,
    StateArray,
    join_state,
    read_open_state,
    read_skeleton,
)
from honeyguide.errors import HoneyguideError
from honeyguide.storage.database import FILE, checksum_matches, with_checksum
from honeyguide.storage.pieces import HASH, SIZE, Layout, Pieces, layout, unpacked

KEPT = 2  # snapshots; the older one is used if the newest is damaged
MIN_VISITS = 2000  # between two snapshots
SHARE = 50  # links that are written in about the time of replaying one visit
STEP = 32  # pieces that are written in one step, before other jobs run
_MOST = 1 << 28  # bytes of a skeleton, at most
_LEAST = 1 << 30  # bytes that the arrays of any snapshot may have
_REPEATED = 100  # times the size of the database: limit for larger ones

_shrink = zstandard.ZstdCompressor(level=1).compress


class Row(NamedTuple):
    """A row of the table `snapshots`."""

    n: int  # the event that it follows
    now: float  # time of that event
    file: str  # of format 1
    skeleton: bytes | None = None
    hashes: bytes | None = None
    checksum: int | None = None

    @property
    def names(self) -> list[bytes]:
        """The hashes of its pieces, in order."""
        hashes = self.hashes or b""
        return [hashes[start : start + HASH] for start in range(0, len(hashes), HASH)]


def is_due(visits: int, links: int) -> bool:
    """Whether a snapshot is due so many visits after the last one, if so many links are known."""
    return visits >= max(MIN_VISITS, links // SHARE)


class Snapshots:
    """The snapshots of a crawl: in the database, or in files of format 1."""

    def __init__(self, folder: Path, database: sqlite3.Connection) -> None:
        self._folder = folder
        self._database = database
        self._pieces = Pieces(database)
        self._changed = False  # snapshots were dropped since `tidy`
        self._last: Layout = {}  # pieces of the newest snapshot
        self.damaged: list[int] = []  # events of damaged snapshots that `newest` skipped

    def write(
        self, skeleton: bytes, arrays: Sequence[StateArray], n: int, now: float
    ) -> Iterator[None]:
        """Write the state after event n in steps of some pieces, each in an open transaction.

        Only the last step makes it a snapshot; pieces of an interrupted one are removed later.
        """
        written: Layout = {}
        count = 0
        for item in arrays:
            names: list[bytes] = []
            for name in self._pieces.put(item, self._last.get(item.path, ())):
                names.append(name)
                count += 1
                if count % STEP == 0:
                    yield
            written[item.path] = names
        hashes = b"".join(name for names in written.values() for name in names)
        row = with_checksum(n, float(now), "", _shrink(skeleton), hashes)
        self._database.execute("REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?)", row)
        self._last = written
        self._drop_older()
        yield

    def _drop_older(self) -> None:
        """Delete snapshots before the newest two; events stay, for judges that come later."""
        rows = self.rows_newest_first()
        kept, dropped = rows[:KEPT], rows[KEPT:]
        if len(kept) < KEPT:
            return
        oldest = (kept[-1].n,)
        self._database.execute("DELETE FROM snapshots WHERE n < ?", oldest)
        gone = {name for row in dropped for name in row.names}
        with suppress(DamagedError):
            gone |= self._pieces.bases(gone)
        self._pieces.remove(gone - self._needed(kept))
        self._changed = True

    def tidy(self) -> None:
        """Remove the files of dropped snapshots; call it after the commit."""
        if self._changed:
            self._remove("*.state")
            self._changed = False

    def recover(self) -> None:
        """Remove pieces and files of snapshots that were never finished."""
        self._remove("*")
        if orphans := self._pieces.all() - self._needed(self.rows_newest_first()):
            self._database.execute("BEGIN IMMEDIATE")
            self._pieces.remove(orphans)
            self._database.execute("COMMIT")

    def newest(self) -> tuple[State, int, float] | None:
        """The state of the newest intact snapshot, its event and time; None if there is none."""
        for row in self.rows_newest_first():
            try:
                return self.read(row), row.n, row.now
            except (DamagedError, OSError):
                self.damaged.append(row.n)
        return None

    def drop_damaged(self) -> None:
        """Delete the damaged snapshots that `newest` skipped, in the open transaction.

        Otherwise they would count as snapshots that replace an intact older one.
        """
        for n in self.damaged:
            self.drop(n)
        self._pieces.remove(self._pieces.all() - self._needed(self.rows_newest_first()))
        self.damaged, self._changed = [], True

    def read(self, row: Row) -> State:
        """The state in a snapshot; DamagedError if it is damaged."""
        if row.file and row.checksum is None:
            return self._read_file(row.file)
        if not checksum_matches(row) or row.skeleton is None:
            raise DamagedError("its row does not match its checksum")
        skeleton, wanted = read_skeleton(unpacked(row.skeleton, _MOST))
        names = row.names
        total = sum(spec.size for spec in wanted)
        if sum(-(-spec.size // SIZE) for spec in wanted) != len(names) or total > self._room():
            raise DamagedError("its arrays do not match its pieces")
        state = join_state(skeleton, self._pieces.read(names, wanted))
        self._last = layout(wanted, names)
        return state

    def rows_newest_first(self) -> list[Row]:
        """All rows, the newest first."""
        rows = self._database.execute("SELECT * FROM snapshots ORDER BY n DESC").fetchall()
        return [Row(*row) for row in rows]

    def drop(self, n: int) -> None:
        """Delete the snapshot after event n, in the transaction that is open."""
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
        known = {row.file for row in self.rows_newest_first()}
        for path in self._folder.glob(f"snapshot-{pattern}"):
            if path.name not in known:
                path.unlink(missing_ok=True)
