"""Verify a crawl folder without changing it or trusting anything in it."""

import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from honeyguide.disk.files import inside, open_inside
from honeyguide.disk.serialise import (
    DamagedError,
    read_open_state,
    text_from_bytes,
    unpack_links,
    unpack_visit,
)
from honeyguide.errors import HoneyguideError
from honeyguide.storage import recent, requests
from honeyguide.storage.bodies import bodies_of, file_is_missing
from honeyguide.storage.database import (
    FILE,
    FORMAT,
    WARCS,
    DamagedCrawlError,
    NewerCrawlError,
    NoCrawlError,
    crawl_file,
    format_of,
    is_whole,
    open_crawl,
    rescue,
    told,
)
from honeyguide.storage.lock import holder
from honeyguide.storage.log import has_lost_commits
from honeyguide.storage.pieces import Pieces, unpacked
from honeyguide.storage.records import Stored, stored
from honeyguide.storage.snapshots import Snapshots
from honeyguide.text.words import are, counted
from honeyguide.warc.writer import index_lines, index_path

Progress = Callable[[str, int, int], None]  # what, done, of how many
_MOST = 1 << 28  # bytes of a text or a visit
_SHOWN = 20  # findings of one kind that are told one by one
_MISFITS = (sqlite3.Error, DamagedError, ValueError, TypeError, LookupError, msgspec.MsgspecError)
_is_warc = re.compile(r"pages-\d{5,}\.warc\.gz").fullmatch
_NOTES = ("tail", "unclaimed", "waiting")  # kinds of findings of which nothing is lost
_BEYOND_REPAIR = ("warc", "policy", "version")  # kinds of findings that nothing can be rebuilt from
_NAMED = 3  # events that a sentence names
NUMBERS = ("events", "visits", "hosts", "unchecked")  # that a crawl keeps about itself


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it was written."""

    kind: str  # "database", "journal", "page", "snapshot", "warc", "index" ...
    what: str  # one sentence
    where: Any = None  # the number of an event, or the name of a file
    is_final: bool = False  # it is known already that nothing can be rebuilt

    @property
    def is_damage(self) -> bool:
        """Whether anything is lost; what a killed crawl leaves unfinished is no loss."""
        return self.kind not in _NOTES

    @property
    def may_be_mended(self) -> bool:
        """Whether a repair is worth trying."""
        return self.is_damage and not self.is_final and self.kind not in _BEYOND_REPAIR


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page's row says that its records are."""

    n: int
    url: str
    offset: int
    length: int


@dataclass(slots=True)
class Known:
    """What the rows of a crawl say, as far as they are whole."""

    about: dict[str, Any] = field(default_factory=dict)
    events: dict[int, str] = field(default_factory=dict)  # kind by number; "": it is damaged
    pages: dict[int, bool] = field(default_factory=dict)  # by number: whether it is whole
    snapshots: dict[int, bool] = field(default_factory=dict)
    places: dict[str, dict[int, Place]] = field(default_factory=dict)  # by file and offset
    orphans: dict[str, list[int]] = field(default_factory=dict)  # offsets that no row speaks of

    def warc_end(self) -> tuple[str, int] | None:
        """The WARC file that was written last and its bytes: no less than its rows speak of."""
        file, size = self.about.get("warc"), self.about.get("warc_size")
        if not isinstance(file, str) or not isinstance(size, int):
            return None
        ends = [place.offset + place.length for place in self.places.get(file, {}).values()]
        return file, max(size, *ends) if ends else size


class Check:
    """One look at all that is in a folder."""

    def __init__(self, folder: Path, progress: Progress | None = None) -> None:
        self.folder = folder
        self.findings: list[Finding] = []
        self.known = Known()
        self._is_open = False  # whether the database could be opened
        self._progress = progress or (lambda what, done, total: None)

    def run(self) -> list[Finding]:
        """Look at everything, whatever is found."""
        crawl_file(self.folder)
        recent_files = self._look_at_recent()  # first: what leaves them is in the database
        try:
            with closing(open_crawl(self.folder, only_read=True)) as database:
                database.execute("BEGIN")  # a crawl may go on meanwhile
                self._rows(database)
                self._is_open = True
        except NoCrawlError:
            raise
        except DamagedCrawlError as error:
            self._found("database", error.what, is_final=not error.can_be_mended)
        except NewerCrawlError as error:
            self._found("version", str(error))
        except HoneyguideError as error:  # somebody added to it
            self._found("database", str(error))
        except _MISFITS as error:
            self._found("database", _cannot_be_read(error))
        self._recent(recent_files)
        self._policies()
        self._warcs()
        return self.findings

    def _found(self, kind: str, what: str, where: Any = None, is_final: bool = False) -> None:
        same = sum(finding.kind == kind for finding in self.findings)
        if same < _SHOWN or kind in ("journal", "page", "snapshot"):
            self.findings.append(Finding(kind, told(what), where, is_final))

    # ------------------------------------------------------------------ the database

    def _rows(self, database: sqlite3.Connection) -> None:
        self._tell("database")
        if has_lost_commits(self.folder):
            self._found("log", f"{FILE}-wal is damaged: its last commits cannot be read")
        for (said,) in database.execute(f"PRAGMA integrity_check({_SHOWN})"):
            if said != "ok":
                self._found("database", f"{FILE} is damaged: {said}")
        has_checksums = format_of(database) == FORMAT
        for look in (self._about, self._journal, self._pages, self._hosts, self._requests):
            try:
                look(database, has_checksums)
            except _MISFITS as error:
                self._found("database", _cannot_be_read(error))
        self._snapshots(database, has_checksums)
        self._agreement()

    def _about(self, database: sqlite3.Connection, has_checksums: bool) -> None:
        for row in database.execute("SELECT * FROM about"):
            if has_checksums and not is_whole(row):
                self._found("about", f"the crawl's {row[0]!r} is damaged", row[0])
            else:
                self.known.about[row[0]] = row[1]
        try:
            if not isinstance(json.loads(self.known.about.get("settings", "{}")), dict):
                raise ValueError
        except (ValueError, TypeError):
            self._found("about", "the crawl's 'settings' are damaged", "settings")
        for name in ("settings", "started", "version", *(NUMBERS if has_checksums else ())):
            if name not in self.known.about and not self._has("about", name):
                self._found("about", f"the crawl's {name!r} is missing", name)

    def _journal(self, database: sqlite3.Connection, has_checksums: bool) -> None:
        expected = None
        for row in self._each(database, "journal"):
            n = row[0]
            if expected is not None and n != expected:
                self._found("journal", recent.missing(expected, n - 1), expected)
            expected = n + 1
            whole = self._is_right(row, has_checksums) and _holds(_unpack_event, row)
            self.known.events[n] = str(row[1]) if whole else ""
            if not whole:
                self._found("journal", f"event {n} of the journal is damaged", n)

    def _pages(self, database: sqlite3.Connection, has_checksums: bool) -> None:
        for row in self._each(database, "pages"):
            n, text = row[0], row[18]
            whole = self._is_right(row, has_checksums) and _holds(_unpack_text, text)
            self.known.pages[n] = whole
            if not whole:
                self._found("page", f"the page of event {n} is damaged", n)
            elif row[15]:
                here = self.known.places.setdefault(row[15], {})
                here[row[16]] = Place(n, row[1], row[16], row[17])
        count = self.known.about.get("visits", len(self.known.pages))
        if count != len(self.known.pages):
            there = len(self.known.pages)
            self._found("page", f"the crawl kept {counted(count, 'page')}, and has {there:,}")

    def _hosts(self, database: sqlite3.Connection, has_checksums: bool) -> None:
        if not has_checksums:
            return
        sum = 0
        for row in database.execute("SELECT host, what, value, checksum FROM hosts"):
            sum ^= row[-1] if isinstance(row[-1], int) else 0
            if not is_whole(row):
                self._found("host", f"what the crawl learnt of host {row[0]!r} is damaged", row[0])
        if sum != self.known.about.get("hosts", sum) and not self._has("host"):
            self._found("host", "something that the crawl learnt of a host is missing")

    def _requests(self, database: sqlite3.Connection, has_checksums: bool) -> None:
        if has_checksums:
            self._tell("requests")
            for n in requests.damaged(database):
                self._found("request", f"request {n} is damaged", n)

    def _is_right(self, row: tuple[Any, ...], has_checksums: bool) -> bool:
        unchecked = self.known.about.get("unchecked", 0)
        return not has_checksums or is_whole(row) or (row[-1] is None and row[0] <= unchecked)

    def _each(self, database: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
        [[total]] = database.execute(f"SELECT count(*) FROM {table}")  # noqa: S608
        rows = database.execute(f"SELECT * FROM {table} ORDER BY n")  # noqa: S608
        for done, row in enumerate(rows):
            self._tell(table, done, total)
            yield row

    def _agreement(self) -> None:
        """Rows of one table that speak of another's."""
        known = self.known
        events = known.about.get("events")
        last = max((*known.events, *known.snapshots), default=0)
        if last != (last if events is None else events):
            what = f"the crawl kept {events} events, and the last one of the journal is {last}"
            self._found("journal", what, last + 1)
        for n, kind in known.events.items():
            if kind == "visit" and n not in known.pages:
                self._found("page", f"the page of event {n} is missing", n)
        first, oldest = min(known.events, default=0), min(known.snapshots, default=0)
        if known.events and first > oldest + 1:
            self._found("journal", recent.missing(oldest + 1, first - 1), oldest + 1)

    # ------------------------------------------------------------------ snapshots

    def _snapshots(self, database: sqlite3.Connection, has_checksums: bool) -> None:
        kept = Snapshots(self.folder, database)
        rows = kept.newest_first()
        for number, row in enumerate(rows):
            self._tell("snapshots", number, len(rows))
            try:
                kept.read(row)
                self.known.snapshots[row.n] = True
            except (*_MISFITS, OSError) as error:
                self.known.snapshots[row.n] = False
                self._found(
                    "snapshot", f"the snapshot after event {row.n} is damaged: {error}", row.n
                )
        if has_checksums:
            self._pieces(database)

    def _pieces(self, database: sqlite3.Connection) -> None:
        pieces = Pieces(database)
        names = pieces.all()
        for number, name in enumerate(names):
            self._tell("pieces", number, len(names))
            try:
                pieces.verify(name)
            except _MISFITS as error:
                self._found("piece", f"a piece of a snapshot is damaged: {error}", name)

    # ------------------------------------------------------------------ files

    def _look_at_recent(self) -> list[recent.Look]:
        """What is in the files of recent events; how many events wait there is no finding."""
        looks = []
        for name in recent.NAMES:
            self._tell(name)
            try:
                looks.append(recent.look(self.folder, name))
            except (OSError, HoneyguideError) as error:
                reason = getattr(error, "strerror", None) or error
                self._found("recent", f"{name} cannot be read: {reason}", name)
        return looks

    def _recent(self, looks: list[recent.Look]) -> None:
        """Do recent events go on from where the database ends?"""
        for wrong in (each for look in looks for each in look.wrong):
            self._found("recent", wrong)
        last = self.known.about.get("events")
        if isinstance(last, int):
            gaps = list(recent.gaps(looks, last))
            for gap in gaps:
                where = FILE if gap.is_of_database else None
                self._found("recent", f"{gap.what}: those after cannot be used", where)
            self._waiting([look for look in looks if look.last > last], last, bool(gaps))

    def _waiting(self, looks: list[recent.Look], last: int, has_gap: bool) -> None:
        """Say it when a crawl that ended left events which the database does not have."""
        if not looks or has_gap or self._is_in_use():
            return
        count = max(look.last for look in looks) - last
        wait = "waits" if count == 1 else "wait"
        names = " and ".join(sorted(look.name for look in looks))
        said = f"{FILE} ends at event {last}: {counted(count, 'later event')} {wait} in {names}"
        self._found("waiting", f"{said}, and resuming takes them in")

    def _policies(self) -> None:
        for path in sorted(self.folder.glob("*.policy")):
            self._tell(path.name)
            try:
                with open_inside(self.folder, path.name) as file:
                    kept = read_open_state(file, path.name)
                if not {"agent", "policy"} <= set(kept):
                    raise DamagedError("it is no policy")
            except (*_MISFITS, OSError, HoneyguideError) as error:
                reason = getattr(error, "strerror", None) or error
                is_named = str(reason).startswith(path.name)
                what = str(reason) if is_named else f"{path.name} cannot be read: {reason}"
                self._found("policy", what, path.name)

    def _warcs(self) -> None:
        try:
            folder = inside(self.folder, WARCS)
        except HoneyguideError as error:
            self._found("warc", str(error))
            return
        there = {path.name for path in folder.glob("*.warc.gz")}
        for number, name in enumerate(sorted(there | set(self.known.places))):
            self._tell(WARCS, number, len(there))
            try:
                self._warc(folder, name)
            except (*_MISFITS, OSError, HoneyguideError) as error:
                reason = getattr(error, "strerror", None) or error
                self._found("warc", f"{name} cannot be read: {reason}", name)
        if self.known.orphans and self._has_final("database"):
            self._found("unclaimed", f"{rescue(self.folder)} that can be read")

    def _warc(self, folder: Path, name: str) -> None:
        path = inside(folder, name)
        if not _is_warc(name):
            self._found("warc", f"{name!r} is not the name of a WARC file that a crawl makes", name)
            return
        if not path.exists():
            self._found("warc", file_is_missing(name, len(self.known.places[name])), name)
            return
        end = self._end(name, path.stat().st_size)
        places = dict(self.known.places.get(name, {}))
        lines: dict[bytes, bool] = {}
        for each in self._stored(folder, name, end, sorted(places)):
            lines[each.line] = each.mime_is_sure
            self._compare(name, each, places.pop(each.offset, None))
        self._unread(name, sorted(place.n for place in places.values()))
        self._unclaimed(name)
        self._index(folder, name, lines, end, set(places))

    def _end(self, name: str, size: int) -> int:
        """Up to where a file was safe when the last event was."""
        known = self.known.warc_end()
        if known is None:
            return size
        last, end = known
        end = end if name == last else 0 if name > last else size
        if end > size:
            self._found("warc", f"{name} is cut off: it had {end:,} bytes, and has {size:,}", name)
        elif end < size and not self._is_in_use():
            is_lost = self._has("log") or self._has("recent")
            who = "" if is_lost else "a killed crawl left unfinished and "
            what = f"{name} ends in {counted(size - end, 'byte')} that {who}no page speaks of"
            self._found("tail", what, name)
        return min(end, size)

    def _unread(self, name: str, events: list[int]) -> None:
        """Say which pages' bodies a file does not have where their rows say."""
        if events:
            named = ", ".join(map(str, events[:_NAMED]))
            others = f" and {counted(len(events) - _NAMED, 'other')}" * (len(events) > _NAMED)
            which = f"event{'s' * (len(events) > 1)} {named}{others}"
            what = f"{bodies_of(len(events))} cannot be read from {name} ({which})"
            self._found("warc", what, name)

    def _unclaimed(self, name: str) -> None:
        """Say how many visits a file has that no row speaks of, unless damaged rows did."""
        count = len(self.known.orphans.get(name, ()))
        if count and not self._has("page") and not self._has("version"):
            which = f"that {FILE} does not speak of" if self._is_open else "that can still be read"
            self._found("unclaimed", f"{name} holds {bodies_of(count)} {which}", name)

    def _stored(self, folder: Path, name: str, end: int, places: list[int]) -> Iterator[Stored]:
        """What is in a file; after damage, what begins at the next known place."""
        start = 0
        while start < end:
            try:
                for each in stored(folder, name, start, end):
                    start = each.offset + each.length
                    yield each
                return
            except DamagedError as error:
                self._found("warc", f"{name}: {error}", name)
            start = next((place for place in places if place > start), end)

    def _compare(self, name: str, each: Stored, place: Place | None) -> None:
        if place is None:
            self.known.orphans.setdefault(name, []).append(each.offset)
        elif place.length != each.length or place.url not in (each.url, each.requested):
            what = f"{name} holds another page than event {place.n} at byte {each.offset}"
            self._found("warc", what, name)

    def _index(
        self, folder: Path, name: str, wanted: dict[bytes, bool], end: int, unread: set[int]
    ) -> None:
        """Compare an index with lines that it should have, and whether they are sure."""
        index = index_path(folder / name)
        try:
            there = index_lines(index)
        except (OSError, HoneyguideError) as error:
            reason = getattr(error, "strerror", None) or error
            self._found("index", f"{index.name} cannot be read: {reason}", name)
            return
        missing = len(set(wanted) - set(there))
        wrong = sum(line not in wanted and not _is_unsafe(line, end, unread) for line in there)
        unsure = sum(not is_sure for is_sure in wanted.values())
        if max(missing, wrong) > unsure:
            self._found("index", _of_index(index, name, missing, wrong), name)

    # ------------------------------------------------------------------ telling

    def _has(self, kind: str, where: Any = None) -> bool:
        return any(
            finding.kind == kind and where in (None, finding.where) for finding in self.findings
        )

    def _is_in_use(self) -> bool:
        """Whether a crawl runs here, which will finish what it has begun."""
        return holder(self.folder) not in ("", str(os.getpid()))

    def _has_final(self, kind: str) -> bool:
        return any(finding.kind == kind and finding.is_final for finding in self.findings)

    def _tell(self, what: str, done: int = 0, total: int = 0) -> None:
        self._progress(what, done, total)


def _holds(read: Callable[[Any], object], value: Any) -> bool:
    try:
        read(value)
    except _MISFITS:
        return False
    return True


def _unpack_event(row: tuple[Any, ...]) -> object:
    _, kind, _, _, data, *_ = row
    if kind == "visit":
        return unpack_visit(unpacked(data, _MOST), "")
    if kind == "seed":
        return unpack_links(unpacked(data, _MOST))
    if kind == "bound":
        return int(row[3])
    if kind not in ("take", "look"):
        raise ValueError(f"no event is a {kind}")
    return None


def _unpack_text(data: bytes | None) -> str:
    return text_from_bytes(unpacked(data, _MOST)) if data else ""


def _is_unsafe(line: bytes, end: int, unread: set[int]) -> bool:
    """Whether a line speaks of a record that is not yet safe, or that cannot be read."""
    try:
        offset = int(json.loads(line.split(b" ", 2)[-1])["offset"])
    except (ValueError, TypeError, LookupError):
        return False
    return offset >= end or offset in unread


def _of_index(index: Path, name: str, missing: int, wrong: int) -> str:
    """Say what is wrong with an index."""
    if not index.exists():
        return f"{index.name}, the index of {name}, is missing"
    said = [f"{counted(missing, 'line')} {are(missing)} missing"] * (missing > 0)
    said += [f"{counted(wrong, 'line')} {are(wrong)} wrong"] * (wrong > 0)
    return f"{index.name} does not agree with {name}: {' and '.join(said)}"


def _cannot_be_read(error: Exception) -> str:
    return f"{FILE} is damaged: not all of it can be read ({error})"
