"""The latest events, written before the database has them, so that a killed process loses none.

Two files take turns. A file is emptied once the database has all of its events. Nothing is synced:
what a loss of power takes has simply not happened.
"""

import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from honeyguide.contracts import OfHost, Response, Verdict, Visit
from honeyguide.files import inside, open_inside, write_all
from honeyguide.serialise import (
    DamagedError,
    pack_row,
    text_from_bytes,
    text_to_bytes,
    unpack_row,
    unpack_visit,
)

NAMES = ("recent-0.events", "recent-1.events")
_FULL = 1 << 20  # bytes of a file, after which the other one is used
_HEAD = struct.Struct("<QII")  # number of the event, bytes of its row, checksum of both
_NUMBER = struct.Struct("<QI")


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
        self._sizes, self._last = [0, 0], [0, 0]  # by file: bytes, and its last event
        self._here = 0  # the file in use
        self._safe = 0  # the last event that the database has
        self._error: OSError | None = None

    def add(self, n: int, kind: str, now: float, *rest: Any) -> None:
        """Write an event; after an error nothing more is written, so that none is missing."""
        if self._error is not None:
            raise self._error
        row = pack_row((kind, now, *rest))
        checksum = zlib.crc32(row, zlib.crc32(_NUMBER.pack(n, len(row))))
        try:
            self._take_turns()
            write_all(self._files[self._here], _HEAD.pack(n, len(row), checksum) + row)
        except OSError as error:
            self._error = error
            raise
        self._sizes[self._here] += len(row)
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
    """The events that follow one in order, as far as they are whole."""
    rows = dict(row for name in NAMES for row in _rows(folder, name))
    while (row := rows.get(after + 1)) is not None:
        after += 1
        with suppress(DamagedError):
            kind, now, *rest = unpack_row(row)
            yield Recent(after, kind, now, rest)
            continue
        return


def exist(folder: Path) -> bool:
    """Whether there are files of events that the database may not have."""
    return any(inside(folder, name).exists() for name in NAMES)


def remove(folder: Path) -> None:
    """Forget the events that the database does not have."""
    for name in NAMES:
        inside(folder, name).unlink(missing_ok=True)


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


def _rows(folder: Path, name: str) -> Iterator[tuple[int, bytes]]:
    """The numbers and rows of a file's events, up to the first that is not whole."""
    try:
        with open_inside(folder, name) as file:
            data = file.readall()
    except FileNotFoundError:
        return
    place = 0
    while place + _HEAD.size <= len(data):
        n, length, checksum = _HEAD.unpack_from(data, place)
        row = data[place + _HEAD.size : place + _HEAD.size + length]
        if zlib.crc32(row, zlib.crc32(_NUMBER.pack(n, length))) != checksum:
            return
        yield n, row
        place += _HEAD.size + length
