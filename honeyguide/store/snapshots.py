"""The whole state of a crawl in a file, from time to time; the journal tells the rest."""

import os
import sqlite3
from pathlib import Path

from honeyguide.contracts import State
from honeyguide.serialise import DamagedError, read_state, write_state

KEPT = 2  # should the newest be damaged
MIN_VISITS = 2000
SHARE = 50  # a visit is absorbed again in about the time in which fifty links are written


def is_due(visits: int, links: int) -> bool:
    """Whether to write a snapshot of so many known links so many visits after the last one."""
    return visits >= max(MIN_VISITS, links // SHARE)


class Snapshots:
    """Snapshot files beside a database that knows which of them are whole."""

    def __init__(self, folder: Path, database: sqlite3.Connection) -> None:
        self._folder = folder
        self._database = database
        self._changed = False

    def write(self, state: State, n: int) -> Path:
        """Put a state that follows event n into a file that is not yet one of them."""
        path = self._folder / f"snapshot-{n}.part"
        try:
            with path.open("wb") as file:
                write_state(file, state)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path

    def adopt(self, path: Path, n: int, now: float) -> None:
        """Make a written file the newest one, in the transaction that is open."""
        with path.open("rb") as file:
            os.fsync(file.fileno())
        path = path.replace(path.with_suffix(".state"))
        _sync_folder(self._folder)
        self._database.execute("REPLACE INTO snapshots VALUES (?, ?, ?)", (n, now, path.name))
        kept = self._newest_first()[:KEPT]
        if len(kept) == KEPT:  # what happened before the older one is never needed again
            oldest = (kept[-1][0],)
            self._database.execute("DELETE FROM journal WHERE n <= ?", oldest)
            self._database.execute("DELETE FROM snapshots WHERE n < ?", oldest)
        self._changed = True

    def tidy(self) -> None:
        """Remove the files of snapshots that are no longer needed, once that is committed."""
        if self._changed:
            self._remove("*.state")
            self._changed = False

    def recover(self) -> None:
        """Remove what a process left behind that ended before it committed."""
        self._remove("*")

    def newest(self) -> tuple[State, int, float] | None:
        """The newest whole one, with the event it follows and the time of that."""
        for n, now, file in self._newest_first():
            try:
                return read_state(self._folder / file), n, now
            except (DamagedError, FileNotFoundError):
                continue
        return None

    def _remove(self, pattern: str) -> None:
        known = {file for *_, file in self._newest_first()}
        for path in self._folder.glob(f"snapshot-{pattern}"):
            if path.name not in known:
                path.unlink(missing_ok=True)

    def _newest_first(self) -> list[tuple[int, float, str]]:
        return self._database.execute("SELECT * FROM snapshots ORDER BY n DESC").fetchall()


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":  # so that the new name outlives a power cut
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
