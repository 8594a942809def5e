"""Verify a crawl folder without changing it; nothing in it is trusted."""

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
from honeyguide.engine.orders import unpack_order
from honeyguide.errors import HoneyguideError
from honeyguide.storage import recent, requests
from honeyguide.storage.bodies import bodies_of, file_is_missing
from honeyguide.storage.choices import unpack_choice
from honeyguide.storage.database import (
    CHECKED,
    FILE,
    WARCS,
    DamagedCrawlError,
    NewerCrawlError,
    NoCrawlError,
    checksum_matches,
    crawl_file,
    format_of,
    import_hint,
    one_line,
    open_crawl,
)
from honeyguide.storage.lock import holder
from honeyguide.storage.log import has_lost_commits
from honeyguide.storage.pieces import Pieces, unpacked
from honeyguide.storage.records import Stored, stored
from honeyguide.storage.snapshots import Snapshots
from honeyguide.storage.verdicts import unpack_judge, unpack_verdicts
from honeyguide.text.words import are, counted
from honeyguide.warc.writer import index_lines, index_path

Progress = Callable[[str, int, int], None]  # what, done, of how many
_MOST = 1 << 28  # bytes of a text or a visit
_SHOWN = 20  # findings of one kind that are listed, at most
_MISFITS = (sqlite3.Error, DamagedError, ValueError, TypeError, LookupError, msgspec.MsgspecError)
_is_warc = re.compile(r"pages-\d{5,}\.warc\.gz").fullmatch
_NOTES = ("tail", "unclaimed", "waiting")  # kinds of findings that are no loss of data
_BEYOND_REPAIR = ("warc", "policy", "version")  # kinds of findings that cannot be repaired
_NAMED = 3  # events that a sentence lists, at most
NUMBERS = ("events", "visits", "hosts", "unchecked")  # rows of `about` since format 2


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong in a crawl folder, or unfinished."""

    kind: str  # "database", "journal", "page", "snapshot", "warc", "index" ...
    what: str  # one sentence
    where: Any = None  # the number of an event, or the name of a file
    is_final: bool = False  # it cannot be repaired, whatever its kind

    @property
    def is_damage(self) -> bool:
        """Whether data is lost; what a killed crawl leaves unfinished is not a loss."""
        return self.kind not in _NOTES

    @property
    def is_repairable(self) -> bool:
        """Whether a repair is worth trying."""
        return self.is_damage and not self.is_final and self.kind not in _BEYOND_REPAIR


@dataclass(frozen=True, slots=True)
class Place:
    """Where the records of a page are in a WARC file, by its row: bytes from the start."""

    n: int
    url: str
    offset: int
    length: int


@dataclass(slots=True)
class Known:
    """What the intact rows of a crawl's database say."""

    about: dict[str, Any] = field(default_factory=dict)
    events: dict[int, str] = field(default_factory=dict)  # kind by number; "" if damaged
    pages: dict[int, bool] = field(default_factory=dict)  # by number: is the row intact?
    snapshots: dict[int, bool] = field(default_factory=dict)  # by event: is it intact?
    places: dict[str, dict[int, Place]] = field(default_factory=dict)  # by file and offset
    orphans: dict[str, list[int]] = field(default_factory=dict)  # by file: offsets in no row

    def warc_end(self) -> tuple[str, int] | None:
        """The WARC file that was written last and its size, at least up to its pages' records."""
        file, size = self.about.get("warc"), self.about.get("warc_size")
        if not isinstance(file, str) or not isinstance(size, int):
            return None
        ends = [place.offset + place.length for place in self.places.get(file, {}).values()]
        return file, max(size, *ends) if ends else size


class Check:
    """One check of a crawl folder: call `run`, then read `findings` and `known`."""

    def __init__(self, folder: Path, progress: Progress | None = None) -> None:
        self.folder = folder
        self.findings: list[Finding] = []
        self.known = Known()
        self._is_open = False  # whether the database could be opened
        self._progress = progress or (lambda what, done, total: None)

    def run(self) -> list[Finding]:
        """Check everything and return all findings; NoCrawlError if there is no crawl."""
        crawl_file(self.folder)
        recent_files = self._scan_recent()  # first: events move from there into the database
        try:
            with closing(open_crawl(self.folder, read_only=True)) as database:
                database.execute("BEGIN")  # one consistent view, while a crawl may write
                self._rows(database)
                self._is_open = True
        except NoCrawlError:
            raise
        except DamagedCrawlError as error:
            self._add("database", error.what, is_final=not error.is_repairable)
        except NewerCrawlError as error:
            self._add("version", str(error))
        except HoneyguideError as error:  # something in its schema is not honeyguide's
            self._add("database", str(error))
        except _MISFITS as error:
            self._add("database", _cannot_be_read(error))
        self._recent(recent_files)
        self._policies()
        self._warcs()
        return self.findings

    def _add(self, kind: str, what: str, where: Any = None, is_final: bool = False) -> None:
        same = sum(finding.kind == kind for finding in self.findings)
        if same < _SHOWN or kind in ("journal", "page", "snapshot"):
            self.findings.append(Finding(kind, one_line(what), where, is_final))

    # ------------------------------------------------------------------ the database

    def _rows(self, database: sqlite3.Connection) -> None:
        self._show_progress("database")
        if has_lost_commits(self.folder):
            self._add("log", f"{FILE}-wal is damaged: its last commits cannot be read")
        for (text,) in database.execute(f"PRAGMA integrity_check({_SHOWN})"):
            if text != "ok":
                self._add("database", f"{FILE} is damaged: {text}")
        has_checksums = format_of(database) >= CHECKED
        for check in (self._about, self._journal, self._pages, self._hosts, self._requests):
            try:
                check(database, has_checksums)
            except _MISFITS as error:
                self._add("database", _cannot_be_read(error))
        self._snapshots(database, has_checksums)
        self._consistency()

    def _about(self, database: sqlite3.Connection, has_checksums: bool) -> None:
        for row in database.execute("SELECT * FROM about"):
            if has_checksums and not checksum_matches(row):
                self._add("about", f"the crawl's {row[0]!r} is damaged", row[0])
            else:
                self.known.about[row[0]] = row[1]
        try:
            if not isinstance(json.loads(self.known.about.get("settings", "{}")), dict):
                raise ValueError
        except (ValueError, TypeError):
            self._add("about", "the crawl's 'settings' are damaged", "settings")
        for name in ("settings", "started", "version", *(NUMBERS if has_checksums else ())):
            if name not in self.known.about and not self._has("about", name):
                self._add("about", f"the crawl's {name!r} is missing", name)

    def _journal(self, database: sqlite3.Connection, has_checksums: bool) -> None:
        expected = None
        for row in self._each(database, "journal"):
            n = row[0]
            if expected is not None and n != expected:
                self._add("journal", recent.missing(expected, n - 1), expected)
            expected = n + 1
            intact = self._is_intact(row, has_checksums) and _can_read(_unpack_event, row)
            self.known.events[n] = str(row[1]) if intact else ""
            if not intact:
                self._add("journal", f"event {n} of the journal is damaged", n)

    def _pages(self, database: sqlite3.Connection, has_checksums: bool) -> None:
        for row in self._each(database, "pages"):
            n, text = row[0], row[18]
            intact = self._is_intact(row, has_checksums) and _can_read(_unpack_text, text)
            self.known.pages[n] = intact
            if not intact:
                self._add("page", f"the page of event {n} is damaged", n)
            elif row[15]:
                here = self.known.places.setdefault(row[15], {})
                here[row[16]] = Place(n, row[1], row[16], row[17])
        count = self.known.about.get("visits", len(self.known.pages))
        if count != len(self.known.pages):
            there = len(self.known.pages)
            self._add("page", f"the crawl stored {counted(count, 'page')}, and has {there:,}")

    def _hosts(self, database: sqlite3.Connection, has_checksums: bool) -> None:
        if not has_checksums:
            return
        sum = 0
        for row in database.execute("SELECT host, what, value, checksum FROM hosts"):
            sum ^= row[-1] if isinstance(row[-1], int) else 0
            if not checksum_matches(row):
                self._add("host", f"what the crawl learnt of host {row[0]!r} is damaged", row[0])
        if sum != self.known.about.get("hosts", sum) and not self._has("host"):
            self._add("host", "something that the crawl learnt of a host is missing")

    def _requests(self, database: sqlite3.Connection, has_checksums: bool) -> None:
        if has_checksums:
            self._show_progress("requests")
            for n in requests.damaged(database):
                self._add("request", f"request {n} is damaged", n)

    def _is_intact(self, row: tuple[Any, ...], has_checksums: bool) -> bool:
        unchecked = self.known.about.get("unchecked", 0)
        return (
            not has_checksums or checksum_matches(row) or (row[-1] is None and row[0] <= unchecked)
        )

    def _each(self, database: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
        [[total]] = database.execute(f"SELECT count(*) FROM {table}")  # noqa: S608
        rows = database.execute(f"SELECT * FROM {table} ORDER BY n")  # noqa: S608
        for done, row in enumerate(rows):
            self._show_progress(table, done, total)
            yield row

    def _consistency(self) -> None:
        """Compare the tables with one another: no event, page or count may be missing."""
        known = self.known
        events = known.about.get("events")
        last = max((*known.events, *known.snapshots), default=0)
        if last != (last if events is None else events):
            what = f"the crawl stored {events} events, and the last one of the journal is {last}"
            self._add("journal", what, last + 1)
        for n, kind in known.events.items():
            if kind == "visit" and n not in known.pages:
                self._add("page", f"the page of event {n} is missing", n)
        first, oldest = min(known.events, default=0), min(known.snapshots, default=0)
        if known.events and first > oldest + 1:
            self._add("journal", recent.missing(oldest + 1, first - 1), oldest + 1)

    # ------------------------------------------------------------------ snapshots

    def _snapshots(self, database: sqlite3.Connection, has_checksums: bool) -> None:
        kept = Snapshots(self.folder, database)
        rows = kept.rows_newest_first()
        for number, row in enumerate(rows):
            self._show_progress("snapshots", number, len(rows))
            try:
                kept.read(row)
                self.known.snapshots[row.n] = True
            except (*_MISFITS, OSError) as error:
                self.known.snapshots[row.n] = False
                self._add(
                    "snapshot", f"the snapshot after event {row.n} is damaged: {error}", row.n
                )
        if has_checksums:
            self._pieces(database)

    def _pieces(self, database: sqlite3.Connection) -> None:
        pieces = Pieces(database)
        names = pieces.all()
        for number, name in enumerate(names):
            self._show_progress("pieces", number, len(names))
            try:
                pieces.verify(name)
            except _MISFITS as error:
                self._add("piece", f"a piece of a snapshot is damaged: {error}", name)

    # ------------------------------------------------------------------ files

    def _scan_recent(self) -> list[recent.Scan]:
        """Scan the files of recent events."""
        scans = []
        for name in recent.NAMES:
            self._show_progress(name)
            try:
                scans.append(recent.scan(self.folder, name))
            except (OSError, HoneyguideError) as error:
                reason = getattr(error, "strerror", None) or error
                self._add("recent", f"{name} cannot be read: {reason}", name)
        return scans

    def _recent(self, scans: list[recent.Scan]) -> None:
        """Add what is wrong with recent events; they must follow the last event of the database."""
        for wrong in (each for scan in scans for each in scan.wrong):
            self._add("recent", wrong)
        last = self.known.about.get("events")
        if isinstance(last, int):
            gaps = list(recent.gaps(scans, last))
            for gap in gaps:
                where = FILE if gap.is_of_database else None
                self._add("recent", f"{gap.what}: those after cannot be used", where)
            self._waiting([scan for scan in scans if scan.last > last], last, bool(gaps))

    def _waiting(self, scans: list[recent.Scan], last: int, has_gap: bool) -> None:
        """Add a note if recent events wait to be imported by `resume`."""
        if not scans or has_gap or self._is_in_use():
            return
        count = max(scan.last for scan in scans) - last
        wait = "waits" if count == 1 else "wait"
        names = " and ".join(sorted(scan.name for scan in scans))
        text = f"{FILE} ends at event {last}: {counted(count, 'later event')} {wait} in {names}"
        self._add("waiting", f"{text}, and resuming imports them")

    def _policies(self) -> None:
        for path in sorted(self.folder.glob("*.policy")):
            self._show_progress(path.name)
            try:
                with open_inside(self.folder, path.name) as file:
                    kept = read_open_state(file, path.name)
                if not {"agent", "policy"} <= set(kept):
                    raise DamagedError("it is not a policy")
            except (*_MISFITS, OSError, HoneyguideError) as error:
                reason = getattr(error, "strerror", None) or error
                is_named = str(reason).startswith(path.name)
                what = str(reason) if is_named else f"{path.name} cannot be read: {reason}"
                self._add("policy", what, path.name)

    def _warcs(self) -> None:
        try:
            folder = inside(self.folder, WARCS)
        except HoneyguideError as error:
            self._add("warc", str(error))
            return
        there = {path.name for path in folder.glob("*.warc.gz")}
        for number, name in enumerate(sorted(there | set(self.known.places))):
            self._show_progress(WARCS, number, len(there))
            try:
                self._warc(folder, name)
            except (*_MISFITS, OSError, HoneyguideError) as error:
                reason = getattr(error, "strerror", None) or error
                self._add("warc", f"{name} cannot be read: {reason}", name)
        if self.known.orphans and self._has_final("database"):
            self._add("unclaimed", f"{import_hint(self.folder)} that can be read")

    def _warc(self, folder: Path, name: str) -> None:
        path = inside(folder, name)
        if not _is_warc(name):
            self._add("warc", f"{name!r} is not the name of a WARC file that a crawl makes", name)
            return
        if not path.exists():
            self._add("warc", file_is_missing(name, len(self.known.places[name])), name)
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
        """The size of a WARC file at the last commit; add a finding if the file is shorter."""
        known = self.known.warc_end()
        if known is None:
            return size
        last, end = known
        end = end if name == last else 0 if name > last else size
        if end > size:
            self._add("warc", f"{name} is cut off: it had {end:,} bytes, and has {size:,}", name)
        elif end < size and not self._is_in_use():
            is_lost = self._has("log") or self._has("recent")
            who = "" if is_lost else "a killed crawl left unfinished and "
            what = f"{name} ends in {counted(size - end, 'byte')} that {who}no page refers to"
            self._add("tail", what, name)
        return min(end, size)

    def _unread(self, name: str, events: list[int]) -> None:
        """Add a finding for pages whose records are not where their rows say."""
        if events:
            named = ", ".join(map(str, events[:_NAMED]))
            others = f" and {counted(len(events) - _NAMED, 'other')}" * (len(events) > _NAMED)
            which = f"event{'s' * (len(events) > 1)} {named}{others}"
            what = f"{bodies_of(len(events))} cannot be read from {name} ({which})"
            self._add("warc", what, name)

    def _unclaimed(self, name: str) -> None:
        """Add a note if a file has records that no row refers to, unless page rows are damaged."""
        count = len(self.known.orphans.get(name, ()))
        if count and not self._has("page") and not self._has("version"):
            which = f"that {FILE} does not list" if self._is_open else "that can still be read"
            self._add("unclaimed", f"{name} holds {bodies_of(count)} {which}", name)

    def _stored(self, folder: Path, name: str, end: int, places: list[int]) -> Iterator[Stored]:
        """The visits in a WARC file; after a damaged one, continue at the next offset of a row."""
        start = 0
        while start < end:
            try:
                for each in stored(folder, name, start, end):
                    start = each.offset + each.length
                    yield each
                return
            except DamagedError as error:
                self._add("warc", f"{name}: {error}", name)
            start = next((place for place in places if place > start), end)

    def _compare(self, name: str, each: Stored, place: Place | None) -> None:
        if place is None:
            self.known.orphans.setdefault(name, []).append(each.offset)
        elif place.length != each.length or place.url not in (each.url, each.requested):
            what = f"{name} holds another page than event {place.n} at byte {each.offset}"
            self._add("warc", what, name)

    def _index(
        self, folder: Path, name: str, wanted: dict[bytes, bool], end: int, unread: set[int]
    ) -> None:
        """Compare an index with the lines that it should have (true: the line is certain)."""
        index = index_path(folder / name)
        try:
            there = index_lines(index)
        except (OSError, HoneyguideError) as error:
            reason = getattr(error, "strerror", None) or error
            self._add("index", f"{index.name} cannot be read: {reason}", name)
            return
        missing = len(set(wanted) - set(there))
        wrong = sum(line not in wanted and not _is_unsafe(line, end, unread) for line in there)
        unsure = sum(not is_sure for is_sure in wanted.values())
        if max(missing, wrong) > unsure:
            self._add("index", _index_sentence(index, name, missing, wrong), name)

    # ------------------------------------------------------------------ findings

    def _has(self, kind: str, where: Any = None) -> bool:
        return any(
            finding.kind == kind and where in (None, finding.where) for finding in self.findings
        )

    def _is_in_use(self) -> bool:
        """Whether another process has the folder open, so that its files may be unfinished."""
        return holder(self.folder) not in ("", str(os.getpid()))

    def _has_final(self, kind: str) -> bool:
        return any(finding.kind == kind and finding.is_final for finding in self.findings)

    def _show_progress(self, what: str, done: int = 0, total: int = 0) -> None:
        self._progress(what, done, total)


def _can_read(read: Callable[[Any], object], value: Any) -> bool:
    try:
        read(value)
    except _MISFITS:
        return False
    return True


def _unpack_event(row: tuple[Any, ...]) -> object:
    _, kind, _, url, data, *_ = row
    if kind == "look" or (kind == "take" and data is None):
        return None
    if kind == "take":
        return unpack_choice(data)
    return int(url) if kind == "bound" else _READ_DATA[kind](unpacked(data, _MOST))


_READ_DATA: dict[str, Callable[[bytes], object]] = {
    "visit": lambda data: unpack_visit(data, ""),
    "seed": unpack_links,
    "revise": unpack_verdicts,
    "judge": unpack_judge,
    "order": unpack_order,
}


def _unpack_text(data: bytes | None) -> str:
    return text_from_bytes(unpacked(data, _MOST)) if data else ""


def _is_unsafe(line: bytes, end: int, unread: set[int]) -> bool:
    """Whether an index line is of a record after the last commit, or of one that is unreadable."""
    try:
        offset = int(json.loads(line.split(b" ", 2)[-1])["offset"])
    except (ValueError, TypeError, LookupError):
        return False
    return offset >= end or offset in unread


def _index_sentence(index: Path, name: str, missing: int, wrong: int) -> str:
    """A sentence about an index with missing or wrong lines."""
    if not index.exists():
        return f"{index.name}, the index of {name}, is missing"
    text = [f"{counted(missing, 'line')} {are(missing)} missing"] * (missing > 0)
    text += [f"{counted(wrong, 'line')} {are(wrong)} wrong"] * (wrong > 0)
    return f"{index.name} does not agree with {name}: {' and '.join(text)}"


def _cannot_be_read(error: Exception) -> str:
    return f"{FILE} is damaged: parts of it cannot be read ({error})"
