"""States and visits as bytes, and back exactly as they were."""

import math
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec
import numpy as np
from msgspec.msgpack import Ext
from numpy.typing import NDArray

from honeyguide.contracts import Link, Page, State, Verdict, Visit
from honeyguide.disk.files import replacing
from honeyguide.errors import HoneyguideError

MAGIC = b"honeyguide state 1\n"
_PIECE = 1 << 20  # bytes read or written at a time
_HEAD = struct.Struct("<QI")  # length of the skeleton, its checksum
_TAIL = struct.Struct("<I")  # checksum of all arrays
# what msgpack cannot say itself
_TEXT, _INTEGER, _SCALAR, _ARRAY, _PAIRS, _TEXTS = range(1, 7)
_LONG = 256  # texts of a list that are set aside like an array
_DEEPEST = 64  # dicts and lists within one another
_LIST = b"\xdd"  # of msgpack, before the number of items in four bytes
# no objects, no texts, no fields: what is read from strangers must be numbers and nothing else
_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8, 16), "c": (8, 16, 32)}
_DTYPES = frozenset(
    f"{order}{kind}{size}" for kind, sizes in _SIZES.items() for size in sizes for order in "<>|"
)
_SMALLEST, _LARGEST = -(1 << 63), (1 << 64) - 1  # integers of msgpack
# how bytes that are no state show it, once they are read
_MISFITS = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    RecursionError,
    msgspec.MsgspecError,
)


class DamagedError(Exception):
    """Bytes that are not what was written."""


# --------------------------------------------------------------------------- visits


def pack_visit(visit: Visit) -> bytes:
    """A visit without its response, its page's HTML, and its page's text, which is kept apart."""
    page, verdict = visit.page, visit.verdict
    value = (
        _link_row(visit.link),
        page
        and (page.url, page.title, [_link_row(link) for link in page.links], list(page.labels)),
        (verdict.relevance, verdict.relevant, list(verdict.reasons)),
        visit.failure,
        visit.seconds,
        visit.host_delay,
        visit.again,
    )
    return pack_row(value)


def pack_row(row: tuple[Any, ...]) -> bytes:
    """Texts, numbers, bytes, and lists and tuples of them."""
    try:
        return _encoder.encode(row)
    except UnicodeEncodeError:  # half a surrogate pair: rare, so only looked for now
        return _encoder.encode(_mended(row))


def unpack_row(data: bytes) -> list[Any]:
    """The row that was packed; tuples become lists."""
    try:
        row = _decoder.decode(data)
    except _MISFITS:
        raise DamagedError("a row is damaged") from None
    if not isinstance(row, list):
        raise DamagedError("a row is damaged")
    return row


def unpack_visit(data: bytes, text: str) -> Visit:
    """The visit that was packed, given its page's text."""
    row = unpack_row(data)
    try:
        link, page, (relevance, relevant, reasons), *rest = row
        verdict = Verdict(relevance, relevant, tuple(reasons))
        return Visit(_link(link), page and _page(page, text), verdict, None, *rest)
    except _MISFITS:
        raise DamagedError("a visit is damaged") from None


def pack_links(links: Sequence[Link]) -> bytes:
    """Links with all that they say."""
    return _encoder.encode(_mended([_link_row(link) for link in links]))


def unpack_links(data: bytes) -> list[Link]:
    """The links that were packed."""
    rows = unpack_row(data)
    try:
        return [_link(row) for row in rows]
    except _MISFITS:
        raise DamagedError("links are damaged") from None


def text_to_bytes(text: str) -> bytes:
    """Any text, half surrogate pairs included."""
    return text.encode("utf-8", "surrogatepass")


def text_from_bytes(data: bytes) -> str:
    """The text that was encoded."""
    return data.decode("utf-8", "surrogatepass")


def _page(row: Any, text: str) -> Page:
    url, title, links, labels = row
    return Page(url, title, text, tuple(_link(link) for link in links), labels=tuple(labels))


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


def _mended(value: Any) -> Any:
    """The same with every text that UTF-8 cannot say as an extension."""
    if isinstance(value, str):
        return value if _is_utf8(value) else Ext(_TEXT, text_to_bytes(value))
    if isinstance(value, tuple | list):
        return [_mended(item) for item in value]
    return value


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# --------------------------------------------------------------------------- states


class Aside(NamedTuple):
    """An array of a state, and where in the state it is."""

    path: str  # "frontier/block/rows/x"
    array: NDArray[Any]  # contiguous


class Form(NamedTuple):
    """What an array that follows a skeleton looks like."""

    path: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    turned: bool  # kept column by column
    texts: int  # that its bytes hold; -1 when it is an array

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return math.prod(self.shape) * self.dtype.itemsize


def split_state(state: State, in_pieces: bool = False) -> tuple[bytes, list[Aside]]:
    """Its skeleton and its arrays; in pieces: copies of them, and of long lists of texts."""
    splitting = _Splitting(in_pieces)
    skeleton = _encoder.encode(splitting.skeleton(state, ""))
    return skeleton, splitting.aside


def forms(skeleton: bytes) -> tuple[Any, list[Form]]:
    """What a skeleton says, and the arrays it asks for; DamagedError if it cannot be right."""
    found: list[Form] = []
    try:
        said = _checked(_decoder.decode(skeleton), "", found, 0)
    except _MISFITS as error:
        raise DamagedError(f"no state: {error}") from None
    return said, found


def join_state(said: Any, arrays: Sequence[NDArray[np.uint8]]) -> State:
    """The state that a skeleton and the bytes of its arrays make."""
    try:
        state: State = _filled(said, arrays)
    except _MISFITS as error:
        raise DamagedError(f"no state: {error}") from None
    return state


def write_state(file: BinaryIO, state: State) -> int:
    """Write a state and say how many bytes it took; tuples become lists."""
    skeleton, aside = split_state(state)
    size = file.write(MAGIC + _HEAD.pack(len(skeleton), zlib.crc32(skeleton)) + skeleton)
    checksum = 0
    for _, array in aside:
        for piece in pieces(array, _PIECE):
            checksum = zlib.crc32(piece, checksum)
            size += file.write(piece)
    return size + file.write(_TAIL.pack(checksum))


def save_state(path: Path, state: State) -> None:
    """Write a state to a file, whole or not at all."""
    try:
        with replacing(path) as file:
            write_state(file, state)
    except OSError as error:
        raise HoneyguideError(f"cannot write {path}: {error.strerror}") from None


def read_state(path: Path) -> State:
    """Read a state back, or raise DamagedError."""
    with path.open("rb") as file:
        return read_open_state(file, str(path))


def read_open_state(file: BinaryIO, name: str) -> State:
    """Read a state from an open file of this name; no more memory is taken than it has bytes."""
    size = os.fstat(file.fileno()).st_size
    _expect(file.read(len(MAGIC)) == MAGIC, name)
    length, checksum = _HEAD.unpack(_exactly(file, _HEAD.size, name))
    _expect(length <= size, name)
    skeleton = _exactly(file, length, name)
    _expect(zlib.crc32(skeleton) == checksum, name)
    said, wanted = forms(skeleton)
    around = len(MAGIC) + _HEAD.size + length + _TAIL.size
    _expect(sum(form.size for form in wanted) == size - around, name)
    arrays = [np.empty(form.size, np.uint8) for form in wanted]
    checksum = 0
    for array in arrays:
        for piece in pieces(array, _PIECE):
            _expect(_read_into(file, piece), name)
            checksum = zlib.crc32(piece, checksum)
    _expect(_exactly(file, _TAIL.size, name) == _TAIL.pack(checksum), name)
    return join_state(said, arrays)


def pieces(array: NDArray[Any], size: int) -> Iterator[memoryview]:
    """The bytes of an array, a piece at a time and without a copy."""
    view = array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
    return (view[start : start + size] for start in range(0, len(view), size))


class _Splitting:
    """Sets arrays aside, and says the rest in a form that msgpack knows."""

    def __init__(self, in_pieces: bool) -> None:
        self.aside: list[Aside] = []
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
        # the order in memory stays: sums over it may round differently in the other one
        turned = array.flags.f_contiguous and not array.flags.c_contiguous
        form = array.T if turned else array
        plain = np.array(form, order="C") if self._in_pieces else np.ascontiguousarray(form)
        self.aside.append(Aside(path, plain))
        shape = plain.shape if array.ndim else ()
        return Ext(_ARRAY, _encoder.encode((array.dtype.str, shape, turned)))

    def _texts(self, texts: Sequence[str], path: str) -> Ext:
        """Texts one after another: a list that grows at its end leaves the beginning as it is."""
        said = _encoder.encode([_mended(text) for text in texts])
        plain = said[3 if len(texts) < 1 << 16 else 5 :]  # without the number of them
        self.aside.append(Aside(path, np.frombuffer(plain, np.uint8)))
        return Ext(_TEXTS, _encoder.encode((len(texts), len(plain))))


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return _mended(value)
    if isinstance(value, int) and not _SMALLEST <= value <= _LARGEST:
        return Ext(_INTEGER, str(value).encode())
    if value is None or isinstance(value, int | float | bytes | np.generic):
        return value
    raise TypeError(f"a {type(value).__name__} cannot be kept")


class _Slot(NamedTuple):
    """Where an array belongs: its number among those that follow."""

    number: int
    form: Form


def _checked(value: Any, path: str, found: list[Form], depth: int) -> Any:
    """The same with a slot for each array, in the order in which they follow."""
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    if isinstance(value, dict):
        return {
            key: _checked(item, f"{path}/{key}", found, depth + 1) for key, item in value.items()
        }
    if isinstance(value, list):
        return [_checked(item, f"{path}/{n}", found, depth + 1) for n, item in enumerate(value)]
    if not isinstance(value, Ext):
        return value
    if value.code == _PAIRS:
        keys, items = _decoder.decode(value.data)
        named = [
            _checked(item, f"{path}/{key}", found, depth + 1)
            for key, item in zip(keys, items, strict=True)
        ]
        return dict(zip(keys, named, strict=True))
    found.append(_form(value, path))
    return _Slot(len(found) - 1, found[-1])


def _form(value: Ext, path: str) -> Form:
    said = _decoder.decode(value.data)
    if value.code == _TEXTS:
        count, size = said
        return Form(path, np.dtype(np.uint8), (_count(size),), False, _count(count))
    if value.code != _ARRAY:
        raise ValueError(f"something of kind {value.code}")
    dtype, shape, turned = said
    return Form(path, _dtype(dtype), tuple(map(_count, shape)), bool(turned), -1)


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 48:
        raise ValueError(f"an array with {value!r} rows")
    return value


def _dtype(name: Any) -> np.dtype[Any]:
    if name not in _DTYPES:
        raise ValueError(f"an array of {name!r}")
    return np.dtype(str(name))


def _filled(value: Any, arrays: Sequence[NDArray[np.uint8]]) -> Any:
    """The same with its array in each slot."""
    if isinstance(value, dict):
        return {key: _filled(item, arrays) for key, item in value.items()}
    if isinstance(value, _Slot):
        return _shaped(arrays[value.number], value.form)
    if isinstance(value, list):
        return [_filled(item, arrays) for item in value]
    return value


def _shaped(data: NDArray[np.uint8], form: Form) -> Any:
    if form.texts >= 0:
        texts = _decoder.decode(_LIST + form.texts.to_bytes(4, "big") + data.tobytes())
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("a list of texts holds something else")
        return texts
    array = data.view(form.dtype).reshape(form.shape)
    return array.T if form.turned else array


def _read_into(file: BinaryIO, piece: memoryview) -> bool:
    """Whether so many bytes were there; a read may bring fewer than asked for."""
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
    raise TypeError(f"a {type(value).__name__} cannot be kept")


_encoder = msgspec.msgpack.Encoder(enc_hook=_to_extension)
_decoder = msgspec.msgpack.Decoder(ext_hook=_from_extension)
