"""Arrays stored in pieces, each once: a snapshot writes only the pieces that changed."""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from honeyguide.disk.serialise import ArraySpec, DamagedError, StateArray, pieces

SIZE = 1 << 16  # bytes of a piece
HASH = 16  # bytes
_FEW = 8  # a difference below an eighth of a piece is stored without compressing the piece, too
Layout = dict[str, list[bytes]]  # path of an array in the state -> hashes of its pieces

_shrink = zstandard.ZstdCompressor(level=1).compress


class Pieces:
    """The table `pieces`: each is compressed alone, or as the difference (xor) from a base."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._sure: set[bytes] = set()  # hashes of pieces known to be intact

    def put(self, item: StateArray, before: Sequence[bytes]) -> Iterator[bytes]:
        """Store an array's pieces in the open transaction; yield their hashes.

        `before` are the hashes of the same array in the last snapshot: bases for what changed.
        """
        for number, piece in enumerate(pieces(item.array, SIZE)):
            name = _hash(piece)
            if name not in self._sure:
                self._put(name, piece, before[number] if number < len(before) else None)
            yield name

    def read(self, names: Sequence[bytes], specs: Sequence[ArraySpec]) -> list[NDArray[np.uint8]]:
        """Read the bytes of these arrays from pieces; DamagedError if one is missing or damaged."""
        rest = iter(names)
        found = []
        for spec in specs:
            array = np.empty(spec.size, np.uint8)
            for part in pieces(array, SIZE):
                data = self._piece(next(rest))
                if len(data) != len(part):
                    raise DamagedError("a piece has the wrong length")
                part[:] = data
            found.append(array)
        return found

    def verify(self, name: bytes) -> None:
        """Raise DamagedError unless a piece is there and intact."""
        self._piece(name)

    def bases(self, names: Iterable[bytes]) -> set[bytes]:
        """The hashes of the base pieces of these pieces."""
        return {base for name in names if (base := self._row(name)[0])}

    def remove(self, names: Iterable[bytes]) -> None:
        """Delete pieces, in the transaction that is open."""
        rows = [(name,) for name in names]
        self._database.executemany("DELETE FROM pieces WHERE hash = ?", rows)
        self._sure.difference_update(name for (name,) in rows)

    def all(self) -> set[bytes]:
        """The hash of every piece in the table."""
        return {name for (name,) in self._database.execute("SELECT hash FROM pieces")}

    def _put(self, name: bytes, piece: memoryview, before: bytes | None) -> None:
        """Store a piece that is missing or damaged."""
        try:
            self._piece(name)
        except DamagedError:
            is_there = self._has(name)  # it may be a base itself, and a base must have no base
            base = None if is_there or before is None else self._base(before)
            self._insert(name, piece, base)

    def _has(self, name: bytes) -> bool:
        wanted = "SELECT 1 FROM pieces WHERE hash = ?"
        return self._database.execute(wanted, (name,)).fetchone() is not None

    def _base(self, before: bytes) -> bytes | None:
        """The base for a piece that replaces `before`: the base of `before`, or `before` itself."""
        try:
            return self._row(before)[0] or before
        except DamagedError:
            return None

    def _insert(self, name: bytes, piece: memoryview, base: bytes | None) -> None:
        data = None
        if base is not None:
            data = self._difference(piece, base)
        if data is None or len(data) * _FEW > len(piece):
            full = _shrink(piece)
            if data is None or len(data) >= len(full):
                base, data = None, full
        self._database.execute("REPLACE INTO pieces VALUES (?, ?, ?)", (name, base, data))
        self._sure.add(name)

    def _difference(self, piece: memoryview, base: bytes) -> bytes | None:
        try:
            return _shrink(_xor(piece, self._base_bytes(base)))
        except DamagedError:  # the piece is stored without a base
            return None

    def _piece(self, name: bytes) -> bytes:
        base, data = self._row(name)
        raw = unpacked(data, SIZE)
        if base is not None:
            raw = _xor(raw, self._base_bytes(base))
        if _hash(raw) != name:
            raise DamagedError("a piece does not match its hash")
        self._sure.add(name)
        return raw

    def _base_bytes(self, name: bytes) -> bytes:
        base, data = self._row(name)
        raw = unpacked(data, SIZE)
        if base is not None or _hash(raw) != name:
            raise DamagedError("a piece does not match its hash")
        return raw

    def _row(self, name: bytes) -> tuple[Any, ...]:
        wanted = "SELECT base, data FROM pieces WHERE hash = ?"
        row: tuple[Any, ...] | None = self._database.execute(wanted, (name,)).fetchone()
        if row is None:
            raise DamagedError("a piece is missing")
        return row


def layout(specs: Sequence[ArraySpec], names: Sequence[bytes]) -> Layout:
    """Assign the hashes of pieces, in order, to the arrays."""
    rest = iter(names)
    return {spec.path: [next(rest) for _ in range(0, spec.size, SIZE)] for spec in specs}


def unpacked(data: bytes, most: int) -> bytes:
    """Decompress at most `most` bytes; DamagedError if the data is damaged or larger."""
    try:
        size = zstandard.get_frame_parameters(data).content_size
        if size > most:  # an unknown size is a huge number
            raise DamagedError("its size is larger than allowed")
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=most)
    except (zstandard.ZstdError, TypeError, ValueError) as error:
        raise DamagedError(str(error)) from None


def _xor(piece: memoryview | bytes, base: bytes) -> bytes:
    common = min(len(piece), len(base))
    one, other = (np.frombuffer(data, np.uint8, common) for data in (piece, base))
    return (one ^ other).tobytes() + bytes(piece[common:])


def _hash(data: bytes | memoryview) -> bytes:
    return hashlib.blake2b(data, digest_size=HASH).digest()
