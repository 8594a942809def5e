"""SQLite's write-ahead log, which ends silently where it is damaged."""

import struct
import sys
from pathlib import Path

from honeyguide.files import open_inside
from honeyguide.store.database import FILE

_HEADER, _FRAME = 32, 24  # bytes; https://www.sqlite.org/walformat.html
_SALTS = slice(16, 24)  # of the header


def has_lost_commits(folder: Path, page_size: int) -> bool:
    """Whether commits that were safe cannot be read any more, once the database has been read.

    SQLite takes a damaged frame for the end of the log. Each commit is synced before the next one
    begins, so a frame that follows an unreadable commit shows that this commit had been safe.
    """
    log, index = (_bytes(folder, FILE + end) for end in ("-wal", "-shm"))
    if len(log) < _HEADER + _FRAME or len(index) < 20:
        return False
    readable = int.from_bytes(index[16:20], sys.byteorder)  # frames
    size = _FRAME + page_size
    salts = {log[_SALTS], log[_HEADER + 8 : _HEADER + 16]}  # either may be what is damaged
    had_commit = False
    for start in range(_HEADER + readable * size, len(log) - _FRAME + 1, size):
        _, commit, salt = struct.unpack_from(">II8s", log, start)
        if salt not in salts:
            continue  # left over from before
        if had_commit:
            return True
        had_commit = commit > 0
    return False


def _bytes(folder: Path, name: str) -> bytes:
    try:
        with open_inside(folder, name) as file:
            return file.read()
    except FileNotFoundError:
        return b""
