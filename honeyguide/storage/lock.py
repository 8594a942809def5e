"""File locks: one process at a time for each crawl folder, and for each list of news."""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from honeyguide.disk.files import open_inside, sync_folder, write_all
from honeyguide.errors import HoneyguideError

TRIES, PAUSE = 5, 0.02  # attempts to lock, and seconds between them
_held: set[Path] = set()  # locks of this process: the system would grant them a second time


class InUseError(HoneyguideError):
    """A folder or file is locked by a process, which may be this one."""


class Lock:
    """An exclusive lock on a folder or file, until `release` or the end of the process."""

    def __init__(self, held: Path, file: Path | None = None) -> None:
        path = file or held / "lock"
        self._path = path.parent.resolve() / path.name
        if self._path in _held:
            raise InUseError(f"{held} is already open in this process")
        try:
            is_new = not path.exists()
            self._file = open_inside(path.parent, path.name, "ab+")
            if is_new:
                sync_folder(path.parent)
        except OSError as error:
            raise HoneyguideError(f"cannot write {path}: {error.strerror}") from None
        if not self._acquire():
            self._file.seek(0)
            holder = _number(self._file.read(20)) or "unknown"
            self._file.close()
            raise InUseError(f"{held} is in use by process {holder}")
        with suppress(OSError):  # the number is for messages only: a full disk does not matter
            self._file.truncate(0)
            write_all(self._file, f"{os.getpid()}\n".encode())
        _held.add(self._path)

    def _acquire(self) -> bool:
        """Lock the file and return whether that worked; retry, as `holder` locks it briefly."""
        for _ in range(TRIES):
            try:
                _lock(self._file.fileno())
            except OSError:
                time.sleep(PAUSE)
            else:
                return True
        return False

    def release(self) -> None:
        """Release the lock; calling it again does nothing."""
        if not self._file.closed:
            with suppress(OSError):
                self._file.truncate(0)
            self._file.close()
            _held.discard(self._path)


def holder(folder: Path) -> str:
    """The id of the process that has locked a folder; empty if none has."""
    path = folder.resolve() / "lock"
    if path in _held:  # opening and closing the file here would release the lock
        return str(os.getpid())
    written = ""
    try:
        with open_inside(folder, "lock") as file:
            written = _number(file.read(20))
            _lock(file.fileno(), shared=True)
    except OSError:  # it is locked, or does not exist
        return written
    return ""


def _number(written: bytes) -> str:
    """The digits in these bytes: the file may have been changed by others."""
    return "".join(char for char in written.decode("ascii", "ignore") if char.isdigit())


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int, shared: bool = False) -> None:
        os.lseek(file, 1 << 20, os.SEEK_SET)  # beyond the text, which others may read
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int, shared: bool = False) -> None:
        # unlike flock's, this lock is not inherited by forked workers of a killed crawl
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX  # a shared lock needs no write access
        fcntl.lockf(file, kind | fcntl.LOCK_NB)
