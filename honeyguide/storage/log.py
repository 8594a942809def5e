"""SQLite's write-ahead log, which ends silently where it is damaged."""

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.disk.files import open_inside
from honeyguide.storage.database import FILE

_HEADER, _FRAME = 32, 24  # bytes; https://www.sqlite.org/walformat.html
_SUMMED = 24  # bytes of the header that have a checksum
_MAGIC = 0x377F0682  # of a log whose checksums are over little-endian words; plus 1: big-endian
_ALL = 0xFFFFFFFF


class _Frame(NamedTuple):
    summed: bytes  # what its checksum is over
    checksum: tuple[int, int]
    salts: bytes
    commits: bool


def has_lost_commits(folder: Path) -> bool:
    """Whether commits that were safe cannot be read any more.

    SQLite takes a damaged frame for the end of the log. Each commit is synced before the next one
    begins, so a frame that goes on from an unreadable commit shows that this one had been safe.
    """
    log = _bytes(folder)
    frames = _frames(log) if len(log) >= _HEADER + _FRAME else []
    if not frames:
        return False
    # others are left over from before the log was begun anew
    salts = log[16:24] if _is_header_whole(log) else frames[0].salts
    rest = frames[_readable(log, frames) :]
    return any(
        last.commits
        and last.salts == salts
        and _checksum(frame.summed, last.checksum, _order(log)) == frame.checksum
        for last, frame in pairwise(rest)
    )


def _frames(log: bytes) -> list[_Frame]:
    size = int.from_bytes(log[8:12], "big")
    if size not in {1 << power for power in range(9, 17)}:
        return []
    found = []
    for start in range(_HEADER, len(log) - _FRAME - size + 1, _FRAME + size):
        head = log[start : start + _FRAME]
        page = log[start + _FRAME : start + _FRAME + size]
        commits = head[4:8] != bytes(4)
        found.append(_Frame(head[:8] + page, _numbers(head[16:24]), head[8:16], commits))
    return found


def _readable(log: bytes, frames: list[_Frame]) -> int:
    """How many frames SQLite reads: those of whole commits, up to the first that is damaged."""
    if not _is_header_whole(log):
        return 0
    order, state = _order(log), _numbers(log[_SUMMED:_HEADER])
    readable = 0
    for number, frame in enumerate(frames):
        state = _checksum(frame.summed, state, order)
        if state != frame.checksum or frame.salts != log[16:24]:
            break
        if frame.commits:
            readable = number + 1
    return readable


def _is_header_whole(log: bytes) -> bool:
    return _checksum(log[:_SUMMED], (0, 0), _order(log)) == _numbers(log[_SUMMED:_HEADER])


def _order(log: bytes) -> str:
    """Which way round the words are that checksums are over."""
    return ">" if int.from_bytes(log[:4], "big") == _MAGIC + 1 else "<"


def _checksum(data: bytes, state: tuple[int, int], order: str) -> tuple[int, int]:
    """SQLite's: s0 += a + s1, s1 += b + s0 for each two words; here for all of them at once."""
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
    """How much each word counts in either sum, and each sum so far."""
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


def _bytes(folder: Path) -> bytes:
    try:
        # SQLite holds no lock on this file that closing it here could release
        with open_inside(folder, f"{FILE}-wal") as file:
            return file.read()
    except FileNotFoundError:
        return b""
