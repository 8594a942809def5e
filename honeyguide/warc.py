"""What servers answered, in WARC 1.1 files that other tools can read, with a CDXJ index beside."""

import hashlib
import json
import os
import re
import zlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, NamedTuple

from honeyguide import __version__
from honeyguide.contracts import Response

MAX_BYTES = 1_000_000_000  # of a file, before the next one begins
LEVEL = 1  # of compression: half the time of level 6 for a tenth more bytes

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
_SMALL = 4096  # bytes; to set up a compressor for more takes ten times as long
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"  # of base 32
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]

_ONLY_DIGITS = str.maketrans("", "", "-:TZ")
_control = re.compile(r"[\x00-\x1f\x7f]+").sub
_is_address = re.compile(r"[\d.]+|\[.*\]").fullmatch


class Place(NamedTuple):
    """Where the records of one visit are."""

    file: str
    offset: int
    length: int


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
        self._file: BinaryIO | None = None
        self._index: list[str] = []  # lines not written yet

    @property
    def file(self) -> str:
        """The name of the file being written; empty before the first."""
        return f"{self.name}-{self._number:05}.warc.gz" if self._number else ""

    def resume(self, file: str, size: int) -> None:
        """Go on after what is known to be whole, and cut off the rest."""
        self._number = int(file.removesuffix(".warc.gz").rpartition("-")[2]) if file else 0
        self._remove_later_files()
        path = self.folder / file
        if not file or not path.exists() or path.stat().st_size < size:
            return  # somebody took it away: the next file begins
        self.size = size
        _cut_index(_index_of(path), size)
        self._file = path.open("r+b")
        self._file.truncate(size)
        self._file.seek(size)

    def write(self, response: Response, fields: Mapping[str, str], when: float) -> Place:
        """Append what a visit brought; `fields` say what else is known about it."""
        file, url, date, id = self._room(when), response.url, _date(when), _record_id()
        headers = {"WARC-Payload-Digest": _digest(response.body)}
        if response.failure:
            headers["WARC-Truncated"] = _TRUNCATED.get(response.failure, "unspecified")
        answer = _answer(response)
        headers["WARC-Block-Digest"] = _digest(answer)
        length = file.write(_record("response", id, url, date, answer, headers))
        beside = {"WARC-Concurrent-To": id}
        asked = _request(url, self._request_headers)
        more = _record("request", _record_id(), url, date, asked, beside)
        more += _record("metadata", _record_id(), url, date, _fields(fields), beside)
        place = Place(self.file, self.size, length + file.write(more))
        self._index.append(_index_line(response, date, headers, length, place))
        self.size += place.length
        return place

    def sync(self) -> None:
        """Return once all that was written is on the disk."""
        if self._file is None:
            return
        self._file.flush()
        os.fdatasync(self._file.fileno())
        with _index_of(self.folder / self.file).open("a", encoding="utf-8") as index:
            index.writelines(self._index)
        self._index.clear()

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            self.sync()
            self._file.close()
            self._file = None
            _sort_index(_index_of(self.folder / self.file))

    def abandon(self) -> None:
        """Let go of the file as it is."""
        if self._file is not None:
            with open(os.devnull, "wb") as nowhere:  # what is buffered must not be tried again
                os.dup2(nowhere.fileno(), self._file.fileno())
            self._file.close()
            self._file = None

    def _room(self, when: float) -> BinaryIO:
        if self._file is not None and self.size < self.max_bytes:
            return self._file
        self.close()
        self._number += 1
        self.folder.mkdir(parents=True, exist_ok=True)
        self._file = (self.folder / self.file).open("xb")
        self.size = self._file.write(warcinfo(self.file, self._request_headers, when))
        return self._file

    def _remove_later_files(self) -> None:
        """Files begun after the last moment known to be whole."""
        for path in self.folder.glob(f"{self.name}-*.warc.gz"):
            number = path.name.removesuffix(".warc.gz").rpartition("-")[2]
            if number.isdigit() and int(number) > self._number:
                path.unlink()
                _index_of(path).unlink(missing_ok=True)


def warcinfo(file: str, request_headers: Mapping[str, str], when: float) -> bytes:
    """The first record of a file: who wrote it and how."""
    about = {
        "software": f"honeyguide/{__version__}",
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
    compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, 16 + window, memory)
    return compressor.compress(data) + compressor.flush()


def _answer(response: Response) -> bytes:
    """The HTTP message as far as it is known."""
    lines = [f"HTTP/1.1 {response.status} {_reason(response.status)}\r\n".encode()]
    headers = {_RENAMED.get(name.lower(), name): value for name, value in response.headers.items()}
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


def _digest(data: bytes) -> str:
    digest = hashlib.sha1(data, usedforsecurity=False).digest()
    number = int.from_bytes(digest, "big")
    return "sha1:" + "".join([_PAIRS[number >> shift & 1023] for shift in range(150, -1, -10)])


# --------------------------------------------------------------------------- index


def _index_line(
    response: Response, date: str, headers: Mapping[str, str], length: int, place: Place
) -> str:
    """One line of CDXJ: the sort key of the URL, the time, and where the record is."""
    mime = response.headers.get("content-type", "").partition(";")[0].strip()
    about = {
        "url": _clean(response.url),
        "mime": mime or "unk",
        "status": str(response.status),
        "digest": headers["WARC-Payload-Digest"],
        "length": str(length),
        "offset": str(place.offset),
        "filename": place.file,
    }
    return f"{surt(response.url)} {date.translate(_ONLY_DIGITS)} {json.dumps(about)}\n"


def surt(url: str) -> str:
    """The sort key of a URL, host names reversed: "org,example)/path?a&b"."""
    url = _clean(url).replace(" ", "%20").lower()
    scheme, _, rest = url.partition("://")
    authority, _, path = rest.partition("/")
    authority = authority.rpartition("@")[2]
    host, colon, port = authority.partition(":") if "[" not in authority else (authority, "", "")
    if not _is_address(host):
        host = ",".join(reversed(re.sub(r"^www\d*\.", "", host).split(".")))
    if colon and port not in ("", {"http": "80", "https": "443"}.get(scheme)):
        host += ":" + port
    place, question, query = path.partition("?")
    ordered = "&".join(sorted(query.split("&")))
    return f"{host})/{place}{question}{ordered}".encode("ascii", "backslashreplace").decode()


def _index_of(warc: Path) -> Path:
    return warc.with_name(warc.name.removesuffix(".warc.gz") + ".cdxj")


def _cut_index(index: Path, size: int) -> None:
    """Keep the lines of records that are whole."""
    if index.exists():
        lines = index.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        _replace(index, (line for line in lines if line[-1:] == "\n" and _offset(line) < size))


def _sort_index(index: Path) -> None:
    _replace(index, sorted(index.read_text(encoding="utf-8").splitlines(keepends=True)))


def _replace(path: Path, lines: Iterable[str]) -> None:
    aside = path.with_suffix(".part")
    with aside.open("w", encoding="utf-8") as file:
        file.writelines(lines)
    aside.replace(path)


def _offset(line: str) -> int:
    return int(json.loads(line.split(" ", 2)[2])["offset"])
