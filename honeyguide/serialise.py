"""States and visits as bytes, and back exactly as they were."""

import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
from msgspec.msgpack import Ext
from numpy.typing import NDArray

from honeyguide.contracts import Link, Page, State, Verdict, Visit

MAGIC = b"honeyguide state 1\n"
_PIECE = 1 << 20  # bytes read or written at a time
_HEAD = struct.Struct("<QI")  # length of the skeleton, its checksum
_TAIL = struct.Struct("<I")  # checksum of all arrays
# what msgpack cannot say itself
_TEXT, _INTEGER, _SCALAR, _ARRAY, _PAIRS = range(1, 6)
_SMALLEST, _LARGEST = -(1 << 63), (1 << 64) - 1  # integers of msgpack


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
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:  # half a surrogate pair: rare, so only looked for now
        return _encoder.encode(_mended(value))


def unpack_visit(data: bytes, text: str) -> Visit:
    """The visit that was packed, given its page's text."""
    link, page, (relevance, relevant, reasons), *rest = _decoder.decode(data)
    verdict = Verdict(relevance, relevant, tuple(reasons))
    return Visit(_link(link), page and _page(page, text), verdict, None, *rest)


def pack_links(links: Sequence[Link]) -> bytes:
    """Links with all that they say."""
    return _encoder.encode(_mended([_link_row(link) for link in links]))


def unpack_links(data: bytes) -> list[Link]:
    """The links that were packed."""
    return [_link(row) for row in _decoder.decode(data)]


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


def write_state(file: BinaryIO, state: State) -> int:
    """Write a state and say how many bytes it took; tuples become lists."""
    arrays: list[NDArray[Any]] = []
    skeleton = _encoder.encode(_skeleton(state, arrays))
    size = file.write(MAGIC + _HEAD.pack(len(skeleton), zlib.crc32(skeleton)) + skeleton)
    checksum = 0
    for array in arrays:
        for piece in _pieces(array):
            checksum = zlib.crc32(piece, checksum)
            size += file.write(piece)
    return size + file.write(_TAIL.pack(checksum))


def read_state(path: Path) -> State:
    """Read a state back, or raise DamagedError."""
    with path.open("rb") as file:
        _expect(file.read(len(MAGIC)) == MAGIC, path)
        length, checksum = _HEAD.unpack(_exactly(file, _HEAD.size, path))
        _expect(length <= path.stat().st_size, path)
        skeleton = _exactly(file, length, path)
        _expect(zlib.crc32(skeleton) == checksum, path)
        arrays: list[NDArray[Any]] = []
        state: State = _filled(_decoder.decode(skeleton), arrays)
        checksum = 0
        for array in arrays:
            for piece in _pieces(array):
                _expect(file.readinto(piece) == len(piece), path)
                checksum = zlib.crc32(piece, checksum)
        _expect(_exactly(file, _TAIL.size, path) == _TAIL.pack(checksum), path)
    return state


def _skeleton(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """The same with arrays set aside, and numbers and texts in a form that msgpack knows."""
    if isinstance(value, dict):
        return _map(value, [_skeleton(item, arrays) for item in value.values()])
    if isinstance(value, list | tuple):
        return [_skeleton(item, arrays) for item in value]
    if isinstance(value, np.ndarray):
        return _set_aside(value, arrays)
    if isinstance(value, str):
        return _mended(value)
    if isinstance(value, int) and not _SMALLEST <= value <= _LARGEST:
        return Ext(_INTEGER, str(value).encode())
    if value is None or isinstance(value, int | float | bytes | np.generic):
        return value
    raise TypeError(f"a {type(value).__name__} cannot be kept")


def _map(value: dict[Any, Any], items: list[Any]) -> Any:
    keys = [_skeleton(key, []) for key in value]
    if any(isinstance(key, Ext) for key in keys):
        return Ext(_PAIRS, _encoder.encode((keys, items)))
    return dict(zip(keys, items, strict=True))


def _set_aside(array: NDArray[Any], arrays: list[NDArray[Any]]) -> Ext:
    if array.dtype.hasobject or array.dtype.names:
        raise TypeError(f"a state cannot hold arrays of {array.dtype}")
    # the order in memory stays: sums over it may round differently in the other one
    turned = array.flags.f_contiguous and not array.flags.c_contiguous
    plain = np.ascontiguousarray(array.T if turned else array)
    arrays.append(plain)
    shape = plain.shape if array.ndim else ()
    return Ext(_ARRAY, _encoder.encode((array.dtype.str, shape, turned)))


def _filled(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """The same with empty arrays in their places, listed in the order in which they follow."""
    if isinstance(value, dict):
        return {key: _filled(item, arrays) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, arrays) for item in value]
    if isinstance(value, Ext) and value.code == _PAIRS:
        keys, items = _decoder.decode(value.data)
        return dict(zip(keys, _filled(items, arrays), strict=True))
    if isinstance(value, Ext):
        dtype, shape, turned = _decoder.decode(value.data)
        arrays.append(np.empty(shape, dtype))
        return arrays[-1].T if turned else arrays[-1]
    return value


def _pieces(array: NDArray[Any]) -> Iterator[memoryview]:
    """The bytes of an array, a piece at a time and without a copy."""
    view = array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
    return (view[start : start + _PIECE] for start in range(0, len(view), _PIECE))


def _exactly(file: BinaryIO, count: int, path: Path) -> bytes:
    data = file.read(count)
    _expect(len(data) == count, path)
    return data


def _expect(holds: bool, path: Path) -> None:
    if not holds:
        raise DamagedError(f"{path} is damaged")


def _from_extension(code: int, data: memoryview) -> Any:
    if code == _TEXT:
        return text_from_bytes(bytes(data))
    if code == _INTEGER:
        return int(bytes(data))
    if code == _SCALAR:
        dtype, raw = _decoder.decode(data)
        return np.frombuffer(raw, dtype)[0]
    return Ext(code, bytes(data))


def _to_extension(value: Any) -> Ext:
    if isinstance(value, np.generic) and not value.dtype.hasobject:
        return Ext(_SCALAR, _encoder.encode((value.dtype.str, value.tobytes())))
    raise TypeError(f"a {type(value).__name__} cannot be kept")


_encoder = msgspec.msgpack.Encoder(enc_hook=_to_extension)
_decoder = msgspec.msgpack.Decoder(ext_hook=_from_extension)
