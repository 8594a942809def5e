"""Arrays cut into pieces, each kept once: a snapshot costs what has changed since the last."""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from honeyguide.disk.serialise import Aside, DamagedError, Form, pieces

SIZE = 1 << 16  # bytes of a piece
HASH = 16  # bytes
_FEW = 8  # a change of less than an eighth is worth no comparison with the whole
Layout = dict[str, list[bytes]]  # hashes of an array's pieces, by its path

_shrink = zstandard.ZstdCompressor(level=1).compress


class Pieces:
    """The pieces in a database; of one that changed a little, only the change is kept."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._sure: set[bytes] = set()  # pieces that were read or written here, so they are whole

    def put(self, aside: Aside, before: Sequence[bytes]) -> Iterator[bytes]:
        """Keep an array in the transaction that is open, given what it was: a hash a piece."""
        for number, piece in enumerate(pieces(aside.array, SIZE)):
            name = _hash(piece)
            if name not in self._sure:
                self._put(name, piece, before[number] if number < len(before) else None)
            yield name

    def read(self, names: Sequence[bytes], forms: Sequence[Form]) -> list[NDArray[np.uint8]]:
        """The bytes of arrays of these forms; DamagedError when a piece is not what it was."""
        rest = iter(names)
        found = []
        for form in forms:
            array = np.empty(form.size, np.uint8)
            for part in pieces(array, SIZE):
                data = self._piece(next(rest))
                if len(data) != len(part):
                    raise DamagedError("a piece has another length")
                part[:] = data
            found.append(array)
        return found

    def verify(self, name: bytes) -> None:
        """Raise DamagedError unless a piece is what was written."""
        self._piece(name)

    def bases(self, names: Iterable[bytes]) -> set[bytes]:
        """The pieces that some of these are told by."""
        return {base for name in names if (base := self._row(name)[0])}

    def remove(self, names: Iterable[bytes]) -> None:
        """Forget pieces, in the transaction that is open."""
        rows = [(name,) for name in names]
        self._database.executemany("DELETE FROM pieces WHERE hash = ?", rows)
        self._sure.difference_update(name for (name,) in rows)

    def all(self) -> set[bytes]:
        """The hash of every piece that is kept."""
        return {name for (name,) in self._database.execute("SELECT hash FROM pieces")}

    def _put(self, name: bytes, piece: memoryview, before: bytes | None) -> None:
        """Keep a piece that is not there yet, or is there and damaged."""
        try:
            self._piece(name)
        except DamagedError:
            is_there = self._has(name)  # others may be told by it: then it is told by none
            base = None if is_there or before is None else self._base(before)
            self._insert(name, piece, base)

    def _has(self, name: bytes) -> bool:
        wanted = "SELECT 1 FROM pieces WHERE hash = ?"
        return self._database.execute(wanted, (name,)).fetchone() is not None

    def _base(self, before: bytes) -> bytes | None:
        """What a piece that took the place of another can be told by: never told by a third."""
        try:
            return self._row(before)[0] or before
        except DamagedError:
            return None

    def _insert(self, name: bytes, piece: memoryview, base: bytes | None) -> None:
        data = None
        if base is not None:
            data = self._change(piece, base)
        if data is None or len(data) * _FEW > len(piece):
            whole = _shrink(piece)
            if data is None or len(data) >= len(whole):
                base, data = None, whole
        self._database.execute("REPLACE INTO pieces VALUES (?, ?, ?)", (name, base, data))
        self._sure.add(name)

    def _change(self, piece: memoryview, base: bytes) -> bytes | None:
        try:
            return _shrink(_xor(piece, self._whole(base)))
        except DamagedError:  # then the piece stands alone
            return None

    def _piece(self, name: bytes) -> bytes:
        base, data = self._row(name)
        raw = unpacked(data, SIZE)
        if base is not None:
            raw = _xor(raw, self._whole(base))
        if _hash(raw) != name:
            raise DamagedError("a piece is not what it was")
        self._sure.add(name)
        return raw

    def _whole(self, name: bytes) -> bytes:
        base, data = self._row(name)
        raw = unpacked(data, SIZE)
        if base is not None or _hash(raw) != name:
            raise DamagedError("a piece is not what it was")
        return raw

    def _row(self, name: bytes) -> tuple[Any, ...]:
        wanted = "SELECT base, data FROM pieces WHERE hash = ?"
        row: tuple[Any, ...] | None = self._database.execute(wanted, (name,)).fetchone()
        if row is None:
            raise DamagedError("a piece is missing")
        return row


def layout(forms: Sequence[Form], names: Sequence[bytes]) -> Layout:
    """Which pieces belong to which array."""
    rest = iter(names)
    return {form.path: [next(rest) for _ in range(0, form.size, SIZE)] for form in forms}


def unpacked(data: bytes, most: int) -> bytes:
    """What was compressed, no more than so many bytes; DamagedError if that is not so."""
    try:
        size = zstandard.get_frame_parameters(data).content_size
        if size > most:  # also when it is not known
            raise DamagedError("it says that it is larger than it can be")
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=most)
    except (zstandard.ZstdError, TypeError, ValueError) as error:
        raise DamagedError(str(error)) from None


def _xor(piece: memoryview | bytes, base: bytes) -> bytes:
    common = min(len(piece), len(base))
    one, other = (np.frombuffer(data, np.uint8, common) for data in (piece, base))
    return (one ^ other).tobytes() + bytes(piece[common:])


def _hash(data: bytes | memoryview) -> bytes:
    return hashlib.blake2b(data, digest_size=HASH).digest()
