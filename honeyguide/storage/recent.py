"""Files of the latest events, written before the database commits them: a kill loses no event.

Two files take turns. A file is emptied once the database has all of its events. Nothing is synced:
after a power cut the crawl continues from the last event that can be read. Each record starts with
a mark and a checksum of its head, so that intact records are found after a damaged one.
"""

import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from honeyguide.contracts import OfHost, Response, Verdict, Visit
from honeyguide.disk.files import inside, open_inside, replacing, write_all
from honeyguide.disk.serialise import (
    DamagedError,
    pack_row,
    text_from_bytes,
    text_to_bytes,
    unpack_row,
    unpack_visit,
)
from honeyguide.errors import HoneyguideError
from honeyguide.storage.database import FILE

NAMES = ("recent-0.events", "recent-1.events")
_FULL = 1 << 20  # bytes of a file after which the other one is used
_MOST = 1 << 28  # bytes of a row; more is damage
_MOST_SEARCHED = 1 << 30  # bytes of a file that is searched for records after damage
_MOST_MARKS = 1_000_000  # marks without a record after which the search is given up
_CHUNK = 1 << 20  # bytes that are read at a time
_BEGIN = b"honeyguide events 1\n"  # the first bytes of a file; 1 is the format
_MARK = b"\xe7EV\n"  # the first bytes of a record
_HEAD = struct.Struct("<4sQII")  # mark, number of the event, bytes of its row, checksum of the row
_SUM = struct.Struct("<I")  # checksum of the head
_HEAD_BYTES = _HEAD.size + _SUM.size  # before the row of a record
_SHAPES = {
    "take": ([str], [str, bytes]),  # earlier versions did not say why
    "look": ([],),
    "bound": ([int],),
    "revise": ([bytes],),
    "order": ([str, bytes, dict],),
}  # kind -> types that `Recent.rest` may have
_MISFITS = (DamagedError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError)


class Recent(NamedTuple):
    """An event that the database does not have yet."""

    n: int
    kind: str  # as in the journal
    now: float
    rest: list[Any]  # what else its row holds, by kind


class Absorbed(NamedTuple):
    """A visit with everything that is stored of it."""

    visit: Visit
    packed: bytes  # the visit as the journal stores it
    counted: Verdict  # what it counted for, after the guard
    score: float  # of its link when it was chosen
    fetched: float  # seconds since 1970
    known: dict[str, int]  # rows for the table `about`


class RecentEvents:
    """Appends each event to a file at once; used by one process at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = [open_inside(folder, name, "ab") for name in NAMES]
        self._sizes = [file.seek(0, 2) for file in self._files]  # bytes
        self._last = [0, 0]  # by file: number of its last event
        self._here = 0  # the file in use
        self._safe = 0  # the last event that the database has
        self._error: OSError | None = None

    def add(self, n: int, kind: str, now: float, *rest: Any) -> None:
        """Write an event; after an error every call raises it, so that no event can be missing."""
        if self._error is not None:
            raise self._error
        data = _record(n, pack_row((kind, now, *rest)))
        try:
            self._take_turns()
            if not self._sizes[self._here]:
                data = _BEGIN + data
            write_all(self._files[self._here], data)
        except OSError as error:
            self._error = error
            raise
        self._sizes[self._here] += len(data)
        self._last[self._here] = n

    def committed(self, n: int) -> None:
        """Note that the database has all events up to n; called by the writing thread."""
        self._safe = n

    def remove(self) -> None:
        """Close and remove the files; the database must have all events."""
        self.close()
        remove(self._folder)

    def close(self) -> None:
        """Close the files without removing them."""
        for file in self._files:
            file.close()

    def _take_turns(self) -> None:
        other = 1 - self._here
        if self._sizes[self._here] < _FULL or self._last[other] > self._safe:
            return
        self._files[other].truncate(0)
        self._sizes[other] = 0
        self._here = other


def read(folder: Path, after: int) -> Iterator[Recent]:
    """The events after number `after` in order, up to the first gap or damage."""
    for name in sorted(NAMES, key=lambda name: _first(folder, name)):
        with _opened(folder, name) as file:
            for n, row in file.intact_rows() if file else ():
                if n > after + 1:
                    return
                if n == after + 1:
                    after = n
                    yield _unpacked(n, row)


def write(folder: Path, events: Iterable[Recent]) -> int:
    """Replace both files by one with these events, which may be read from them; return how many."""
    count = 0
    with replacing(inside(folder, NAMES[0])) as file:
        file.write(_BEGIN)
        for n, kind, now, rest in events:
            file.write(_record(n, pack_row((kind, now, *rest))))
            count += 1
    inside(folder, NAMES[1]).unlink(missing_ok=True)
    return count


def is_valid(event: Recent) -> bool:
    """Whether the row of an event has the fields and types of its kind."""
    try:
        if event.kind != "visit":
            said = [type(each) for each in event.rest]
            return said in _SHAPES.get(event.kind, ()) and isinstance(event.now, int | float)
        visit, *_, score, fetched, known = absorbed_from(event.rest)
        begun = capture_time(visit, fetched)
        numbers = (event.now, score, fetched, begun, *known.values())
        return all(isinstance(number, int | float) for number in numbers)
    except _MISFITS:
        return False


@dataclass(slots=True)
class Scan:
    """What is in a file: the range of its usable events, and what is wrong with the rest."""

    name: str
    first: int = 0  # number of its first event; 0: it has none
    last: int = 0  # number of its last usable event
    wrong: list[str] = field(default_factory=list)  # sentences


def scan(folder: Path, name: str) -> Scan:
    """Scan a file for usable events; an unfinished record at its end is not an error."""
    found = Scan(name)
    before = _version_of(folder, name)
    with _opened(folder, name, any_format=True) as file:
        if file is not None:
            found.wrong += _scanned(file, name, found)
    if _version_of(folder, name) != before:  # a running crawl wrote to it meanwhile
        found.wrong.clear()
    return found


def _scanned(file: "_File", name: str, found: Scan) -> Iterator[str]:
    if not file.begins:
        yield f"{name} is not a file of events: none of it can be used"
        return
    for n, row in file.intact_rows():
        try:
            is_right = is_valid(_unpacked(n, row)) and n == (found.last + 1 if found.first else n)
        except DamagedError:
            is_right = False
        if not is_right:
            yield f"event {n} in {name} cannot be read: it and those after it cannot be used"
            return
        found.first, found.last = found.first or n, n
    if file.size > _MOST_SEARCHED:
        yield f"{name} is larger than a crawl ever makes it: it is damaged at byte {file.place}"
    elif file.goes_on():
        yield f"{name} is damaged at byte {file.place}: the events after it cannot be used"


class Gap(NamedTuple):
    """Events that are missing, so that those after them cannot be used."""

    what: str  # a sentence
    is_of_database: bool  # the database has lost events: both files have only later ones


def gaps(scans: Iterable[Scan], last: int) -> Iterator[Gap]:
    """Yield the gap after event `last` of the database, or else the one between the two files."""
    before = FILE
    in_order = sorted(scans, key=lambda scan: scan.first)
    # a power cut can empty one file, because they are not synced
    are_both_there = all(scan.first for scan in in_order)
    for scan in in_order:
        if scan.first > last + 1:
            where = f" between the end of {before} and {scan.name}"
            is_of_database = before == FILE and are_both_there
            yield Gap(missing(last + 1, scan.first - 1, where), is_of_database)
            return
        if scan.last > last:
            before, last = scan.name, scan.last


def missing(first: int, last: int, where: str = "") -> str:
    """A sentence that names the missing events."""
    which = f"event {first} is" if first == last else f"events {first} to {last} are"
    return f"{which} missing{where}"


def exist(folder: Path) -> bool:
    """Whether there are files of recent events."""
    return any(inside(folder, name).exists() for name in NAMES)


def remove(folder: Path) -> None:
    """Remove the files of recent events."""
    for name in NAMES:
        inside(folder, name).unlink(missing_ok=True)


def capture_time(visit: Visit, fetched: float) -> float:
    """When the page of a visit was requested, in seconds since 1970."""
    response = visit.response
    if response is None or response.sent is None:  # estimated by the duration of the visit
        return fetched - visit.seconds
    return response.sent


def absorbed_row(absorbed: Absorbed) -> tuple[Any, ...]:
    """The row of a visit in a file of recent events."""
    visit, packed, counted, *rest = absorbed
    response, page = visit.response, visit.page
    return (
        packed,
        page and text_to_bytes(page.text),
        response
        and (
            response.url,
            response.status,
            list(response.headers.items()),
            response.body,
            response.failure,
            response.seconds,
            response.sent,
        ),
        [list(learnt) for learnt in visit.learnt],
        (counted.relevance, counted.relevant, list(counted.reasons)),
        *rest,
    )


def absorbed_from(row: list[Any]) -> Absorbed:
    """The visit that `absorbed_row` turned into a row."""
    packed, text, answer, learnt, (relevance, relevant, reasons), *rest = row
    bare = unpack_visit(packed, text_from_bytes(text) if text else "")
    response = None
    if answer:
        url, status, headers, *others = answer
        response = Response(bare.link, url, status, dict(headers), *others)
    visit = Visit(
        bare.link,
        bare.page,
        bare.verdict,
        response,
        bare.failure,
        bare.seconds,
        bare.host_delay,
        bare.again,
        tuple(OfHost(*each) for each in learnt),
    )
    return Absorbed(visit, packed, Verdict(relevance, relevant, tuple(reasons)), *rest)


class _File:
    """Reads a file of events, one record at a time."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = file.seek(0, 2)
        file.seek(0)
        begin = file.read(len(_BEGIN))
        self.begins = _BEGIN.startswith(begin)  # true for an unfinished first line, too
        self.is_foreign = not self.begins and begin.startswith(_BEGIN[:-2])  # another format
        self.place = len(_BEGIN)  # offset up to which all records are intact

    def intact_rows(self) -> Iterator[tuple[int, bytes]]:
        """The number and row of each event, up to the first damaged one."""
        while self.begins and (head := self._head(self.place)) is not None:
            n, length, checksum = head
            row = self._file.read(length)
            if zlib.crc32(row) != checksum:
                return
            self.place += _HEAD_BYTES + length
            yield n, row

    def goes_on(self) -> bool:
        """Whether an intact record follows the first damaged one."""
        skipped = 0
        for marks, place in enumerate(self._marks(self.place)):
            head = self._head(place) if place >= skipped else None
            if head is not None:
                if self._has_row(*head[1:]):
                    return True
                skipped = place + _HEAD_BYTES + head[1]
            elif marks > _MOST_MARKS:
                return True
        return False

    def _head(self, place: int) -> tuple[int, int, int] | None:
        """Number, row length and row checksum of the record at `place`; None if there is none."""
        self._file.seek(place)
        data = self._file.read(_HEAD_BYTES)
        if (
            len(data) < _HEAD_BYTES
            or _SUM.pack(zlib.crc32(data[: _HEAD.size])) != data[_HEAD.size :]
        ):
            return None
        mark, n, length, checksum = _HEAD.unpack_from(data)
        fits_in = mark == _MARK and length <= min(_MOST, self.size - place - _HEAD_BYTES)
        return (n, length, checksum) if fits_in else None

    def _has_row(self, length: int, checksum: int) -> bool:
        sum = 0
        while length and (data := self._file.read(min(length, _CHUNK))):
            sum, length = zlib.crc32(data, sum), length - len(data)
        return sum == checksum

    def _marks(self, place: int) -> Iterator[int]:
        """The offsets of all marks from `place` on: records may start there."""
        while place < self.size:
            self._file.seek(place)
            data = self._file.read(_CHUNK)
            at = data.find(_MARK)
            while at >= 0:
                yield place + at
                at = data.find(_MARK, at + 1)
            if len(data) < _CHUNK:
                return
            place += len(data) - len(_MARK) + 1


@contextmanager
def _opened(folder: Path, name: str, any_format: bool = False) -> Iterator[_File | None]:
    """Open a file of events; None if it does not exist."""
    try:
        raw = open_inside(folder, name)
    except FileNotFoundError:
        yield None
        return
    with BufferedReader(raw) as file:
        opened = _File(file)
        if opened.is_foreign and not any_format:
            raise HoneyguideError(
                f"{folder} cannot be resumed: {name} was written by another version of honeyguide;"
                " without that file it continues from the events before"
            )
        yield opened


def _first(folder: Path, name: str) -> int:
    """The number of a file's first event; 0 if it has none."""
    with _opened(folder, name) as file:
        return next((n for n, _ in file.intact_rows()), 0) if file else 0


def _version_of(folder: Path, name: str) -> tuple[int, int] | None:
    """Size and modification time of a file; None if it does not exist."""
    try:
        found = inside(folder, name).stat()
    except FileNotFoundError:
        return None
    return found.st_size, found.st_mtime_ns


def _record(n: int, row: bytes) -> bytes:
    head = _HEAD.pack(_MARK, n, len(row), zlib.crc32(row))
    return head + _SUM.pack(zlib.crc32(head)) + row


def _unpacked(n: int, row: bytes) -> Recent:
    try:
        kind, now, *rest = unpack_row(row)
    except ValueError:
        raise DamagedError("a row is damaged") from None
    return Recent(n, kind, now, rest)
