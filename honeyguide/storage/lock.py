"""One process at a time for each crawl, and for each list of news."""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from honeyguide.disk.files import open_inside, sync_folder, write_all
from honeyguide.errors import HoneyguideError

TRIES, PAUSE = 5, 0.02  # times, and seconds in between
_held: set[Path] = set()  # by this process, which the system would let in again


class Lock:
    """Holds a folder or a file until it is released or the process ends, however it ends."""

    def __init__(self, held: Path, file: Path | None = None) -> None:
        path = file or held / "lock"
        self._path = path.parent.resolve() / path.name
        if self._path in _held:
            raise HoneyguideError(f"{held} is already open in this process")
        try:
            is_new = not path.exists()
            self._file = open_inside(path.parent, path.name, "ab+")
            if is_new:
                sync_folder(path.parent)
        except OSError as error:
            raise HoneyguideError(f"cannot write {path}: {error.strerror}") from None
        if not self._gets_it():
            self._file.seek(0)
            holder = _number(self._file.read(20)) or "unknown"
            self._file.close()
            raise HoneyguideError(f"{held} is in use by process {holder}")
        with suppress(OSError):  # the number is only to be shown: a full disk may be without it
            self._file.truncate(0)
            write_all(self._file, f"{os.getpid()}\n".encode())
        _held.add(self._path)

    def _gets_it(self) -> bool:
        """Whether nobody else has it; one who only looks has it for an instant."""
        for _ in range(TRIES):
            try:
                _lock(self._file.fileno())
            except OSError:
                time.sleep(PAUSE)
            else:
                return True
        return False

    def release(self) -> None:
        """Let others in."""
        if not self._file.closed:
            with suppress(OSError):
                self._file.truncate(0)
            self._file.close()
            _held.discard(self._path)


def holder(folder: Path) -> str:
    """The number of the process that has a folder open; empty when none has."""
    path = folder.resolve() / "lock"
    if path in _held:  # to open and close it again would let others in
        return str(os.getpid())
    written = ""
    try:
        with open_inside(folder, "lock") as file:
            written = _number(file.read(20))
            _lock(file.fileno(), shared=True)
    except OSError:  # it is held, or there is none
        return written
    return ""


def _number(written: bytes) -> str:
    """The number of a process, whatever else somebody wrote."""
    return "".join(char for char in written.decode("ascii", "ignore") if char.isdigit())


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int, shared: bool = False) -> None:
        os.lseek(file, 1 << 20, os.SEEK_SET)  # beyond the text, which others may read
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int, shared: bool = False) -> None:
        # unlike flock's, this lock does not live on in forked workers of a killed crawl
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX  # to share it, reading is enough
        fcntl.lockf(file, kind | fcntl.LOCK_NB)
