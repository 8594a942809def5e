"""The SQLite file of a crawl: its tables, the checksum of each row, and how it is opened."""

import errno
import json
import math
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import reduce
from operator import xor
from pathlib import Path
from typing import Any

import msgspec

from honeyguide.disk.files import inside, make_folder, sync_folder
from honeyguide.errors import HoneyguideError
from honeyguide.storage.lock import Lock
from honeyguide.version import VERSION

FILE = "crawl.sqlite"
WARCS = "warc"  # the folder of the bodies
STANDING = "orders"  # the row of `about` with the orders in force
BESIDE = ("-wal", "-shm", "-journal")  # endings of the files that SQLite writes next to it
_MAX_MESSAGE = 300  # characters of an error that are shown
FORMAT = 3  # of the tables below and of what their rows hold
CHECKED = 2  # the first format whose rows have checksums
OLDEST = 1  # the oldest format that can be read: no checksums, snapshots in files
_MOST_FORMATS = 255  # a larger format number is damage
_DAMAGE = (  # error codes of SQLite that mean a damaged file
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_TOOBIG,
    sqlite3.SQLITE_FORMAT,
)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_ID = 0x686F6E79  # "hony": SQLite's application_id, which says what kind of file it is
_LEAST = 512  # bytes of the smallest possible database: one block
_CRAWL = {"about", "journal", "pages"}  # tables that every crawl has
_encode = msgspec.msgpack.Encoder().encode

# the last column is a checksum of the others; rows of format 1 have none
_TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value, checksum INTEGER) WITHOUT ROWID;
CREATE TABLE journal (  -- the events, in order; folders of format 2 may lack the first ones
    n INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,  -- seed, take, look, visit, bound, revise, judge, order
    now REAL NOT NULL,  -- on the crawl's own clock
    url TEXT,
    data BLOB,
    checksum INTEGER
);
CREATE TABLE pages (  -- one for each visit, failed ones included
    n INTEGER PRIMARY KEY,  -- as in the journal
    url TEXT NOT NULL,
    page_url TEXT,  -- after redirects
    title TEXT,
    status INTEGER,
    failure TEXT NOT NULL,
    relevance REAL,
    relevant INTEGER NOT NULL,
    reasons TEXT,  -- JSON
    score REAL,  -- when it was chosen
    depth INTEGER NOT NULL,
    parent TEXT,
    fetched REAL NOT NULL,  -- seconds since 1970
    seconds REAL,
    bytes INTEGER NOT NULL,
    warc TEXT,
    warc_offset INTEGER,
    warc_length INTEGER,  -- of all its records
    text BLOB,  -- zstd; towards the end, so that the rest is read without it
    checksum INTEGER
);
CREATE TABLE snapshots (  -- the newest two
    n INTEGER PRIMARY KEY,  -- the event that it follows
    now REAL NOT NULL,
    file TEXT NOT NULL,  -- of format 1; empty when the state is in pieces
    skeleton BLOB,  -- msgpack, zstd
    hashes BLOB,  -- of its pieces, in order
    checksum INTEGER
);
CREATE TABLE pieces (  -- of the arrays of snapshots, each once
    hash BLOB PRIMARY KEY,  -- blake2b of its bytes, 16 bytes
    base BLOB,  -- the piece that it differs little from
    data BLOB NOT NULL  -- zstd: its bytes, or where there is a base, those xor the base's
);
CREATE TABLE hosts (  -- what the world has learnt of each
    host TEXT, what TEXT, value REAL NOT NULL, checksum INTEGER, PRIMARY KEY (host, what)
) WITHOUT ROWID;
CREATE TABLE requests (  -- one for each that was sent, in the order of their ends
    n INTEGER PRIMARY KEY,
    host TEXT NOT NULL,
    url TEXT NOT NULL,
    sent REAL NOT NULL,  -- seconds since 1970
    seconds REAL NOT NULL,
    status INTEGER NOT NULL,  -- 0 without an answer
    failure TEXT NOT NULL,
    bytes INTEGER NOT NULL,  -- of the body, as transferred
    retry_after REAL,  -- seconds
    location TEXT NOT NULL,  -- of a redirect
    checksum INTEGER  -- of all but n
);
"""
_NEW = ("pieces", "hosts", "requests")  # tables that folders of format 1 may lack
_ADDED = {  # columns that they lack
    "about": ("checksum INTEGER",),
    "journal": ("checksum INTEGER",),
    "pages": ("checksum INTEGER",),
    "hosts": ("checksum INTEGER",),
    "snapshots": ("skeleton BLOB", "hashes BLOB", "checksum INTEGER"),
}


class NoCrawlError(HoneyguideError):
    """A path is not a crawl folder, or does not exist."""


class NewerCrawlError(HoneyguideError):
    """A newer version of honeyguide wrote the crawl."""


class DamagedCrawlError(HoneyguideError):
    """The database of a crawl is damaged."""

    def __init__(self, folder: Path, what: str, is_repairable: bool = True) -> None:
        left = f": 'honeyguide check {folder}' shows what can still be used"
        super().__init__(f"{folder / what}{repair_hint(folder) if is_repairable else left}")
        self.what = what  # a sentence that starts with the name of the file
        self.is_repairable = is_repairable


def create(folder: Path, settings: Mapping[str, Any]) -> None:
    """Create the folder and the database of a new crawl with these settings."""
    try:
        make_folder(folder)
        lock = Lock(folder)
    except OSError as error:
        raise HoneyguideError(f"cannot write to {folder}: {error.strerror}") from None
    try:
        if holds_crawl(folder):
            raise HoneyguideError(
                f"{folder} already holds a crawl: continue it with 'honeyguide resume {folder}'"
                " or choose another folder"
            )
        if _has_bodies(folder):  # the first page would overwrite them
            raise HoneyguideError(
                f"{folder} holds the bodies of another crawl, in {WARCS}: choose another folder"
            )
        with closing(connect(folder)) as database:
            _make_tables(database, settings)
        for each in (folder, folder.resolve().parent):
            sync_folder(each)
    except (sqlite3.Error, OSError) as error:
        raise explain(error, folder) from None
    finally:
        lock.release()


def holds_crawl(folder: Path) -> bool:
    """Whether a folder holds a crawl; one that was killed while it was created does not count."""
    path = inside(folder, FILE)
    if not path.exists():
        return False
    if path.is_dir():
        raise HoneyguideError(f"cannot create a crawl in {folder}: its {FILE} is a folder")
    if path.stat().st_size < _LEAST and _has_log(path):
        return True  # opening the file would make SQLite remove the log
    with closing(connect(folder, read_only=_has_log(path))) as database:
        try:
            return bool(database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0])
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise explain(error, folder) from None
            return True  # not a database: it must not be overwritten


def open_crawl(folder: Path, read_only: bool | None = None) -> sqlite3.Connection:
    """Open the database of a crawl; a HoneyguideError says why that is not possible.

    By default it is opened read-only if there is a write-ahead log: a connection that may write
    would move the log into the file when it closes, and with it the evidence of damage.
    """
    path = crawl_file(folder)
    if path.stat().st_size < _LEAST:  # SQLite would remove the log of an empty file
        raise _empty(folder)
    database = None
    try:
        database = connect(folder, _has_log(path) if read_only is None else read_only)
        _check_kind(database, folder)
        _check_schema(database, folder)
        database.execute("PRAGMA synchronous = FULL")  # each commit is synced before the next one
    except (sqlite3.Error, UnicodeError) as error:
        if database is not None:
            database.close()
        raise explain(error, folder) from None
    except HoneyguideError:
        if database is not None:
            database.close()
        raise
    return database


def crawl_file(folder: Path) -> Path:
    """The path of a crawl's database; NoCrawlError if there is none."""
    try:
        is_there, is_folder = folder.exists(), folder.is_dir()
    except OSError as error:
        raise HoneyguideError(f"cannot read {folder}: {error.strerror}") from None
    if not is_there:
        raise NoCrawlError(f"{folder} does not exist")
    if not is_folder:
        raise NoCrawlError(f"{folder} is a file: give the folder that holds the crawl")
    path = inside(folder, FILE)
    if path.is_dir():
        raise NoCrawlError(f"{folder} holds no crawl: its {FILE} is a folder")
    if not path.exists():
        raise NoCrawlError(
            f"{folder} holds no crawl: there is no {FILE} in it{_bodies_hint(folder)}"
        )
    return path


def _bodies_hint(folder: Path) -> str:
    """The end of a sentence: how to import the bodies, if there are any."""
    return f"; {import_hint(folder)}" if _has_bodies(folder) else ""


def import_hint(folder: Path) -> str:
    """A command that imports the bodies of a crawl without its database."""
    return f"'honeyguide import warc {folder / WARCS} NEW' makes a recorded web of the bodies"


def _check_kind(database: sqlite3.Connection, folder: Path) -> None:
    id, format = _pragma(database, "application_id"), format_of(database)
    if id != _ID:
        raise _other_kind(database, folder)
    if not OLDEST <= format <= _MOST_FORMATS:
        raise DamagedCrawlError(folder, f"{FILE} is damaged: no crawl has format {format}")
    if format > FORMAT:
        raise NewerCrawlError(
            f"{folder} was written by honeyguide {_writing_version(database)}"
            f" (its format is {format}, this one, {VERSION}, reads {OLDEST} to {FORMAT})"
        )


def _other_kind(database: sqlite3.Connection, folder: Path) -> HoneyguideError:
    """The error for a database that does not have honeyguide's application_id."""
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_schema")}
    if tables >= _CRAWL:
        what = f"{FILE} is damaged: its header does not name it as a crawl's"
        return DamagedCrawlError(folder, what)
    if tables:
        return NoCrawlError(f"{folder} holds no crawl: its {FILE} is a database of something else")
    return _empty(folder)


def _empty(folder: Path) -> HoneyguideError:
    """The error for a database without tables: it is damaged if bodies or a log are there."""
    if not _has_bodies(folder) and not _has_log(folder / FILE):
        return NoCrawlError(f"{folder} holds no crawl: its {FILE} is empty")
    what = f"{FILE} is cut off: nothing is left of it, and it cannot be rebuilt"
    return DamagedCrawlError(folder, what, is_repairable=False)


def _has_bodies(folder: Path) -> bool:
    return any(inside(folder, WARCS).glob("*.warc.gz"))


def _check_schema(database: sqlite3.Connection, folder: Path) -> None:
    """Raise a HoneyguideError unless the database has only plain tables that honeyguide makes."""
    for kind, name, sql in database.execute("SELECT type, name, sql FROM sqlite_schema").fetchall():
        is_ours = is_plain_table(database, kind, name, sql) or (kind == "index" and sql is None)
        if not is_ours:
            raise HoneyguideError(
                f"{folder / FILE} holds a {kind!r} {name!r}, which honeyguide did not make:"
                " the file was changed, or it is damaged"
            )


def is_plain_table(database: sqlite3.Connection, kind: str, name: str, sql: str) -> bool:
    """Whether a schema entry is one of the tables above, and neither virtual nor computed."""
    if kind != "table" or name not in {*_ADDED, *_NEW}:
        return False
    columns = database.execute(f"PRAGMA table_xinfo({name})")
    is_virtual = str(sql).upper().startswith("CREATE VIRTUAL")
    return not is_virtual and not any(hidden for *_, hidden in columns)


def has_table(database: sqlite3.Connection, name: str) -> bool:
    """Whether a table exists; folders of older versions lack some."""
    wanted = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?"
    return bool(database.execute(wanted, (name,)).fetchone()[0])


def _pragma(database: sqlite3.Connection, name: str) -> int:
    return int(database.execute(f"PRAGMA {name}").fetchone()[0])


def _writing_version(database: sqlite3.Connection) -> str:
    try:
        row = database.execute(
            "SELECT value FROM about WHERE key IN ('version', 'written_by') ORDER BY key DESC"
        ).fetchone()
    except sqlite3.Error:
        row = None
    return one_line(row[0])[:40] if row else "of another version"


def format_of(database: sqlite3.Connection) -> int:
    """The number of the format of the tables."""
    return _pragma(database, "user_version")


@contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the database of a crawl for reading; errors while it is read become HoneyguideErrors."""
    with closing(open_crawl(folder)) as database:
        try:
            yield database
        except (sqlite3.Error, ValueError, LookupError, TypeError) as error:
            if isinstance(error, sqlite3.Error) and _is_damage(error):
                raise explain(error, folder) from None
            raise HoneyguideError(f"cannot read {folder / FILE}: {one_line(error)}") from None


def connect(folder: Path, read_only: bool = False) -> sqlite3.Connection:
    """Connect to a crawl's database: usable from any thread, without automatic transactions."""
    path = inside(folder.resolve(), FILE)
    for end in BESIDE:
        inside(path.parent, FILE + end)
    where = path.as_uri()
    if path.exists() and (read_only or not os.access(folder, os.W_OK)):
        where += "?mode=ro" if _has_log(path) else "?immutable=1"
    database = sqlite3.connect(
        where, uri=True, isolation_level=None, check_same_thread=False, timeout=30
    )
    database.execute("PRAGMA trusted_schema = OFF")  # a schema cannot call functions
    database.execute("PRAGMA cell_size_check = ON")
    return database


def _has_log(path: Path) -> bool:
    """Whether there is a write-ahead log with commits that the file itself may lack."""
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


def about(database: sqlite3.Connection) -> dict[str, Any]:
    """The table `about` as a dict: settings, version and counts of the crawl."""
    if format_of(database) < CHECKED:
        return dict(database.execute("SELECT key, value FROM about"))
    rows = database.execute("SELECT key, value, checksum FROM about").fetchall()
    for row in rows:
        if not checksum_matches(row):
            raise HoneyguideError(
                f"the crawl's {row[0]!r} is damaged{repair_hint(path_of(database))}"
            )
    return {key: value for key, value, _ in rows}


def path_of(database: sqlite3.Connection) -> Path:
    """The folder that an open database is in."""
    return Path(database.execute("PRAGMA database_list").fetchone()[2]).parent


def repair_hint(folder: Path) -> str:
    """The end of a sentence: the command that repairs a folder."""
    return f": 'honeyguide check {folder} --repair' repairs what can be repaired"


def put_about(database: sqlite3.Connection, known: Mapping[str, Any]) -> None:
    """Write rows of the table `about`, in the transaction that is open."""
    rows = [with_checksum(*item) for item in known.items()]
    database.executemany("REPLACE INTO about VALUES (?, ?, ?)", rows)


def settings(folder: Path) -> dict[str, Any]:
    """The settings of a crawl, as fields of `Plan`."""
    with reading(folder) as database:
        said: dict[str, Any] = json.loads(about(database)["settings"])
    return said


def explain(error: Exception, folder: Path) -> HoneyguideError:
    """Turn an error of the disk or the database into a sentence for the user."""
    again = f"'honeyguide resume {folder}' continues the crawl once"
    code = getattr(error, "sqlite_errorcode", 0) or 0
    if code == sqlite3.SQLITE_FULL or getattr(error, "errno", 0) in _FULL:
        return HoneyguideError(f"the disk is full: {again} there is room")
    if code & 0xFF == sqlite3.SQLITE_NOTADB:
        what = f"{FILE} is damaged in its first bytes: it can neither be read nor rebuilt"
        return DamagedCrawlError(folder, what, is_repairable=False)
    if _is_damage(error):
        return DamagedCrawlError(
            folder, f"{FILE} is damaged or cut off (SQLite: {one_line(error)})"
        )
    return HoneyguideError(f"cannot write to {folder} ({one_line(error)}): {again} that is fixed")


def _is_damage(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) or 0
    is_from_file = isinstance(error, sqlite3.Error | UnicodeError)
    return is_from_file and (not code or code & 0xFF in _DAMAGE)


def one_line(error: object) -> str:
    """A text on one line, unprintable characters replaced: it may quote a file from strangers."""
    line = " ".join(str(error).split())
    return "".join(char if char.isprintable() else "?" for char in line)[:_MAX_MESSAGE]


def _make_tables(database: sqlite3.Connection, settings: Mapping[str, Any]) -> None:
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("BEGIN IMMEDIATE")
    make_empty(database, FORMAT)
    put_about(
        database,
        {
            "settings": json.dumps(settings),
            "version": VERSION,
            "started": time.time(),
            "events": 0,  # number of the last one
            "visits": 0,  # rows of pages
            "hosts": 0,  # combined checksum of the table
            "unchecked": 0,  # the last event whose row has no checksum
        },
    )
    database.execute("COMMIT")


def make_empty(database: sqlite3.Connection, format: int) -> None:
    """Create the tables, in the transaction that is open, and set the number of the format."""
    for statement in _TABLES.split(";\n"):
        database.execute(statement)
    database.execute(f"PRAGMA application_id = {_ID}")
    database.execute(f"PRAGMA user_version = {format}")


def upgrade(database: sqlite3.Connection) -> None:
    """Convert the tables of an older format to this one; rows of format 1 get no checksums."""
    if format_of(database) == FORMAT:
        return
    database.execute("BEGIN IMMEDIATE")
    try:
        if format_of(database) < CHECKED:
            _add_what_is_missing(database)
        database.execute(f"PRAGMA user_version = {FORMAT}")
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def _add_what_is_missing(database: sqlite3.Connection) -> None:
    there = {name for (name,) in database.execute("SELECT name FROM sqlite_schema")}
    for statement in _TABLES.split(";\n"):
        if any(f"CREATE TABLE {name} " in statement and name not in there for name in _NEW):
            database.execute(statement)
    for table, columns in _ADDED.items():
        known = {name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")}
        for column in columns:
            if column.split()[0] not in known:
                database.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    _count(database)


def _count(database: sqlite3.Connection) -> None:
    """Store the counts and checksums that later reveal a missing row."""
    hosts = database.execute("SELECT host, what, value FROM hosts").fetchall()
    hosts = [with_checksum(*row) for row in hosts]
    database.executemany("REPLACE INTO hosts VALUES (?, ?, ?, ?)", hosts)
    events, visits = count_rows(database)
    known = dict(database.execute("SELECT key, value FROM about"))
    known |= {"events": events, "visits": visits, "unchecked": events}
    known["hosts"] = combined_checksum(row[-1] for row in hosts)
    put_about(database, known)


def count_rows(database: sqlite3.Connection) -> tuple[int, int]:
    """The highest number of an event in any table, and the number of pages."""
    tops = [
        database.execute(f"SELECT max(n) FROM {table}").fetchone()[0]  # noqa: S608
        for table in ("journal", "snapshots", "pages")
    ]
    [[visits]] = database.execute("SELECT count(*) FROM pages")
    return max(top or 0 for top in tops), visits


def warc_end(database: sqlite3.Connection, known: Mapping[str, Any]) -> tuple[str, int]:
    """The WARC file that was written last and its size, at least up to the last page's records."""
    file, size = known.get("warc", ""), known.get("warc_size", 0)
    row = database.execute(
        "SELECT * FROM pages WHERE warc IS NOT NULL ORDER BY n DESC LIMIT 1"
    ).fetchone()
    if row is not None and row[15] == file and checksum_matches(row):
        size = max(size, row[16] + row[17])
    return file, size


def with_checksum(*row: Any) -> tuple[Any, ...]:
    """A row as SQLite will return it, with its checksum appended."""
    stored = tuple(map(_as_stored, row))
    return (*stored, checksum(stored))


def checksum(row: Sequence[Any]) -> int:
    """The CRC-32 of a row as SQLite returns it."""
    return zlib.crc32(_encode(row))


def combined_checksum(checksums: Iterable[int]) -> int:
    """One checksum for all rows of a table, independent of their order."""
    return reduce(xor, checksums, 0)


def checksum_matches(row: Sequence[Any]) -> bool:
    """Whether the last value of a row is the checksum of the others."""
    *said, known = row
    try:
        return bool(checksum(said) == known)
    except (TypeError, ValueError):  # a text that is not UTF-8
        return False


def _as_stored(value: Any) -> Any:
    if type(value) is float:
        return None if math.isnan(value) else value + 0.0  # SQLite has no NaN and no -0.0
    return int(value) if type(value) is bool else value
