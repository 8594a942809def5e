"""Read WARC files: all records in order, or one response at an offset."""

import re
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from honeyguide.errors import HoneyguideError
from honeyguide.warc.writer import index_path, is_number, read_index

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # the library imports old names itself
    from fastwarc.warc import ArchiveIterator, WarcRecordType

RESPONSE, METADATA = WarcRecordType.response, WarcRecordType.metadata
CONVERSION = WarcRecordType.conversion  # of WET files: the text of a page
MAX_BODY = 20_000_000  # bytes that are read of a record
_chunk = re.compile(rb"\s*([0-9a-fA-F]{1,8})[^\n]{0,200}\n").match
_requested = re.compile(rb"^requested-url: ([^\r\n]*)", re.MULTILINE).search


@dataclass(frozen=True, slots=True)
class Archived:
    """An HTTP response in a WARC file."""

    url: str
    status: int
    headers: dict[str, str]  # names in lower case
    body: bytes  # transfer chunks removed, content encoding not
    cut: bool  # the body is incomplete: truncated in the archive, or longer than the limit


def records(path: Path) -> Iterator[Any]:
    """Yield every record of a WARC file; a HoneyguideError if it is damaged or cut off."""
    record = None
    if any("\ud800" <= sign <= "\udfff" for sign in str(path)):  # the library would crash
        raise HoneyguideError(f"cannot read {path}: rename it, its name is not UTF-8")
    try:
        # by name, not as an open file: the library then lets other threads run, and cannot panic
        for record in ArchiveIterator(str(path), parse_http=False):
            yield record
    except OSError as error:
        raise HoneyguideError(f"{path} is not a WARC file, or damaged: {error}") from None
    if record is None or not _is_complete(path, record):
        raise HoneyguideError(f"{path} is {'cut off' if record else 'not a WARC file'}")


def read_at(path: Path, offset: int, limit: int = MAX_BODY) -> Archived | None:
    """The response at a byte offset of a WARC file; None if there is none."""
    with path.open("rb") as file:
        file.seek(offset)
        for record in ArchiveIterator(file, parse_http=False):
            return archived(record, limit)
    return None


def locations(path: Path) -> Iterator[tuple[str, int]]:
    """Each URL of a WARC file and the offset of its response, from the index if there is one."""
    index = index_path(path)
    if not index.exists():
        yield from _scan(path)
        return
    for entry in read_index(index, path):
        yield entry.url, int(entry.offset)
        if entry.requested:
            yield entry.requested, int(entry.offset)


def _scan(path: Path) -> Iterator[tuple[str, int]]:
    id, offset = "", 0
    for record in records(path):
        if record.record_type == RESPONSE:
            id, offset = record.record_id, record.stream_pos
            yield target(record), offset
        elif record.headers.get("WARC-Concurrent-To") == id:
            found = _requested(record.reader.read(65_536))
            if record.record_type == METADATA and found:
                yield found[1].decode("utf-8", "replace"), offset


def target(record: Any) -> str:
    """The URL of a record."""
    # some writers put it into angle brackets, as the examples of WARC 1.0 do
    return (record.headers.get("WARC-Target-URI") or "").removeprefix("<").removesuffix(">")


def archived(record: Any, limit: int = MAX_BODY) -> Archived | None:
    """The HTTP response of a record, at most `limit` bytes of body; None if it has none."""
    try:
        record.parse_http()
        body = record.reader.read(limit + 1)
    except (OSError, ValueError):
        return None
    http = record.http_headers
    if record.record_type != RESPONSE or not (http and http.status_code):
        return None
    headers: dict[str, str] = {}
    for name, value in http.items():
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    cut = len(body) > limit or bool(record.headers.get("WARC-Truncated"))
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = _without_chunks(body)
    return Archived(target(record), http.status_code, headers, body[:limit], cut)


def _without_chunks(body: bytes) -> bytes:
    """Remove transfer chunks; many archives have the header but no chunks: then return `body`."""
    pieces: list[bytes] = []
    at = 0
    while found := _chunk(body, at):
        size = int(found[1], 16)
        if not size:
            return b"".join(pieces)
        pieces.append(body[found.end() : found.end() + size])
        at = found.end() + size
    return b"".join(pieces) if at >= len(body) else body


def _is_complete(path: Path, last: Any) -> bool:
    """Whether a file ends with the end of its last record."""
    with path.open("rb") as file:
        file.seek(last.stream_pos)
        data = file.read(1 << 16)
        if data.startswith(b"\x1f\x8b"):
            engine = zlib.decompressobj(wbits=31)
            while data and not engine.eof:
                engine.decompress(data, 1 << 20)
                data = engine.unconsumed_tail or (b"" if engine.eof else file.read(1 << 16))
            return engine.eof and not (engine.unused_data + file.read(1)).strip(b"\r\n\0")
        head = data.find(b"\r\n\r\n") + 4
        length = last.headers.get("Content-Length") or "0"
        if not is_number(length):
            return False
        end = last.stream_pos + head + int(length)
        file.seek(end)
        return end <= path.stat().st_size and not file.read(1 << 16).strip(b"\r\n\0")
