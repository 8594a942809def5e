"""Read the regular files of a tar archive one after another, in bounded memory."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from honeyguide.errors import HoneyguideError

BLOCK = 512  # bytes
LONGEST_NAME = 4096  # bytes, as on Linux
LONGEST_EXTRA = 1 << 20  # bytes of an extended header; tar writes some hundred
MOST_HEADERS = 100  # most bytes of headers per byte of the archive file ...
ROOM = 1 << 24  # ... plus so many bytes for any file
_PIECE = 1 << 16
_PLAIN, _LONG_NAME, _LONG_LINK, _PAX, _GLOBAL, _SPARSE = b"0\x007", b"L", b"K", b"x", b"g", b"S"
_EMPTY = b"123456"  # links, devices, folders: no content follows, whatever the size says
_octal = re.compile(rb"\s*([0-7]{0,11})[\s\0]*").fullmatch
_pax = re.compile(rb"(\d{1,7}) ([^=]{1,100})=").match


class TarError(Exception):
    """The bytes are not a valid tar archive."""


def tar_files(stream: BinaryIO, source: Path, limit: int) -> Iterator[tuple[str, bytes]]:
    """Yield name and first `limit` bytes of each regular file; no links, devices, sparse files."""
    tar = _Tar(stream, source)
    while (head := tar.header()) is not None:
        name, kind, size = head
        if kind in _PLAIN and not name.endswith("/"):
            yield name, tar.read(min(size, limit))
            size -= min(size, limit)
        tar.skip(0 if kind in _EMPTY else size)


class _Tar:
    """Reads headers and contents in the order of the archive."""

    def __init__(self, stream: BinaryIO, source: Path) -> None:
        self._stream, self._source = stream, source
        self._left = (
            ROOM + MOST_HEADERS * source.stat().st_size
        )  # bytes that headers may still have
        self._over = 0  # padding bytes before the next block
        self._is_first = True

    def header(self) -> tuple[str, bytes, int] | None:
        """Return name, kind and size of the next member; None at the end."""
        extended: dict[bytes, bytes] = {}
        while (block := self._block()) is not None:
            kind, size = block[156:157], _number(block[124:136])
            if kind == _LONG_NAME:
                extended[b"path"] = self._extra(size, LONGEST_NAME + 1).rstrip(b"\0")
            elif kind == _PAX:
                extended |= _records(self._extra(size, LONGEST_EXTRA))
            elif kind in (_LONG_LINK, _GLOBAL):
                self._extra(size, LONGEST_EXTRA)
            else:
                return self._member(block, kind, size, extended)
        if extended:
            raise HoneyguideError(f"{self._source} is cut off")
        return None

    def _member(
        self, block: bytes, kind: bytes, size: int, extended: dict[bytes, bytes]
    ) -> tuple[str, bytes, int]:
        name = extended.get(b"path", b"") or _name(block)
        if len(name) > LONGEST_NAME:
            raise HoneyguideError(f"{self._source} has a name of more than {LONGEST_NAME} bytes")
        if b"size" in extended:
            size = _decimal(extended[b"size"])
        if kind == _SPARSE:
            more = block[482]
            while more:
                more = self._exactly(BLOCK)[504]
        if any(key.startswith(b"GNU.sparse") for key in extended):
            kind = _SPARSE
        self._spend(len(name))
        return name.decode("utf-8", "replace"), kind, size

    def _block(self) -> bytes | None:
        self._align()
        block = self._stream.read(BLOCK)
        if not block.strip(b"\0"):
            self._check_end(block)
            return None
        if len(block) < BLOCK and not self._is_first:
            raise HoneyguideError(f"{self._source} is cut off")
        if len(block) < BLOCK or not _is_header(block):
            raise TarError("a header is damaged" if not self._is_first else "it has no header")
        self._is_first = False
        self._spend(BLOCK)
        return block

    def _check_end(self, block: bytes) -> None:
        """Raise an error unless the archive ends with an empty block after a member."""
        if self._is_first or len(block) < BLOCK:
            what = "empty" if self._is_first else "cut off"
            raise HoneyguideError(f"{self._source} is {what}")

    def _extra(self, size: int, limit: int) -> bytes:
        if size > limit:
            raise HoneyguideError(f"{self._source} has a header of more than {limit - 1:,} bytes")
        self._spend(size)
        return self.read(size)

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise HoneyguideError(
                f"{self._source} has headers of more than {MOST_HEADERS} times its own size"
            )

    def read(self, size: int) -> bytes:
        """Read the next bytes of a member's content."""
        self._over += -size % BLOCK
        return self._exactly(size)

    def skip(self, size: int) -> None:
        """Skip the rest of a member's content, piece by piece."""
        while size > 0:
            size -= len(self.read(min(size, _PIECE)))

    def _align(self) -> None:
        over = self._over % BLOCK
        self._over = 0
        self._exactly(over)

    def _exactly(self, size: int) -> bytes:
        data = self._stream.read(size)
        if len(data) < size:
            raise HoneyguideError(f"{self._source} is cut off")
        return data


def _is_header(block: bytes) -> bool:
    """Return whether the checksum is right; some programs sum signed bytes."""
    rest = block[:148] + b" " * 8 + block[156:]
    try:
        over = sum(rest) - _number(block[148:156])
    except TarError:
        return False
    return not over or over == 256 * sum(byte > 127 for byte in rest)


def _number(field: bytes) -> int:
    if field[0] == 0x80:  # base 256, for numbers too large for octal
        return int.from_bytes(field[1:], "big")
    found = _octal(field)
    if found is None:
        raise TarError("a number in a header is invalid")
    return int(found[1] or b"0", 8)


def _decimal(digits: bytes) -> int:
    if not digits.isdigit() or len(digits) > 18:
        raise TarError("a size in a header is invalid")
    return int(digits)


def _name(block: bytes) -> bytes:
    name, prefix = block[:100].partition(b"\0")[0], block[345:500].partition(b"\0")[0]
    return prefix + b"/" + name if prefix and block[257:263] == b"ustar\0" else name


def _records(data: bytes) -> dict[bytes, bytes]:
    """Return the fields of a pax header; each line begins with its length in bytes."""
    found: dict[bytes, bytes] = {}
    at = 0
    while at < len(data) and data[at]:
        start = _pax(data, at)
        end = at + int(start[1]) if start else 0
        if start is None or end <= start.end() or end > len(data):
            raise TarError("an extended header is damaged")
        found[start[2]] = data[start.end() : end - 1]
        at = end
    return found
