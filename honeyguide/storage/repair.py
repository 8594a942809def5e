"""Repair a damaged crawl folder, and list what was done and what is left."""

import json
import math
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from typing import Any

import zstandard

from honeyguide.disk.files import inside, open_inside, replacing, sync_folder
from honeyguide.disk.serialise import DamagedError, text_to_bytes
from honeyguide.errors import HoneyguideError
from honeyguide.storage import recent, requests
from honeyguide.storage.check import Check, Finding, Progress
from honeyguide.storage.database import (
    BESIDE,
    FILE,
    FORMAT,
    OLDEST,
    WARCS,
    DamagedCrawlError,
    NoCrawlError,
    checksum_matches,
    combined_checksum,
    connect,
    count_rows,
    crawl_file,
    explain,
    import_hint,
    is_plain_table,
    make_empty,
    one_line,
    open_crawl,
    put_about,
    reading,
    upgrade,
    with_checksum,
)
from honeyguide.storage.ledger import INSERT_PAGE, clean
from honeyguide.storage.lock import Lock
from honeyguide.storage.records import Stored, stored
from honeyguide.storage.snapshots import Snapshots
from honeyguide.text.words import are, counted
from honeyguide.version import VERSION
from honeyguide.warc.writer import WarcWriter, index_path, write_index
from honeyguide.web.html import parse

# kinds of findings that need no change of the database
_FILES = {"warc", "index", "tail", "unclaimed", "policy", "recent", "waiting", "version"}
# tables, and the column by which their rows are ordered in the file
_KEYS = {
    "about": "key",
    "journal": "n",
    "pages": "n",
    "snapshots": "n",
    "pieces": "rowid",
    "hosts": "host",
    "requests": "n",
}
_SPARSE = 100  # if numbers span this many times the count of rows, one of them is damaged
_UNFINISHED = "which a killed crawl left unfinished and no page refers to"
_HTML = ("text/html", "application/xhtml+xml", "")


def repair(folder: Path, progress: Progress | None = None) -> tuple[list[str], list[Finding]]:
    """Repair a crawl that no process has open; return sentences of what was done, and findings."""
    _find_crawl(folder)
    lock = Lock(folder)
    try:
        check = Check(folder, progress)
        check.run()
        left: list[Finding] = []
        done = list(_repair_all(check, left))
        again = Check(folder, progress)
        return done, again.run() + left
    except OSError as error:
        raise explain(error, folder) from None
    finally:
        lock.release()


def _has_lost_rows(check: Check) -> bool:
    """Whether the database has lost committed rows, so that bodies without rows may matter."""
    return any(f.kind == "log" or (f.kind, f.where) == ("recent", FILE) for f in check.findings)


def _find_crawl(folder: Path) -> None:
    """Raise NoCrawlError before a lock is put into a folder without a crawl; ignore damage."""
    try:
        open_crawl(folder, read_only=True).close()
    except NoCrawlError:
        raise
    except HoneyguideError:
        crawl_file(folder)


def _repair_all(check: Check, left: list[Finding]) -> Iterator[str]:
    """Repair one thing after another; add what could not be repaired to `left`."""
    kinds = {finding.kind for finding in check.findings if not finding.is_final}
    if kinds - _FILES:
        try:
            yield from _repair_database(check, kinds)
        except (sqlite3.Error, HoneyguideError) as error:
            what = f"{FILE} could not be repaired, and is as it was: {_reason(error)}"
            left.append(Finding("database", one_line(what), is_final=True))
            if check.known.orphans:
                left.append(Finding("unclaimed", f"{import_hint(check.folder)} that can be read"))
    if "recent" in kinds:
        yield from _repair_recent(check.folder)
    if kinds & {"tail", "unclaimed"} and _has_lost_rows(check):
        what = "resuming cuts off the bodies that no page refers to: before"
        left.append(Finding("unclaimed", f"{what}, {import_hint(check.folder)}"))
    elif "tail" in kinds:
        yield from _cut_tail(check)
    if "index" in kinds:
        yield from _write_indexes(check)


def _repair_database(check: Check, kinds: set[str]) -> list[str]:
    """Repair the rows; after an error, restore the file from a copy."""
    names = [FILE + end for end in ("", *BESIDE)]
    paths = [inside(check.folder, name) for name in names]
    before = {path: _copied(path) for path in paths if path.exists()}
    last = _last_event(check)
    try:
        done = _rebuild_database(check.folder) if "database" in kinds else []
        if done:
            check = Check(check.folder)
            check.run()
        done += _repair_rows(check, kinds)
        return [*done, *_drop_recent(check.folder, last)]
    except (sqlite3.Error, HoneyguideError):
        for path in paths:
            path.unlink(missing_ok=True)
        for path, copy in before.items():
            copy.replace(path)
        raise
    finally:
        for copy in before.values():
            copy.unlink(missing_ok=True)
        sync_folder(check.folder)


def _reason(error: Exception) -> str:
    """Why a repair failed, without the advice to repair."""
    if isinstance(error, DamagedCrawlError):
        return error.what
    is_full = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL
    return "the disk is full" if is_full else str(error)


def _last_event(check: Check) -> Any:
    """The last event of the database before the repair: recent events follow it."""
    known = check.known
    return known.about.get("events", max((*known.events, *known.snapshots), default=0))


def _kept_events(folder: Path) -> int:
    """The last event of the database after the repair."""
    with reading(folder) as database:
        [[events]] = database.execute("SELECT value FROM about WHERE key = 'events'")
    return int(events)


def _drop_recent(folder: Path, last: Any) -> Iterator[str]:
    """Remove recent events that no longer follow the last event of the database."""
    now = _kept_events(folder)
    if now != last and recent.exist(folder):
        recent.remove(folder)
        yield f"dropped recent events: they follow event {last}, and the last one is now {now}"


def _repair_recent(folder: Path) -> Iterator[str]:
    """Keep the recent events that follow the last one, up to the first damage; drop the rest."""
    try:
        if not recent.exist(folder):  # _drop_recent removed them
            return
        last = _kept_events(folder)
        count = recent.write(folder, _usable(folder, last))
        if not count:
            recent.remove(folder)
    except HoneyguideError:  # a damaged database, or another version: it stays a finding
        return
    if count:
        kept = f"{counted(count, 'recent event')} after event {last} {are(count)} kept"
        yield f"dropped the recent events that cannot be used: {kept}"
    else:
        yield f"dropped the recent events, which cannot be used: the crawl is at event {last}"


def _usable(folder: Path, last: int) -> Iterator[recent.Recent]:
    with suppress(DamagedError):
        yield from takewhile(recent.is_valid, recent.read(folder, last))


def _repair_rows(check: Check, kinds: set[str]) -> list[str]:
    done: list[str] = []
    with closing(open_crawl(check.folder, read_only=False)) as database:
        upgrade(database)
        if "log" in kinds:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            done.append(f"dropped the end of {FILE}-wal, which cannot be read")
        done += _RowRepair(check, database).rows()
    return done


def _rebuild_database(folder: Path) -> list[str]:
    """Write a new database with every row that can still be read."""
    path = folder / f"{FILE}.unfinished"
    path.unlink(missing_ok=True)
    try:
        with closing(connect(folder, read_only=True)) as old, closing(sqlite3.connect(path)) as new:
            old.execute("PRAGMA writable_schema = ON")  # reads a file up to where it is cut off
            _check_tables(old)
            format = FORMAT if _is_new(old) else OLDEST
            make_empty(new, format)
            for table, key in _KEYS.items():
                _copy_rows(old, new, table, key)
            new.commit()
            upgrade(new)
            if not new.execute("SELECT 1 FROM about WHERE key = 'settings'").fetchone():
                raise HoneyguideError("its settings are lost, and no crawl can do without them")
            new.execute("PRAGMA journal_mode = WAL")
        for end in BESIDE:
            inside(folder, FILE + end).unlink(missing_ok=True)
        path.replace(folder / FILE)
    finally:
        path.unlink(missing_ok=True)
    return [f"rebuilt {FILE} from the rows that can be read"]


def _check_tables(old: sqlite3.Connection) -> None:
    """Raise unless all tables are plain: a view in place of a table could be endless."""
    for kind, name, sql in old.execute("SELECT type, name, sql FROM sqlite_schema").fetchall():
        if name in _KEYS and not is_plain_table(old, kind, name, sql):
            raise HoneyguideError(f"its {name!r} is not a plain table")


def _is_new(old: sqlite3.Connection) -> bool:
    columns = old.execute("PRAGMA table_info(journal)").fetchall()
    return any(name == "checksum" for _, name, *_ in columns)


def _copy_rows(old: sqlite3.Connection, new: sqlite3.Connection, table: str, key: str) -> None:
    """Copy rows from both ends up to what cannot be read, then those in between one by one."""
    width = len(new.execute(f"PRAGMA table_info({table})").fetchall())
    insert = f"INSERT OR IGNORE INTO {table} VALUES ({','.join('?' * width)})"  # noqa: S608
    for order in ("", " DESC"):
        with suppress(sqlite3.Error, ValueError):
            for row in old.execute(f"SELECT * FROM {table} ORDER BY {key}{order}"):  # noqa: S608
                _insert(new, insert, row, width)
    if table not in ("journal", "pages", "pieces"):
        return
    wanted = f"SELECT * FROM {table} WHERE {'hash' if table == 'pieces' else 'n'} = ?"  # noqa: S608
    for name in _missing(old, new, table):
        with suppress(sqlite3.Error, ValueError):
            for row in old.execute(wanted, (name,)):
                _insert(new, insert, row, width)


def _insert(new: sqlite3.Connection, insert: str, row: tuple[Any, ...], width: int) -> None:
    with suppress(sqlite3.IntegrityError):
        new.execute(insert, (*row, *(None,) * (width - len(row))))


def _missing(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> list[Any]:
    """Keys of rows that were not copied: hashes of pieces by their index, or event numbers."""
    if table == "pieces":
        with suppress(sqlite3.Error):
            names = {name for (name,) in old.execute("SELECT hash FROM pieces")}
            return list(names - {name for (name,) in new.execute("SELECT hash FROM pieces")})
        return []
    there = {n for (n,) in new.execute(f"SELECT n FROM {table}")}  # noqa: S608
    is_likely = bool(there) and max(there) - min(there) < _SPARSE * len(there)
    return [n for n in range(min(there), max(there)) if n not in there] if is_likely else []


def _copied(path: Path) -> Path:
    copy = path.with_name(f"{path.name}.before")
    with open_inside(path.parent, path.name) as file, replacing(copy) as other:
        shutil.copyfileobj(file, other)
    return copy


class _RowRepair:
    """Repairs the rows of a damaged crawl from WARC files, snapshots and other rows."""

    def __init__(self, check: Check, database: sqlite3.Connection) -> None:
        self._check = check
        self._known = check.known
        self._database = database
        self._visits = 0  # rows of pages

    def rows(self) -> Iterator[str]:
        """Repair every table; yield a sentence for each thing that was done."""
        yield from self._pages()
        yield from self._snapshots()
        yield from self._journal()
        yield from self._hosts()
        yield from self._requests()
        yield from self._about()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._database.execute("COMMIT")
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise

    # ------------------------------------------------------------------ pages

    def _pages(self) -> Iterator[str]:
        """Rebuild rows of pages from WARC records that no intact row refers to."""
        damaged = [n for n, intact in self._known.pages.items() if not intact]
        lost = [n for n, kind in self._known.events.items() if kind == "visit"]
        damaged += [n for n in lost if n not in self._known.pages]
        free = list(self._free()) if damaged else []
        for n in damaged:
            row = self._database.execute("SELECT * FROM pages WHERE n = ?", (n,)).fetchone()
            found = _matching_record(row, free)
            if found is None:
                continue
            free.remove(found)
            with self._transaction():
                self._database.execute("DELETE FROM pages WHERE n = ?", (n,))
                self._database.execute(INSERT_PAGE, _page_row(n, row, *found))
            self._known.pages[n] = True
            yield f"rebuilt the page of event {n} from {found[0]}; its reasons may be lost"

    def _free(self) -> Iterator[tuple[str, Stored]]:
        warcs = inside(self._check.folder, WARCS)
        for name, offsets in self._known.orphans.items():
            for offset in offsets:
                yield name, next(stored(warcs, name, offset))

    # ------------------------------------------------------------------ snapshots, journal

    def _snapshots(self) -> Iterator[str]:
        """Drop damaged snapshots: the journal has the events since an older one."""
        kept = Snapshots(self._check.folder, self._database)
        for n, intact in list(self._known.snapshots.items()):
            if not intact:
                with self._transaction():
                    kept.drop(n)
                del self._known.snapshots[n]
                yield f"dropped the damaged snapshot after event {n}: resuming makes another"
        kept.recover()

    def _journal(self) -> Iterator[str]:
        """Drop events before the newest snapshot if one is damaged, and all after a damaged one."""
        newest = max(self._known.snapshots, default=0)
        first, last = self._bad_events(newest)
        if first is not None:
            with self._transaction():
                for table in ("journal", "snapshots"):
                    below = "n <= ?" if table == "journal" else "n < ?"
                    self._database.execute(f"DELETE FROM {table} WHERE {below}", (newest,))  # noqa: S608
            yield f"dropped the events up to {newest}: the snapshot after them is intact"
        if last is not None and self._can_begin(newest):
            with self._transaction():
                [[pages]] = self._database.execute(
                    "SELECT count(*) FROM pages WHERE n >= ?", (last,)
                )
                for table in ("journal", "pages", "snapshots"):
                    self._database.execute(f"DELETE FROM {table} WHERE n >= ?", (last,))  # noqa: S608
                self._count()
            fetched = f"{counted(pages, 'later page')} will be fetched again"
            yield f"went back to event {last - 1}, before the damage: {fetched}"

    def _bad_events(self, newest: int) -> tuple[int | None, int | None]:
        """The first damaged event before the newest snapshot, and the first after it."""
        known = self._known
        last = known.about.get("events", max(known.events, default=0))
        first = min(known.events, default=newest + 1)
        before = after = None
        for n in range(first, last + 1):
            kind = known.events.get(n, "")
            if not kind or (kind == "visit" and not known.pages.get(n)):
                before = n if before is None and n <= newest else before
                after = n if after is None and n > newest else after
        if first > min(known.snapshots, default=0) + 1 and newest:
            before = before or first
        return before, after

    def _can_begin(self, newest: int) -> bool:
        """Whether the crawl can go back to the newest snapshot, or to its start."""
        return min(self._known.events, default=math.inf) <= newest + 1 or newest > 0

    # ------------------------------------------------------------------ the rest

    def _hosts(self) -> Iterator[str]:
        if not any(finding.kind == "host" for finding in self._check.findings):
            return
        rows = self._database.execute("SELECT * FROM hosts").fetchall()
        damaged = [row[:2] for row in rows if not checksum_matches(row)]
        with self._transaction():
            self._database.executemany("DELETE FROM hosts WHERE host = ? AND what = ?", damaged)
            self._count()
        they = "it is" if len(damaged) == 1 else "they are"
        yield f"dropped {counted(len(damaged), 'fact')} about hosts: {they} learnt again"

    def _requests(self) -> Iterator[str]:
        damaged = [(n,) for n in requests.damaged(self._database)]
        if damaged:
            with self._transaction():
                self._database.executemany("DELETE FROM requests WHERE n = ?", damaged)
            yield f"dropped {counted(len(damaged), 'request')} that cannot be read"

    def _about(self) -> Iterator[str]:
        named = {f.where for f in self._check.findings if f.kind == "about"}
        lost = sorted(named - {"settings"})
        with self._transaction():
            for name in lost:
                self._database.execute("DELETE FROM about WHERE key = ?", (name,))
            put_about(self._database, self._recomputed(lost))
            self._count()
        if lost:
            yield f"counted again, or dropped, figures of the crawl: {', '.join(lost)}"
        kept, there = self._known.about.get("visits", 0), self._visits
        if there < kept:
            lost_pages = kept - there
            text = f"{counted(lost_pages, 'page')} {are(lost_pages)} lost"
            yield f"counted the pages again: {text}"

    def _recomputed(self, lost: list[Any]) -> dict[str, Any]:
        [[first, last, unchecked]] = self._database.execute(
            "SELECT min(fetched), max(fetched), max(iif(checksum IS NULL, n, 0)) FROM pages"
        )
        [[journal]] = self._database.execute("SELECT max(n) FROM journal WHERE checksum IS NULL")
        file, size = self._database.execute(
            "SELECT warc, warc_offset + warc_length FROM pages WHERE warc IS NOT NULL"
            " ORDER BY n DESC LIMIT 1"
        ).fetchone() or ("", 0)
        known = {
            "version": VERSION,
            "started": first or 0.0,
            "last": last,
            "unchecked": max(unchecked or 0, journal or 0),
            "warc": file,
            "warc_size": size,
        }
        wanted = {*lost, "warc", "warc_size"} if {"warc", "warc_size"} & {*lost} else {*lost}
        return {name: value for name, value in known.items() if name in wanted}

    def _count(self) -> None:
        events, visits = count_rows(self._database)
        hosts = combined_checksum(
            row[0] for row in self._database.execute("SELECT checksum FROM hosts")
        )
        put_about(self._database, {"events": events, "visits": visits, "hosts": hosts})
        self._visits = visits


def _cut_tail(check: Check) -> Iterator[str]:
    """Cut off WARC records that were never committed."""
    end = check.known.warc_end()
    if end is not None:
        writer = WarcWriter(check.folder / WARCS)
        writer.resume(*end)
        writer.abandon()
        for name in sorted({f.where for f in check.findings if f.kind == "tail"}):
            yield f"cut off the end of {name}, {_UNFINISHED}"


def _write_indexes(check: Check) -> Iterator[str]:
    """Rebuild damaged indexes from their WARC files."""
    warcs = inside(check.folder, WARCS)
    for name in sorted({f.where for f in check.findings if f.kind == "index"}):
        try:
            lines = sorted(each.line for each in stored(warcs, name))
        except DamagedError:
            continue  # it stays among the findings
        write_index(index_path(warcs / name), lines)
        yield f"rebuilt {index_path(warcs / name).name} from {name}"


def _matching_record(
    row: tuple[Any, ...] | None, free: list[tuple[str, Stored]]
) -> tuple[str, Stored] | None:
    """The free WARC records that belong to a damaged row: by place, else by URL."""
    if row is None:
        return free[0] if len(free) == 1 else None
    here = [found for found in free if (found[0], found[1].offset) == (row[15], row[16])]
    same = [found for found in free if row[1] in (found[1].url, found[1].requested)]
    return next(iter(here or same), None)


def _page_row(n: int, row: tuple[Any, ...] | None, name: str, found: Stored) -> tuple[Any, ...]:
    """Rebuild a page's row from its records; only the reasons come from the old row."""
    known = found.known
    mime = found.headers.get("content-type", "")
    failure = known.get("failure", "")
    is_page = not failure and mime.partition(";")[0].strip().lower() in _HTML
    page = parse(found.body, found.url, mime).page if is_page else None
    when = datetime.fromisoformat(found.date).timestamp()
    text = page and zstandard.ZstdCompressor(level=1).compress(text_to_bytes(page.text))
    return with_checksum(
        n,
        found.requested or found.url,
        page and clean(page.url),
        page and clean(page.title),
        found.status,
        failure,
        _number(known.get("relevance"), float),
        int(known.get("relevant") == "true"),
        _reasons(row),
        _number(known.get("score"), float),
        _number(known.get("hopsfromseed"), int),
        known.get("via", ""),
        when,
        _number(known.get("fetchtimems"), float) / 1000,
        len(found.body),
        name,
        found.offset,
        found.length,
        text,
    )


def _reasons(row: tuple[Any, ...] | None) -> str:
    """The reasons in a row as JSON; an empty list if they cannot be read."""
    try:
        reasons = json.loads(row[8]) if row else []
    except (ValueError, TypeError):
        reasons = []
    return json.dumps(reasons if isinstance(reasons, list) else [])


def _number(text: str | None, kind: Callable[[str], Any]) -> Any:
    try:
        return kind(text or "0")
    except ValueError:
        return kind("0")
