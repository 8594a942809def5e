"""A CDXJ index beside each WARC file: which URL is where in it."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from honeyguide.contracts import Response
from honeyguide.disk.files import open_inside, replacing

_ONLY_DIGITS = str.maketrans("", "", "-:TZ")
_unprintable = re.compile(r"[\x00-\x20\x7f]").sub
_www = re.compile(r"^www\d*\.").sub
is_number = re.compile(r"[0-9]{1,18}").fullmatch
_is_address = re.compile(r"[\d.]+|\[.*\]").fullmatch


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
