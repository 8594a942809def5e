"""The latest events, written before the database has them, so that a killed process loses none.

Two files take turns. A file is emptied once the database has all of its events. Nothing is synced:
what a loss of power takes has simply not happened. Each record begins with a mark and a checksum of
its head, so that whole ones are found after one that is damaged.
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
_FULL = 1 << 20  # bytes of a file, after which the other one is used
_MOST = 1 << 28  # bytes of a row; more is damage
_MOST_SEARCHED = 1 << 30  # bytes of a file that is looked through after damage
_MOST_MARKS = 1_000_000  # in what is damaged, before it is called so
_CHUNK = 1 << 20  # bytes
_BEGIN = b"honeyguide events 1\n"  # of a file; 1 is the format
_MARK = b"\xe7EV\n"  # of a record
_HEAD = struct.Struct("<4sQII")  # mark, number of the event, bytes of its row, checksum of the row
_SUM = struct.Struct("<I")  # checksum of the head
_AHEAD = _HEAD.size + _SUM.size  # bytes before a row
_SHAPES = {"take": [str], "look": [], "bound": [int]}  # what is said of events but visits
_MISFITS = (DamagedError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError)


class Recent(NamedTuple):
    """An event that the database does not have yet."""

    n: int
    kind: str  # as in the journal
    now: float
    rest: list[Any]


class Absorbed(NamedTuple):
    """A visit with all that is kept of it."""

    visit: Visit
    packed: bytes  # the same, as the journal keeps it
    counted: Verdict
    score: float
    fetched: float  # seconds since 1970
    known: dict[str, int]  # about the crawl as a whole


class RecentEvents:
    """Appends each event to a file at once; used by one process at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = [open_inside(folder, name, "ab") for name in NAMES]
        self._sizes = [file.seek(0, 2) for file in self._files]  # bytes
        self._last = [0, 0]  # by file: its last event
        self._here = 0  # the file in use
        self._safe = 0  # the last event that the database has
        self._error: OSError | None = None

    def add(self, n: int, kind: str, now: float, *rest: Any) -> None:
        """Write an event; after an error nothing more is written, so that none is missing."""
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
        """The database has all events up to this one; called by the thread that writes there."""
        self._safe = n

    def remove(self) -> None:
        """Remove the files, once the database has everything."""
        self.close()
        remove(self._folder)

    def close(self) -> None:
        """Leave the files as they are."""
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
    """The events that follow one in order, as far as they are whole; one at a time."""
    for name in sorted(NAMES, key=lambda name: _first(folder, name)):
        with _opened(folder, name) as file:
            for n, row in file.whole() if file else ():
                if n > after + 1:
                    return
                if n == after + 1:
                    after = n
                    yield _unpacked(n, row)


def write(folder: Path, events: Iterable[Recent]) -> int:
    """Keep only these, which may come from the files that they are written to, and count them."""
    count = 0
    with replacing(inside(folder, NAMES[0])) as file:
        file.write(_BEGIN)
        for n, kind, now, rest in events:
            file.write(_record(n, pack_row((kind, now, *rest))))
            count += 1
    inside(folder, NAMES[1]).unlink(missing_ok=True)
    return count


def fits(event: Recent) -> bool:
    """Whether a row says what such an event has to say."""
    try:
        if event.kind != "visit":
            said = [type(each) for each in event.rest]
            return said == _SHAPES.get(event.kind) and isinstance(event.now, int | float)
        visit, *_, score, fetched, known = absorbed_from(event.rest)
        begun = capture_begun(visit, fetched)
        numbers = (event.now, score, fetched, begun, *known.values())
        return all(isinstance(number, int | float) for number in numbers)
    except _MISFITS:
        return False


@dataclass(slots=True)
class Look:
    """What is in a file: its events that can be used, and what is wrong with the rest."""

    name: str
    first: int = 0  # its first event; 0: it has none
    last: int = 0
    wrong: list[str] = field(default_factory=list)  # sentences


def look(folder: Path, name: str) -> Look:
    """See what can be used of a file; an end that was never finished is not wrong."""
    found = Look(name)
    before = _state(folder, name)
    with _opened(folder, name, any_format=True) as file:
        if file is not None:
            found.wrong += _looked_through(file, name, found)
    if _state(folder, name) != before:  # a crawl writes to it meanwhile
        found.wrong.clear()
    return found


def _looked_through(file: "_File", name: str, found: Look) -> Iterator[str]:
    if not file.begins:
        yield f"{name} does not begin as a file of events does: none of it can be used"
        return
    for n, row in file.whole():
        try:
            is_right = fits(_unpacked(n, row)) and n == (found.last + 1 if found.first else n)
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
    is_of_database: bool  # it lacks events that it had: both files of recent events are later


def gaps(looks: Iterable[Look], last: int) -> Iterator[Gap]:
    """The gap after the last event of the database, or else the one between two files."""
    before = FILE
    in_order = sorted(looks, key=lambda look: look.first)
    # a loss of power can empty one file: what was in it was not synced
    are_both_there = all(look.first for look in in_order)
    for look in in_order:
        if look.first > last + 1:
            where = f" between the end of {before} and {look.name}"
            is_of_database = before == FILE and are_both_there
            yield Gap(missing(last + 1, look.first - 1, where), is_of_database)
            return
        if look.last > last:
            before, last = look.name, look.last


def missing(first: int, last: int, where: str = "") -> str:
    """Say which events are missing."""
    which = f"event {first} is" if first == last else f"events {first} to {last} are"
    return f"{which} missing{where}"


def exist(folder: Path) -> bool:
    """Whether there are files of events that the database may not have."""
    return any(inside(folder, name).exists() for name in NAMES)


def remove(folder: Path) -> None:
    """Forget the events that the database does not have."""
    for name in NAMES:
        inside(folder, name).unlink(missing_ok=True)


def capture_begun(visit: Visit, fetched: float) -> float:
    """When what a visit brought was asked for, in seconds since 1970."""
    response = visit.response
    if response is None or response.sent is None:  # then it is known how long all of it took
        return fetched - visit.seconds
    return response.sent


def absorbed_row(absorbed: Absorbed) -> tuple[Any, ...]:
    """A visit with its response, as it is written."""
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
    """The visit that was written."""
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
    """A file of events, of which one record at a time is in memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = file.seek(0, 2)
        file.seek(0)
        begin = file.read(len(_BEGIN))
        self.begins = _BEGIN.startswith(begin)  # or was never finished
        self.is_foreign = not self.begins and begin.startswith(_BEGIN[:-2])
        self.place = len(_BEGIN)  # up to where it is whole

    def whole(self) -> Iterator[tuple[int, bytes]]:
        """The numbers and rows of its events, up to the first that is not whole."""
        while self.begins and (head := self._head(self.place)) is not None:
            n, length, checksum = head
            row = self._file.read(length)
            if zlib.crc32(row) != checksum:
                return
            self.place += _AHEAD + length
            yield n, row

    def goes_on(self) -> bool:
        """Whether a whole record follows one that is not."""
        skipped = 0
        for marks, place in enumerate(self._marks(self.place)):
            head = self._head(place) if place >= skipped else None
            if head is not None:
                if self._has_row(*head[1:]):
                    return True
                skipped = place + _AHEAD + head[1]
            elif marks > _MOST_MARKS:
                return True
        return False

    def _head(self, place: int) -> tuple[int, int, int] | None:
        """Number, length and checksum of a record whose row is in the file, to be read next."""
        self._file.seek(place)
        data = self._file.read(_AHEAD)
        if len(data) < _AHEAD or _SUM.pack(zlib.crc32(data[: _HEAD.size])) != data[_HEAD.size :]:
            return None
        mark, n, length, checksum = _HEAD.unpack_from(data)
        fits_in = mark == _MARK and length <= min(_MOST, self.size - place - _AHEAD)
        return (n, length, checksum) if fits_in else None

    def _has_row(self, length: int, checksum: int) -> bool:
        sum = 0
        while length and (data := self._file.read(min(length, _CHUNK))):
            sum, length = zlib.crc32(data, sum), length - len(data)
        return sum == checksum

    def _marks(self, place: int) -> Iterator[int]:
        """Where records may begin."""
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
    """A file of events; None when there is none."""
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
                " without that file it goes on from the events before"
            )
        yield opened


def _first(folder: Path, name: str) -> int:
    """The number of a file's first event; 0 when it has none."""
    with _opened(folder, name) as file:
        return next((n for n, _ in file.whole()), 0) if file else 0


def _state(folder: Path, name: str) -> tuple[int, int] | None:
    """What changes when a file is written to."""
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
