"""Detect lost commits in SQLite's write-ahead log, which SQLite itself silently ignores."""

from collections.abc import Iterator
from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.disk.files import open_inside
from honeyguide.storage.database import FILE

_HEADER, _FRAME = 32, 24  # bytes; https://www.sqlite.org/walformat.html
_SUMMED = 24  # bytes of the header that have a checksum
_MAGIC = 0x377F0682  # checksums are over little-endian words; plus 1: big-endian
_ALL = 0xFFFFFFFF
_TRIES = 3  # to read a log that a running crawl restarts meanwhile


class _Frame(NamedTuple):
    summed: bytes  # the bytes that its checksum covers
    checksum: tuple[int, int]
    salts: bytes
    commits: bool


def has_lost_commits(folder: Path) -> bool:
    """Whether commits that had been synced cannot be read any more.

    SQLite takes a damaged frame for the end of the log. Each commit is synced before the next one,
    so a frame that follows an unreadable commit proves that this commit had been synced. One frame
    at a time is read into memory.
    """
    try:
        # SQLite holds no lock on this file that closing it here could release
        with BufferedReader(open_inside(folder, f"{FILE}-wal")) as file:
            return _has_lost_commits(file)
    except FileNotFoundError:
        return False


def _has_lost_commits(file: BinaryIO) -> bool:
    head, found = _head(file), False
    for _ in range(_TRIES):
        found = _goes_on_after_damage(head, _frames(file, head))
        before, head = head, _head(file)
        if head == before:  # otherwise a crawl restarted the log meanwhile
            break
    return found


def _head(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read(_HEADER)


def _frames(file: BinaryIO, head: bytes) -> Iterator[_Frame]:
    """The frames that are in a log now; a running crawl may append others."""
    size = int.from_bytes(head[8:12], "big")
    if size not in {1 << power for power in range(9, 17)}:
        return
    end = file.seek(0, 2) - _FRAME - size
    for start in range(_HEADER, end + 1, _FRAME + size):
        file.seek(start)
        data = file.read(_FRAME + size)
        if len(data) < _FRAME + size:
            return
        summed = data[:8] + data[_FRAME:]
        yield _Frame(summed, _numbers(data[16:24]), data[8:16], data[4:8] != bytes(4))


def _goes_on_after_damage(head: bytes, frames: Iterator[_Frame]) -> bool:
    order = _order(head)
    is_valid = _is_header_valid(head)  # the log up to here
    salts = head[16:24] if is_valid else b""  # frames with other salts are of an earlier log
    state = _numbers(head[_SUMMED:_HEADER])
    last: _Frame | None = None  # after damage: the previous frame
    for frame in frames:
        salts = salts or frame.salts
        if is_valid:
            state = _checksum(frame.summed, state, order)
            is_valid = state == frame.checksum and frame.salts == salts
        elif last and last.salts == salts and _goes_on_from(last, frame, order):
            return True
        last = None if is_valid else frame
    return False


def _goes_on_from(last: _Frame, frame: _Frame, order: str) -> bool:
    """Whether a frame continues the checksum of a frame that ends a commit."""
    return last.commits and _checksum(frame.summed, last.checksum, order) == frame.checksum


def _is_header_valid(head: bytes) -> bool:
    if len(head) < _HEADER:
        return False
    return _checksum(head[:_SUMMED], (0, 0), _order(head)) == _numbers(head[_SUMMED:])


def _order(head: bytes) -> str:
    """Byte order of the words that checksums are computed over."""
    return ">" if int.from_bytes(head[:4], "big") == _MAGIC + 1 else "<"


def _checksum(data: bytes, state: tuple[int, int], order: str) -> tuple[int, int]:
    """SQLite's checksum: s0 += a + s1, s1 += b + s0 for each two words, here vectorised."""
    words = np.frombuffer(data, f"{order}u4").astype(np.uint32)
    first, second, (m00, m01, m10, m11) = _weights(len(words) // 2)
    s0, s1 = state
    a, b = words[::2], words[1::2]
    sum0 = int((first[0] * a + first[1] * b).sum(dtype=np.uint32))
    sum1 = int((second[0] * a + second[1] * b).sum(dtype=np.uint32))
    return (m00 * s0 + m01 * s1 + sum0) & _ALL, (m10 * s0 + m11 * s1 + sum1) & _ALL


@cache
def _weights(
    pairs: int,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], tuple[int, int, int, int]]:
    """Weights of the words in s0 and s1, each of shape (2, pairs), and of the sums so far."""
    weights = np.empty((2, 2, pairs), np.uint32)
    m00, m01, m10, m11 = 1, 0, 0, 1  # of the sums, as many pairs later
    for pair in reversed(range(pairs)):
        weights[0, :, pair] = (m00 + m01) & _ALL, m01
        weights[1, :, pair] = (m10 + m11) & _ALL, m11
        m00, m01 = (m00 + m01) & _ALL, (m00 + 2 * m01) & _ALL
        m10, m11 = (m10 + m11) & _ALL, (m10 + 2 * m11) & _ALL
    return weights[0], weights[1], (m00, m01, m10, m11)


def _numbers(data: bytes) -> tuple[int, int]:
    return int.from_bytes(data[:4], "big"), int.from_bytes(data[4:], "big")
