"""Read and verify the WARC records that a crawl has written, visit by visit."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from honeyguide.disk.files import open_inside
from honeyguide.disk.serialise import DamagedError
from honeyguide.warc.writer import Entry, digest_of, entry_line

_MOST = 1 << 28  # bytes of a record, at most
_READ = 1 << 16  # bytes that are read at a time
_MAX_HEADERS = 16_000  # characters beyond which the writer leaves headers out
_TYPES = ("response", "request", "metadata")  # the records of one visit, in order
Fields = dict[str, str]  # name in lower case -> value


class Record(NamedTuple):
    """One WARC record whose length and digest are right."""

    offset: int
    length: int  # compressed
    fields: Fields
    block: bytes

    @property
    def type(self) -> str:
        """The WARC-Type of the record."""
        return self.fields.get("warc-type", "")


@dataclass(frozen=True, slots=True)
class Stored:
    """The records of one visit: response, request and metadata."""

    offset: int
    length: int  # of all its records
    url: str
    requested: str  # the requested URL, if a redirect led to another one
    date: str
    headers: Fields  # of the response
    body: bytes
    status: int
    known: Fields  # the metadata record: relevance, score, failure ...
    line: bytes  # the line that the index should have
    mime_is_sure: bool  # false if the Content-Type may have been left out


def stored(folder: Path, name: str, start: int = 0, end: int | None = None) -> Iterator[Stored]:
    """Yield the visits in bytes `start` to `end` of a file; DamagedError where one is damaged."""
    with open_inside(folder, name) as file:
        group: list[Record] = []
        for record in _records(file, start, end):
            if record.type == "warcinfo":
                continue
            group.append(record)
            if len(group) == len(_TYPES):  # before the next record is read: it may be damaged
                yield _stored(group, name)
                group = []
        if group:
            yield _stored(group, name)


def _records(file: FileIO, start: int, end: int | None) -> Iterator[Record]:
    offset = start
    size = file.seek(0, 2) if end is None else end
    while offset < size:
        data, length = _member(file, offset, size)
        yield _record(data, offset, length)
        offset += length


def _member(file: FileIO, offset: int, end: int) -> tuple[bytes, int]:
    """Decompress the gzip member at `offset`; return its content and compressed length."""
    file.seek(offset)
    engine = zlib.decompressobj(wbits=31)
    parts: list[bytes] = []
    size = read = 0
    try:
        while not engine.eof:
            data = engine.unconsumed_tail or file.read(min(_READ, end - offset - read))
            read += 0 if engine.unconsumed_tail else len(data)
            if not data:
                raise DamagedError(f"the record at byte {offset} is cut off")
            parts.append(engine.decompress(data, _READ * 16))
            size += len(parts[-1])
            if size > _MOST:
                raise DamagedError(f"the record at byte {offset} is too large")
    except zlib.error:
        raise DamagedError(f"the record at byte {offset} cannot be decompressed") from None
    return b"".join(parts), read - len(engine.unused_data)


def _record(data: bytes, offset: int, length: int) -> Record:
    head, found, rest = data.partition(b"\r\n\r\n")
    first, _, lines = head.partition(b"\r\n")
    fields = _fields(lines)
    size = fields.get("content-length", "")
    if not (found and first == b"WARC/1.1" and size.isdigit()):
        raise DamagedError(f"there is no WARC record at byte {offset}")
    block = rest[: int(size)]
    digest = fields.get("warc-block-digest")
    if rest[int(size) :] != b"\r\n\r\n" or (digest and digest != digest_of(block)):
        raise DamagedError(f"the record at byte {offset} does not match its length or digest")
    return Record(offset, length, fields, block)


def _stored(group: list[Record], name: str) -> Stored:
    response = group[0]
    id = response.fields.get("warc-record-id")
    if tuple(record.type for record in group) != _TYPES or any(
        record.fields.get("warc-concurrent-to") != id for record in group[1:]
    ):
        raise DamagedError(f"the records at byte {response.offset} do not belong together")
    head, _, body = response.block.partition(b"\r\n\r\n")
    status, headers = _status(head), _fields(head.partition(b"\r\n")[2])
    if response.fields.get("warc-payload-digest") != digest_of(body):
        raise DamagedError(f"the body at byte {response.offset} does not match its digest")
    known = _fields(group[2].block)
    url, date = (response.fields.get(name, "") for name in ("warc-target-uri", "warc-date"))
    entry = Entry(
        url=url,
        status=str(status),
        mime=headers.get("content-type", "").partition(";")[0].strip() or "unk",
        digest=digest_of(body),
        length=str(response.length),
        offset=str(response.offset),
        filename=name,
        requested=known.get("requested-url", ""),
    )
    length = sum(record.length for record in group)
    line = entry_line(entry, date).encode()
    is_sure = "content-type" in headers or len(head) < _MAX_HEADERS
    return Stored(
        response.offset, length, url, entry.requested, date, headers, body, status, known, line,
        is_sure,
    )  # fmt: skip


def _status(head: bytes) -> int:
    parts = head.partition(b"\r\n")[0].split(b" ", 2)
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else 0


def _fields(lines: bytes) -> Fields:
    pairs = (line.partition(":") for line in lines.decode("utf-8", "replace").split("\r\n"))
    return {name.lower(): value.strip() for name, colon, value in pairs if colon}
