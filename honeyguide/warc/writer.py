"""What servers answered, appended to WARC 1.1 files, with an index beside each."""

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
MAX_BYTES = 1_000_000_000  # of a file, before the next one begins
LEVEL = 1  # of compression: an eighth of the time of zlib's usual one for a tenth more bytes

# why a body is not whole, in the words of the standard (WARC 1.1, 5.13)
_TRUNCATED = {
    "too large": "length",
    "timeout": "time",
    "connection reset": "disconnect",
    "truncated": "disconnect",
}
# A body is kept as it was decoded, so these no longer describe it: they get another name, the
# one that Common Crawl gives them.
_RENAMED = {
    "content-encoding": "x-crawler-content-encoding",
    "transfer-encoding": "x-crawler-transfer-encoding",
    "content-length": "x-crawler-content-length",
}
_MAX_HEADERS = 16_384  # characters of a response; readers take no more than 32 KiB of lines
_SMALL = 4096  # bytes; to set up a compressor for more takes ten times as long
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"  # of base 32
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]

_control = re.compile(r"[\x00-\x1f\x7f]+").sub


class Place(NamedTuple):
    """Where the records of one visit are."""

    file: str
    offset: int
    length: int


class Entry(msgspec.Struct, omit_defaults=True):
    """What an index says about a response."""

    url: str
    status: str = ""
    mime: str = ""
    digest: str = ""
    length: str = "0"  # bytes, compressed
    offset: str = "0"
    filename: str = ""
    requested: str = ""  # the URL that redirected here


def index_path(warc: Path) -> Path:
    """Where the index of a WARC file is."""
    return warc.with_name(warc.name.removesuffix(".gz").removesuffix(".warc") + ".cdxj")


def index_line(response: Response, date: str, digest: str, length: int, place: Place) -> str:
    """The line of a response: the sort key of its URL, the time, and where the record is."""
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
    """The line of an index that says this about a response of this time."""
    return f"{surt(entry.url)} {date.translate(_ONLY_DIGITS)} {_encoder.encode(entry).decode()}\n"


def read_index(index: Path, warc: Path) -> Iterator[Entry]:
    """What an index says about one WARC file."""
    with index.open("rb") as lines:
        for line in lines:
            try:
                entry = _decoder.decode(line.split(b" ", 2)[-1])
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue  # cut off, or a comment
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
    """Keep the lines of records that begin before a WARC file's end."""
    lines = index_lines(index)
    kept = [line for line in lines if line.endswith(b"\n") and 0 <= _offset(line) < size]
    if len(kept) < len(lines):
        write_index(index, kept)


def sort_index(index: Path) -> None:
    """Bring the lines into order, so that tools can search in it."""
    lines = index_lines(index)
    ordered = sorted(lines)
    if ordered != lines:
        write_index(index, ordered)


def write_index(index: Path, lines: Iterable[bytes]) -> None:
    """Put these lines in the place of an index."""
    with replacing(index) as file:
        file.writelines(lines)


def index_lines(index: Path) -> list[bytes]:
    """The lines of an index; none when there is no such file."""
    try:
        with open_inside(index.parent, index.name) as file:
            return file.read().splitlines(keepends=True)
    except FileNotFoundError:
        return []


def _offset(line: bytes) -> int:
    """Where a line's record begins; -1 when the line is damaged."""
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
        self.size = 0  # of the file being written
        self._request_headers = dict(request_headers or {})
        self._number = 0
        self._file: FileIO | None = None
        self._index: list[str] = []  # lines not written yet
        self._index_file: FileIO | None = None

    @property
    def file(self) -> str:
        """The name of the file being written; empty before the first."""
        return f"{self.name}-{self._number:05}.warc.gz" if self._number else ""

    def resume(self, file: str, size: int) -> None:
        """Go on after what is known to be whole, and cut off the rest."""
        inside(self.folder.parent, self.folder.name)
        self._number = self._number_in(file) if file else 0
        for path in self.folder.glob(f"{self.name}-*.warc.gz"):
            if _number(path.name) > self._number:
                path.unlink()
                index_path(path).unlink(missing_ok=True)
        if not file:
            return
        path = inside(self.folder, file)
        self.size = size  # also of a file that is left alone: what is said of it stays true
        if not path.exists() or path.stat().st_size < size:
            return  # somebody took a part of it away: the next file begins
        cut_index(index_path(path), size)
        self._file = open_inside(self.folder, file, "r+b")
        self._file.truncate(size)
        self._file.seek(size)
        self._index_file = self._open_index()

    def write(self, response: Response, fields: Mapping[str, str], when: float) -> Place:
        """Append what was asked for at that time; `fields` say what else is known about it."""
        file, url, date, id = self._room(when), response.url, _date(when), _record_id()
        headers = {"WARC-Payload-Digest": digest_of(response.body)}
        if response.failure:
            headers["WARC-Truncated"] = _TRUNCATED.get(response.failure, "unspecified")
        answer = _answer(response)
        headers["WARC-Block-Digest"] = digest_of(answer)
        whole = _record("response", id, url, date, answer, headers)
        beside = {"WARC-Concurrent-To": id}
        asked = _request(url, self._request_headers)
        known = _fields(fields)
        more = _record("request", _record_id(), url, date, asked, beside)
        more += _record("metadata", _record_id(), url, date, known, beside)
        place = Place(self.file, self.size, len(whole) + len(more))
        write_all(file, whole + more)
        self.size += place.length
        digest = headers["WARC-Payload-Digest"]
        self._index.append(index_line(response, date, digest, len(whole), place))
        return place

    def sync(self) -> None:
        """Return once all that was written is on the disk."""
        if self._file is None or not self._index:
            return
        os.fsync(self._file.fileno())
        assert self._index_file is not None  # noqa: S101 for the type checker
        write_all(self._index_file, "".join(self._index).encode())
        os.fsync(self._index_file.fileno())
        self._index.clear()

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            self.sync()
            self.abandon()
            sort_index(index_path(self.folder / self.file))

    def abandon(self) -> None:
        """Let go of the file as it is."""
        for file in (self._file, self._index_file):
            if file is not None:
                file.close()
        self._file = self._index_file = None

    def _open_index(self) -> FileIO:
        """Kept open, so that what was fetched can be kept when no more files can be opened."""
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
        sync_folder(self.folder)  # now, as later no more files may be opened
        begin = warcinfo(self.file, self._request_headers, when)
        write_all(self._file, begin)
        self.size = len(begin)
        return self._file

    def _number_in(self, file: str) -> int:
        """The number of a file that this writer named."""
        number = _number(str(file))
        if file != f"{self.name}-{number:05}.warc.gz":
            raise HoneyguideError(f"{self.folder} has no file {file!r}: its name was changed")
        return number


def _number(file: str) -> int:
    digits = file.removesuffix(".warc.gz").rpartition("-")[2]
    return int(digits) if digits.isdigit() else 0


def warcinfo(file: str, request_headers: Mapping[str, str], when: float) -> bytes:
    """The first record of a file: who wrote it and how."""
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
    """One record, compressed on its own so that it can be read on its own."""
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
    """The HTTP message as far as it is known."""
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
    """On one line, whatever a server put into it."""
    return value if value.isprintable() else _control(" ", value)


def _reason(status: int) -> str:
    return HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Unknown"


def _record_id() -> str:
    digits = os.urandom(16).hex()  # a UUID of version 4; the library's takes five times as long
    parts = (digits[:8], digits[8:12], "4" + digits[13:16], "a" + digits[17:20], digits[20:])
    return f"<urn:uuid:{'-'.join(parts)}>"


def _date(when: float) -> str:
    return f"{datetime.fromtimestamp(int(when), UTC).replace(tzinfo=None).isoformat()}Z"


def digest_of(data: bytes) -> str:
    """The digest of a body or a message, as WARC files name it."""
    digest = hashlib.sha1(data, usedforsecurity=False).digest()
    number = int.from_bytes(digest, "big")
    return "sha1:" + "".join([_PAIRS[number >> shift & 1023] for shift in range(150, -1, -10)])
