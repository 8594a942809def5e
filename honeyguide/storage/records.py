"""Whether WARC files of a crawl are what was written, record by record."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from honeyguide.disk.files import open_inside
from honeyguide.disk.serialise import DamagedError
from honeyguide.warc.writer import Entry, digest_of, entry_line

_MOST = 1 << 28  # bytes of a record
_READ = 1 << 16
_MAX_HEADERS = 16_000  # characters from which on a writer leaves headers out
_TYPES = ("response", "request", "metadata")  # of the records that a visit leaves
Fields = dict[str, str]  # by name in small letters


class Record(NamedTuple):
    """A record, as far as it can be trusted."""

    offset: int
    length: int  # compressed
    fields: Fields
    block: bytes

    @property
    def type(self) -> str:
        """What kind of record it is."""
        return self.fields.get("warc-type", "")


@dataclass(frozen=True, slots=True)
class Stored:
    """What one visit left: a response, and what was asked and is known about it."""

    offset: int
    length: int  # of all its records
    url: str
    requested: str  # where another URL led there
    date: str
    headers: Fields  # of the answer
    body: bytes
    status: int
    known: Fields  # what the crawl noted
    line: bytes  # that an index should have
    mime_is_sure: bool  # some headers may have been left out


def stored(folder: Path, name: str, start: int = 0, end: int | None = None) -> Iterator[Stored]:
    """What each visit left in a part of a file; DamagedError where that is not as written."""
    with open_inside(folder, name) as file:
        group: list[Record] = []
        for record in _records(file, start, end):
            if record.type == "warcinfo":
                continue
            group.append(record)
            if len(group) == len(_TYPES):  # before the next one is read, which may be damaged
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
    """The content of one gzip member, and how many bytes it takes."""
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
        raise DamagedError(f"the record at byte {offset} is no WARC record")
    block = rest[: int(size)]
    digest = fields.get("warc-block-digest")
    if rest[int(size) :] != b"\r\n\r\n" or (digest and digest != digest_of(block)):
        raise DamagedError(f"the record at byte {offset} has another length or digest than it says")
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
        raise DamagedError(f"the body at byte {response.offset} has another digest than it says")
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
