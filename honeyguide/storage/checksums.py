"""A checksum for each row, over all that it says."""

import math
import zlib
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import xor
from typing import Any

import msgspec

_encode = msgspec.msgpack.Encoder().encode


def with_checksum(*row: Any) -> tuple[Any, ...]:
    """A row as the database gives it back, and a checksum of it."""
    kept = tuple(map(_as_kept, row))
    return (*kept, checksum(kept))


def checksum(row: Sequence[Any]) -> int:
    """The checksum of a row that came from the database."""
    return zlib.crc32(_encode(row))


def combined(checksums: Iterable[int]) -> int:
    """One number for all rows of a table, whatever their order."""
    return reduce(xor, checksums, 0)


def is_whole(row: Sequence[Any]) -> bool:
    """Whether a row that ends in its checksum is what was written."""
    *said, known = row
    try:
        return bool(checksum(said) == known)
    except (TypeError, ValueError):  # a text that is none
        return False


def _as_kept(value: Any) -> Any:
    if type(value) is float:
        return None if math.isnan(value) else value + 0.0  # SQLite knows no NaN and no -0.0
    return int(value) if type(value) is bool else value
