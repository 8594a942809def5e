"""Write responses to WARC 1.1 files, each with a CDXJ index."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from io import FileIO
from pathlib import Path
from typing import NamedTuple

import msgspec
from isal import isal_zlib

from honeyguide.contracts import Response
from honeyguide.disk.files import (
    inside,
    make_folder,
    open_inside,
    replacing,
    sync_folder,
    write_all,
)
from honeyguide.errors import HoneyguideError
from honeyguide.version import VERSION

_ONLY_DIGITS = str.maketrans("", "", "-:TZ")
_unprintable = re.compile(r"[\x00-\x20\x7f]").sub
_www = re.compile(r"^www\d*\.").sub
is_number = re.compile(r"[0-9]{1,18}").fullmatch
_is_address = re.compile(r"[\d.]+|\[.*\]").fullmatch
MAX_BYTES = 1_000_000_000  # of a file before the next one is started
LEVEL = 1  # of compression: an eighth of zlib's default time, for a tenth more bytes

# failure -> WARC-Truncated (WARC 1.1, 5.13)
_TRUNCATED = {
    "too large": "length",
    "timeout": "time",
    "connection reset": "disconnect",
    "truncated": "disconnect",
}
# Bodies are stored decoded, so these headers no longer describe them and are renamed as in
# Common Crawl's files.
_RENAMED = {
    "content-encoding": "x-crawler-content-encoding",
    "transfer-encoding": "x-crawler-transfer-encoding",
    "content-length": "x-crawler-content-length",
}
_MAX_HEADERS = 16_384  # characters of a response's headers; readers accept 32 KiB of lines
_SMALL = 4096  # bytes; a compressor for more takes ten times as long to set up
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"  # of base 32
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]

_control = re.compile(r"[\x00-\x1f\x7f]+").sub


class Place(NamedTuple):
    """Where the records of one visit are: file, and bytes from its start."""

    file: str
    offset: int
    length: int


class Entry(msgspec.Struct, omit_defaults=True):
    """The JSON of an index line: one response."""

    url: str
    status: str = ""
    mime: str = ""
    digest: str = ""
    length: str = "0"  # bytes, compressed
    offset: str = "0"
    filename: str = ""
    requested: str = ""  # the URL that redirected here


def index_path(warc: Path) -> Path:
    """The path of a WARC file's index."""
    return warc.with_name(warc.name.removesuffix(".gz").removesuffix(".warc") + ".cdxj")


def index_line(response: Response, date: str, digest: str, length: int, place: Place) -> str:
    """The CDXJ line of a response: the sort key of its URL, the time, and its place in the file."""
    mime = response.headers.get("content-type", "").partition(";")[0].strip()
    asked = _encodable(response.link.url)
    url = _encodable(response.url)
    about = Entry(
        url=url,
        status=str(response.status),
        mime=_encodable(mime) or "unk",
        digest=digest,
        length=str(length),
        offset=str(place.offset),
        filename=place.file,
        requested="" if asked == url else asked,
    )
    return entry_line(about, date)


def entry_line(entry: Entry, date: str) -> str:
    """The CDXJ line of an entry; `date` is an ISO time."""
    return f"{surt(entry.url)} {date.translate(_ONLY_DIGITS)} {_encoder.encode(entry).decode()}\n"


def read_index(index: Path, warc: Path) -> Iterator[Entry]:
    """The entries of an index that are of one WARC file; damaged lines are skipped."""
    with index.open("rb") as lines:
        for line in lines:
            try:
                entry = _decoder.decode(line.split(b" ", 2)[-1])
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue  # a line that is cut off, or a comment
            if entry.filename == warc.name and is_number(entry.offset):
                yield entry


def surt(url: str) -> str:
    """The sort key of a URL, its host name reversed: "org,example)/path?a&b"."""
    url = _unprintable("%20", url).lower() if not url.isprintable() or " " in url else url.lower()
    scheme, _, rest = url.partition("://")
    authority, _, path = rest.partition("/")
    authority = authority.rpartition("@")[2]
    host, colon, port = authority.partition(":") if "[" not in authority else (authority, "", "")
    if not _is_address(host):
        host = ",".join(reversed(_www("", host).split(".")))
    if colon and port not in ("", {"http": "80", "https": "443"}.get(scheme)):
        host += ":" + port
    place, question, query = path.partition("?")
    ordered = "&".join(sorted(query.split("&")))
    return f"{host})/{place}{question}{ordered}"


def cut_index(index: Path, size: int) -> None:
    """Remove the lines of records that start at byte `size` or later, and damaged lines."""
    lines = index_lines(index)
    kept = [line for line in lines if line.endswith(b"\n") and 0 <= _offset(line) < size]
    if len(kept) < len(lines):
        write_index(index, kept)


def sort_index(index: Path) -> None:
    """Sort the lines of an index, so that tools can search it."""
    lines = index_lines(index)
    ordered = sorted(lines)
    if ordered != lines:
        write_index(index, ordered)


def write_index(index: Path, lines: Iterable[bytes]) -> None:
    """Replace an index by these lines."""
    with replacing(index) as file:
        file.writelines(lines)


def index_lines(index: Path) -> list[bytes]:
    """The lines of an index; none if the file does not exist."""
    try:
        with open_inside(index.parent, index.name) as file:
            return file.read().splitlines(keepends=True)
    except FileNotFoundError:
        return []


def _offset(line: bytes) -> int:
    """The offset of a line's record; -1 if the line is damaged."""
    try:
        offset = _decoder.decode(line.split(b" ", 2)[-1]).offset
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return -1
    return int(offset) if is_number(offset) else -1


def _encodable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Entry)


class WarcWriter:
    """Appends to numbered files in a folder: response, request and metadata for each visit."""

    def __init__(
        self,
        folder: Path,
        request_headers: Mapping[str, str] | None = None,  # sent with every request
        max_bytes: int = MAX_BYTES,
        name: str = "pages",
    ) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self.name = name
        self.size = 0  # bytes of the file being written
        self._request_headers = dict(request_headers or {})
        self._number = 0
        self._file: FileIO | None = None
        self._index: list[str] = []  # lines not written yet
        self._index_file: FileIO | None = None

    @property
    def file(self) -> str:
        """The name of the file being written; empty before the first one."""
        return f"{self.name}-{self._number:05}.warc.gz" if self._number else ""

    def resume(self, file: str, size: int) -> None:
        """Continue after the first `size` bytes of a file; remove all that was written later."""
        inside(self.folder.parent, self.folder.name)
        self._number = self._number_in(file) if file else 0
        for path in self.folder.glob(f"{self.name}-*.warc.gz"):
            if _number(path.name) > self._number:
                path.unlink()
                index_path(path).unlink(missing_ok=True)
        if not file:
            return
        path = inside(self.folder, file)
        self.size = size  # set even if the file is left alone, so that `about` stays unchanged
        if not path.exists() or path.stat().st_size < size:
            return  # a part of it is missing: start the next file
        cut_index(index_path(path), size)
        self._file = open_inside(self.folder, file, "r+b")
        self._file.truncate(size)
        self._file.seek(size)
        self._index_file = self._open_index()

    def write(self, response: Response, fields: Mapping[str, str], when: float) -> Place:
        """Append a response that was requested at `when` (seconds since 1970), with metadata."""
        file, url, date, id = self._room(when), response.url, _date(when), _record_id()
        headers = {"WARC-Payload-Digest": digest_of(response.body)}
        if response.failure:
            headers["WARC-Truncated"] = _TRUNCATED.get(response.failure, "unspecified")
        answer = _answer(response)
        headers["WARC-Block-Digest"] = digest_of(answer)
        record = _record("response", id, url, date, answer, headers)
        beside = {"WARC-Concurrent-To": id}
        asked = _request(url, self._request_headers)
        known = _fields(fields)
        more = _record("request", _record_id(), url, date, asked, beside)
        more += _record("metadata", _record_id(), url, date, known, beside)
        place = Place(self.file, self.size, len(record) + len(more))
        write_all(file, record + more)
        self.size += place.length
        digest = headers["WARC-Payload-Digest"]
        self._index.append(index_line(response, date, digest, len(record), place))
        return place

    def sync(self) -> None:
        """Sync the file and its index: return when all records are on the disk."""
        if self._file is None or not self._index:
            return
        os.fsync(self._file.fileno())
        assert self._index_file is not None  # noqa: S101 for the type checker
        write_all(self._index_file, "".join(self._index).encode())
        os.fsync(self._index_file.fileno())
        self._index.clear()

    def close(self) -> None:
        """Sync and close the file, and sort its index."""
        if self._file is not None:
            self.sync()
            self.abandon()
            sort_index(index_path(self.folder / self.file))

    def abandon(self) -> None:
        """Close the file without syncing it."""
        for file in (self._file, self._index_file):
            if file is not None:
                file.close()
        self._file = self._index_file = None

    def _open_index(self) -> FileIO:
        """Open the index; it stays open, because later no file descriptor may be left."""
        return open_inside(self.folder, index_path(Path(self.file)).name, "ab")

    def _room(self, when: float) -> FileIO:
        if self._file is not None and self.size < self.max_bytes:
            return self._file
        self.close()
        self._number += 1
        make_folder(self.folder)
        inside(self.folder.parent, self.folder.name)
        self._file = open_inside(self.folder, self.file, "xb")
        self._index_file = self._open_index()
        sync_folder(self.folder)  # now, because later no file descriptor may be left
        begin = warcinfo(self.file, self._request_headers, when)
        write_all(self._file, begin)
        self.size = len(begin)
        return self._file

    def _number_in(self, file: str) -> int:
        """The number in the name of a file that this writer made."""
        number = _number(str(file))
        if file != f"{self.name}-{number:05}.warc.gz":
            raise HoneyguideError(f"{self.folder} has no file {file!r}: its name was changed")
        return number


def _number(file: str) -> int:
    digits = file.removesuffix(".warc.gz").rpartition("-")[2]
    return int(digits) if digits.isdigit() else 0


def warcinfo(file: str, request_headers: Mapping[str, str], when: float) -> bytes:
    """The first record of a file: the software and format that wrote it."""
    about = {
        "software": f"honeyguide/{VERSION}",
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
    }
    agent = {key.lower(): value for key, value in request_headers.items()}.get("user-agent")
    if agent:
        about["http-header-user-agent"] = agent
    extra = {"WARC-Filename": file}
    return _record("warcinfo", _record_id(), "", _date(when), _fields(about), extra)


# --------------------------------------------------------------------------- records


def _record(
    type: str, id: str, url: str, date: str, block: bytes, extra: Mapping[str, str]
) -> bytes:
    """One record, compressed alone, so that it can be read alone."""
    http = type in ("request", "response")
    headers = {
        "WARC-Type": type,
        "WARC-Record-ID": id,
        "WARC-Date": date,
        **({"WARC-Target-URI": url} if url else {}),
        **extra,
        "Content-Type": f"application/http; msgtype={type}" if http else "application/warc-fields",
        "Content-Length": str(len(block)),
    }
    return _gzip(b"".join((b"WARC/1.1\r\n", _fields(headers), b"\r\n", block, b"\r\n\r\n")))


def _gzip(data: bytes) -> bytes:
    window, memory = (11, 4) if len(data) < _SMALL else (15, 8)
    compressor = isal_zlib.compressobj(LEVEL, isal_zlib.DEFLATED, 16 + window, memory)
    return compressor.compress(data) + compressor.flush()


def _answer(response: Response) -> bytes:
    """The HTTP response message: status line, headers and decoded body."""
    lines = [f"HTTP/1.1 {response.status} {_reason(response.status)}\r\n".encode()]
    headers: dict[str, str] = {}
    room = _MAX_HEADERS
    for name, value in response.headers.items():
        room -= len(name) + len(value)
        if room > 0:
            headers[_RENAMED.get(name.lower(), name)] = value
    headers["Content-Length"] = str(len(response.body))
    return b"".join((*lines, _fields(headers), b"\r\n", response.body))


def _request(url: str, headers: Mapping[str, str]) -> bytes:
    authority, _, path = url.partition("://")[2].partition("/")
    line = f"GET /{_clean(path)} HTTP/1.1\r\n".encode("utf-8", "replace")
    return line + _fields({"Host": authority, **headers}) + b"\r\n"


def _fields(fields: Mapping[str, str]) -> bytes:
    lines = [f"{name}: {_clean(value)}\r\n" for name, value in fields.items()]
    return "".join(lines).encode("utf-8", "replace")


def _clean(value: str) -> str:
    """Replace control characters, line breaks included, by spaces."""
    return value if value.isprintable() else _control(" ", value)


def _reason(status: int) -> str:
    return HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Unknown"


def _record_id() -> str:
    digits = os.urandom(16).hex()  # a UUID of version 4, five times faster than uuid.uuid4()
    parts = (digits[:8], digits[8:12], "4" + digits[13:16], "a" + digits[17:20], digits[20:])
    return f"<urn:uuid:{'-'.join(parts)}>"


def _date(when: float) -> str:
    return f"{datetime.fromtimestamp(int(when), UTC).replace(tzinfo=None).isoformat()}Z"


def digest_of(data: bytes) -> str:
    """The SHA-1 digest of a body or a message as WARC files write it: "sha1:" and base 32."""
    digest = hashlib.sha1(data, usedforsecurity=False).digest()
    number = int.from_bytes(digest, "big")
    return "sha1:" + "".join([_PAIRS[number >> shift & 1023] for shift in range(150, -1, -10)])
