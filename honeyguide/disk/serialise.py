"""Serialise states and visits: what is read back equals what was written, bit for bit."""

import math
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec
import numpy as np
from msgspec.msgpack import Ext
from numpy.typing import NDArray

from honeyguide.contracts import NO_METADATA, Link, Metadata, Page, State, Verdict, Visit
from honeyguide.disk.files import replacing
from honeyguide.errors import HoneyguideError

MAGIC = b"honeyguide state 1\n"
_PIECE = 1 << 20  # bytes that are read or written at a time
_HEAD = struct.Struct("<QI")  # length of the skeleton, its checksum
_TAIL = struct.Struct("<I")  # checksum of all arrays
# extension types of msgpack, for what it cannot express
_TEXT, _INTEGER, _SCALAR, _ARRAY, _PAIRS, _TEXTS = range(1, 7)
_LONG = 256  # texts from which on a list is stored like an array
_DEEPEST = 64  # levels of nested dicts and lists, at most
_LIST = b"\xdd"  # msgpack's prefix of a list whose length follows in four bytes
# allowed dtypes are numbers only: files may come from strangers
_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8, 16), "c": (8, 16, 32)}
_DTYPES = frozenset(
    f"{order}{kind}{size}" for kind, sizes in _SIZES.items() for size in sizes for order in "<>|"
)
_MIN_INTEGER, _MAX_INTEGER = -(1 << 63), (1 << 64) - 1  # integers of msgpack
# exceptions that damaged bytes can raise while they are read
_MISFITS = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    RecursionError,
    msgspec.MsgspecError,
)


class DamagedError(Exception):
    """Stored bytes are damaged."""


# --------------------------------------------------------------------------- visits


def pack_visit(visit: Visit) -> bytes:
    """Serialise a visit without its response, its page's HTML and text (which is stored apart)."""
    page, verdict = visit.page, visit.verdict
    value = (
        _link_row(visit.link),
        page and _page_row(page),
        (verdict.relevance, verdict.relevant, list(verdict.reasons), list(verdict.measures)),
        visit.failure,
        visit.seconds,
        visit.host_delay,
        visit.again,
    )
    return pack_row(value)


def pack_row(row: tuple[Any, ...]) -> bytes:
    """Serialise texts, numbers, bytes, None, and lists and tuples of them."""
    try:
        return _encoder.encode(row)
    except UnicodeEncodeError:  # a lone surrogate: rare, so it is escaped only after an error
        return _encoder.encode(_escaped(row))


def unpack_row(data: bytes) -> list[Any]:
    """Read what `pack_row` wrote; tuples become lists; DamagedError if it is no list."""
    try:
        row = _decoder.decode(data)
    except _MISFITS:
        raise DamagedError("a row is damaged") from None
    if not isinstance(row, list):
        raise DamagedError("a row is damaged")
    return row


def unpack_visit(data: bytes, text: str, verdict: Verdict | None = None) -> Visit:
    """Read what `pack_visit` wrote; `text` becomes the text of its page.

    A verdict that is given replaces the one of that time.
    """
    row = unpack_row(data)
    try:
        link, page, (relevance, relevant, reasons, *measures), *rest = row
        first = Verdict(relevance, relevant, tuple(reasons), *map(tuple, measures))
        return Visit(_link(link), page and _page(page, text), verdict or first, None, *rest)
    except _MISFITS:
        raise DamagedError("a visit is damaged") from None


def pack_links(links: Sequence[Link]) -> bytes:
    """Serialise links with all their fields."""
    return _encoder.encode(_escaped([_link_row(link) for link in links]))


def unpack_links(data: bytes) -> list[Link]:
    """Read what `pack_links` wrote."""
    rows = unpack_row(data)
    try:
        return [_link(row) for row in rows]
    except _MISFITS:
        raise DamagedError("links are damaged") from None


def text_to_bytes(text: str) -> bytes:
    """Encode any text as UTF-8, lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")


def text_from_bytes(data: bytes) -> str:
    """Decode what `text_to_bytes` encoded."""
    return data.decode("utf-8", "surrogatepass")


def _page_row(page: Page) -> tuple[Any, ...]:
    row = page.url, page.title, [_link_row(link) for link in page.links], list(page.labels)
    said = page.metadata
    if said == NO_METADATA and not page.declared_language:
        return row
    about = said.canonical, said.author, said.published, list(said.headings)
    return (*row, page.declared_language, about)


def _page(row: Any, text: str) -> Page:
    url, title, links, labels, *said = row  # visits of 0.2 and earlier end here
    page = Page(url, title, text, tuple(_link(link) for link in links), labels=tuple(labels))
    if not said:
        return page
    language, (canonical, author, published, headings) = said
    metadata = Metadata(canonical, author, published, tuple(headings))
    return replace(page, declared_language=language, metadata=metadata)


def _link_row(link: Link) -> tuple[Any, ...]:
    return (
        link.url,
        link.anchor,
        link.context,
        link.tag_path,
        link.depth,
        link.source,
        link.box,
    )


def _link(row: Any) -> Link:
    url, anchor, context, tag_path, depth, source, box = row
    return Link(url, anchor, context, tag_path, depth, source, box and tuple(box))


def _escaped(value: Any) -> Any:
    """Replace every text with lone surrogates by a msgpack extension, in lists and tuples too."""
    if isinstance(value, str):
        return value if _is_utf8(value) else Ext(_TEXT, text_to_bytes(value))
    if isinstance(value, tuple | list):
        return [_escaped(item) for item in value]
    return value


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# --------------------------------------------------------------------------- states


class StateArray(NamedTuple):
    """An array of a state, and its path in the state."""

    path: str  # "frontier/block/rows/x"
    array: NDArray[Any]  # contiguous


class ArraySpec(NamedTuple):
    """Type and shape of an array whose bytes are stored apart from the skeleton."""

    path: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    by_columns: bool  # stored column by column
    texts: int  # number of texts in its bytes; -1 if it is an array

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize


def split_state(state: State, in_pieces: bool = False) -> tuple[bytes, list[StateArray]]:
    """Split a state into a skeleton (msgpack) and its arrays.

    With `in_pieces`, arrays are copied, and long lists of texts are stored like arrays.
    """
    splitter = _StateSplitter(in_pieces)
    skeleton = _encoder.encode(splitter.skeleton(state, ""))
    return skeleton, splitter.arrays


def read_skeleton(skeleton: bytes) -> tuple[Any, list[ArraySpec]]:
    """Decode a skeleton, with slots in place of arrays, and list the arrays; or DamagedError."""
    found: list[ArraySpec] = []
    try:
        decoded = _with_slots(_decoder.decode(skeleton), "", found, 0)
    except _MISFITS as error:
        raise DamagedError(f"no state: {error}") from None
    return decoded, found


def join_state(decoded: Any, arrays: Sequence[NDArray[np.uint8]]) -> State:
    """Put the bytes of the arrays into the slots of a decoded skeleton."""
    try:
        state: State = _with_arrays(decoded, arrays)
    except _MISFITS as error:
        raise DamagedError(f"no state: {error}") from None
    return state


def write_state(file: BinaryIO, state: State) -> int:
    """Write a state to an open file and return its size in bytes; tuples become lists."""
    skeleton, arrays = split_state(state)
    size = file.write(MAGIC + _HEAD.pack(len(skeleton), zlib.crc32(skeleton)) + skeleton)
    checksum = 0
    for _, array in arrays:
        for piece in pieces(array, _PIECE):
            checksum = zlib.crc32(piece, checksum)
            size += file.write(piece)
    return size + file.write(_TAIL.pack(checksum))


def save_state(path: Path, state: State) -> None:
    """Write a state to a file atomically."""
    try:
        with replacing(path) as file:
            write_state(file, state)
    except OSError as error:
        raise HoneyguideError(f"cannot write {path}: {error.strerror}") from None


def read_state(path: Path) -> State:
    """Read a state from a file; DamagedError if it is damaged."""
    with path.open("rb") as file:
        return read_open_state(file, str(path))


def read_open_state(file: BinaryIO, name: str) -> State:
    """Read a state from an open file; memory is allocated only up to the size of the file."""
    size = os.fstat(file.fileno()).st_size
    _expect(file.read(len(MAGIC)) == MAGIC, name)
    length, checksum = _HEAD.unpack(_exactly(file, _HEAD.size, name))
    _expect(length <= size, name)
    skeleton = _exactly(file, length, name)
    _expect(zlib.crc32(skeleton) == checksum, name)
    decoded, wanted = read_skeleton(skeleton)
    around = len(MAGIC) + _HEAD.size + length + _TAIL.size
    _expect(sum(spec.size for spec in wanted) == size - around, name)
    arrays = [np.empty(spec.size, np.uint8) for spec in wanted]
    checksum = 0
    for array in arrays:
        for piece in pieces(array, _PIECE):
            _expect(_read_into(file, piece), name)
            checksum = zlib.crc32(piece, checksum)
    _expect(_exactly(file, _TAIL.size, name) == _TAIL.pack(checksum), name)
    return join_state(decoded, arrays)


def pieces(array: NDArray[Any], size: int) -> Iterator[memoryview]:
    """The bytes of an array in pieces of `size` bytes, without a copy."""
    view = array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
    return (view[start : start + size] for start in range(0, len(view), size))


class _StateSplitter:
    """Collects the arrays of a state, and turns the rest into what msgpack can encode."""

    def __init__(self, in_pieces: bool) -> None:
        self.arrays: list[StateArray] = []
        self._in_pieces = in_pieces

    def skeleton(self, value: Any, path: str) -> Any:
        if isinstance(value, dict):
            items = [self.skeleton(item, f"{path}/{key}") for key, item in value.items()]
            return self._map(value, items)
        if isinstance(value, list | tuple):
            if self._in_pieces and len(value) >= _LONG and all(type(item) is str for item in value):
                return self._texts(value, path)
            return [self.skeleton(item, f"{path}/{n}") for n, item in enumerate(value)]
        if isinstance(value, np.ndarray):
            return self._array(value, path)
        return _plain(value)

    def _map(self, value: dict[Any, Any], items: list[Any]) -> Any:
        keys = [self.skeleton(key, "") for key in value]
        if any(isinstance(key, Ext) for key in keys):
            return Ext(_PAIRS, _encoder.encode((keys, items)))
        return dict(zip(keys, items, strict=True))

    def _array(self, array: NDArray[Any], path: str) -> Ext:
        if array.dtype.str not in _DTYPES:
            raise TypeError(f"a state cannot hold arrays of {array.dtype}")
        # the memory order is preserved, because sums over another order may round differently
        by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        rows = array.T if by_columns else array
        plain = np.array(rows, order="C") if self._in_pieces else np.ascontiguousarray(rows)
        self.arrays.append(StateArray(path, plain))
        shape = plain.shape if array.ndim else ()
        return Ext(_ARRAY, _encoder.encode((array.dtype.str, shape, by_columns)))

    def _texts(self, texts: Sequence[str], path: str) -> Ext:
        """Store texts like an array: a list that grows then leaves its first pieces unchanged."""
        encoded = _encoder.encode([_escaped(text) for text in texts])
        plain = encoded[3 if len(texts) < 1 << 16 else 5 :]  # without msgpack's length prefix
        self.arrays.append(StateArray(path, np.frombuffer(plain, np.uint8)))
        return Ext(_TEXTS, _encoder.encode((len(texts), len(plain))))


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return _escaped(value)
    if isinstance(value, int) and not _MIN_INTEGER <= value <= _MAX_INTEGER:
        return Ext(_INTEGER, str(value).encode())
    if value is None or isinstance(value, int | float | bytes | np.generic):
        return value
    raise TypeError(f"a {type(value).__name__} cannot be stored in a state")


class _Slot(NamedTuple):
    """The place of an array in a decoded skeleton."""

    number: int
    spec: ArraySpec


def _with_slots(value: Any, path: str, found: list[ArraySpec], depth: int) -> Any:
    """Replace each array by a slot, and append its spec to `found`, in the order of storage."""
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    if isinstance(value, dict):
        return {
            key: _with_slots(item, f"{path}/{key}", found, depth + 1) for key, item in value.items()
        }
    if isinstance(value, list):
        return [_with_slots(item, f"{path}/{n}", found, depth + 1) for n, item in enumerate(value)]
    if not isinstance(value, Ext):
        return value
    if value.code == _PAIRS:
        keys, items = _decoder.decode(value.data)
        named = [
            _with_slots(item, f"{path}/{key}", found, depth + 1)
            for key, item in zip(keys, items, strict=True)
        ]
        return dict(zip(keys, named, strict=True))
    found.append(_array_spec(value, path))
    return _Slot(len(found) - 1, found[-1])


def _array_spec(value: Ext, path: str) -> ArraySpec:
    fields = _decoder.decode(value.data)
    if value.code == _TEXTS:
        count, size = fields
        return ArraySpec(path, np.dtype(np.uint8), (_count(size),), False, _count(count))
    if value.code != _ARRAY:
        raise ValueError(f"unknown extension type {value.code}")
    dtype, shape, by_columns = fields
    return ArraySpec(path, _dtype(dtype), tuple(map(_count, shape)), bool(by_columns), -1)


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 48:
        raise ValueError(f"an array with {value!r} rows")
    return value


def _dtype(name: Any) -> np.dtype[Any]:
    if name not in _DTYPES:
        raise ValueError(f"an array of {name!r}")
    return np.dtype(str(name))


def _with_arrays(value: Any, arrays: Sequence[NDArray[np.uint8]]) -> Any:
    """Replace each slot by its array."""
    if isinstance(value, dict):
        return {key: _with_arrays(item, arrays) for key, item in value.items()}
    if isinstance(value, _Slot):
        return _to_array(arrays[value.number], value.spec)
    if isinstance(value, list):
        return [_with_arrays(item, arrays) for item in value]
    return value


def _to_array(data: NDArray[np.uint8], spec: ArraySpec) -> Any:
    if spec.texts >= 0:
        texts = _decoder.decode(_LIST + spec.texts.to_bytes(4, "big") + data.tobytes())
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("a list of texts holds other values")
        return texts
    array = data.view(spec.dtype).reshape(spec.shape)
    return array.T if spec.by_columns else array


def _read_into(file: BinaryIO, piece: memoryview) -> bool:
    """Fill `piece` from the file, however many reads that takes; return whether it was filled."""
    rest = piece
    while rest:
        count: int = file.readinto(rest)  # type: ignore[attr-defined]
        if not count:
            return False
        rest = rest[count:]
    return True


def _exactly(file: BinaryIO, count: int, name: str) -> bytes:
    data = bytearray(count)
    _expect(_read_into(file, memoryview(data)), name)
    return bytes(data)


def _expect(holds: bool, name: str) -> None:
    if not holds:
        raise DamagedError(f"{name} is damaged")


def _from_extension(code: int, data: memoryview) -> Any:
    if code == _TEXT:
        return text_from_bytes(bytes(data))
    if code == _INTEGER:
        return int(bytes(data))
    if code == _SCALAR:
        dtype, raw = _decoder.decode(data)
        [scalar] = np.frombuffer(raw, _dtype(dtype))
        return scalar
    return Ext(code, bytes(data))


def _to_extension(value: Any) -> Ext:
    if isinstance(value, np.generic) and value.dtype.str in _DTYPES:
        return Ext(_SCALAR, _encoder.encode((value.dtype.str, value.tobytes())))
    raise TypeError(f"a {type(value).__name__} cannot be stored in a state")


_encoder = msgspec.msgpack.Encoder(enc_hook=_to_extension)
_decoder = msgspec.msgpack.Decoder(ext_hook=_from_extension)
