"""What WARC files hold: responses one after another, or one at its place."""

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from honeyguide.errors import HoneyguideError
from honeyguide.warc.index import index_path, read_index

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of old names that nobody asked for
    from fastwarc.warc import ArchiveIterator, WarcRecordType

MAX_BODY = 20_000_000  # bytes read of a record
_chunk = re.compile(rb"\s*([0-9a-fA-F]{1,8})[^\n]{0,200}\n").match
_HTTP = WarcRecordType.response | WarcRecordType.metadata


@dataclass(frozen=True, slots=True)
class Archived:
    """A response as a WARC file has it."""

    url: str
    offset: int  # bytes from the start of the file
    status: int
    headers: dict[str, str]  # names in small letters
    body: bytes  # without chunks, but with any content encoding
    cut: bool = False  # the archive or we did not take all of it


def responses(file: BinaryIO, name: str, limit: int = MAX_BODY) -> Iterator[Archived]:
    """Every HTTP response of a WARC file."""
    for record in records(file, name, WarcRecordType.response):
        found = _archived(record, limit)
        if found is not None:
            yield found


def records(file: BinaryIO, name: str, types: WarcRecordType) -> Iterator[Any]:
    """The records of these types."""
    try:
        yield from ArchiveIterator(file, types, parse_http=False)
    except OSError as error:
        if isinstance(error.__cause__, HoneyguideError):  # what the file itself had to say
            raise error.__cause__ from None
        raise HoneyguideError(f"{name} is not a WARC file, or damaged: {error}") from None


def read_at(path: Path, offset: int, limit: int = MAX_BODY) -> Archived | None:
    """The response at a place; None when there is none."""
    with path.open("rb") as file:
        file.seek(offset)
        for record in records(file, path.name, WarcRecordType.response):
            return _archived(record, limit)
    return None


def locations(path: Path) -> Iterator[tuple[str, int]]:
    """Each URL of a WARC file and where its response begins, from its index if it has one."""
    index = index_path(path)
    if not index.exists():
        yield from _scan(path)
        return
    for entry in read_index(index, path):
        yield entry.url, int(entry.offset)
        if entry.requested:
            yield entry.requested, int(entry.offset)


def _scan(path: Path) -> Iterator[tuple[str, int]]:
    with path.open("rb") as file:
        id, offset = "", 0
        for record in records(file, path.name, _HTTP):
            if record.record_type == WarcRecordType.response:
                id, offset = record.record_id, record.stream_pos
                if url := _url(record):
                    yield url, offset
            elif record.headers.get("WARC-Concurrent-To") == id:
                requested = _requested(record.reader.read(65_536).splitlines())
                if requested:
                    yield requested, offset


def _requested(lines: Iterable[bytes]) -> str:
    prefix = b"requested-url: "
    found = [line.removeprefix(prefix) for line in lines if line.startswith(prefix)]
    return found[0].decode("utf-8", "replace") if found else ""


def _url(record: Any) -> str:
    # WARC 1.0 shows them in angle brackets in its examples, and some writers do that
    return (record.headers.get("WARC-Target-URI") or "").removeprefix("<").removesuffix(">")


def _archived(record: Any, limit: int) -> Archived | None:
    url = _url(record)
    try:
        record.parse_http()
        body = record.reader.read(limit + 1)
    except (OSError, ValueError):
        return None
    http = record.http_headers
    if not url or http is None or not http.status_code:
        return None
    headers: dict[str, str] = {}
    for name, value in http.items():
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = _without_chunks(body)
    cut = len(body) > limit or bool(record.headers.get("WARC-Truncated"))
    return Archived(url, record.stream_pos, http.status_code, headers, body[:limit], cut)


def _without_chunks(body: bytes) -> bytes:
    """The body itself; many archives keep the header but not the chunks."""
    pieces: list[bytes] = []
    at = 0
    while found := _chunk(body, at):
        size = int(found[1], 16)
        if not size:
            return b"".join(pieces)
        pieces.append(body[found.end() : found.end() + size])
        at = found.end() + size
    return b"".join(pieces) if pieces else body
