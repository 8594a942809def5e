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
BESIDE = ("-wal", "-shm", "-journal")  # what SQLite writes next to it
_TOLD = 300  # characters of an error
FORMAT = 2  # of the tables below
OLDEST = 1  # format that can be read: its rows have no checksums, its snapshots are files
_MOST_FORMATS = 255  # that there will ever be; a larger number is damage
_DAMAGE = (  # what SQLite says of a file that is not what was written
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_TOOBIG,
    sqlite3.SQLITE_FORMAT,
)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_ID = 0x686F6E79  # "hony", where SQLite keeps what kind of file it is
_LEAST = 512  # bytes of any database: its smallest block
_CRAWL = {"about", "journal", "pages"}  # tables that every crawl has
_encode = msgspec.msgpack.Encoder().encode

# every row ends in a checksum of the rest; rows of format 1 have none
_TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value, checksum INTEGER) WITHOUT ROWID;
CREATE TABLE journal (  -- what happened since the older of two snapshots, in order
    n INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,  -- seed, take, look, visit, bound
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
_NEW = ("pieces", "hosts", "requests")  # tables that folders of format 1 may be without
_ADDED = {  # columns that they are without
    "about": ("checksum INTEGER",),
    "journal": ("checksum INTEGER",),
    "pages": ("checksum INTEGER",),
    "hosts": ("checksum INTEGER",),
    "snapshots": ("skeleton BLOB", "hashes BLOB", "checksum INTEGER"),
}


class NoCrawlError(HoneyguideError):
    """There is nothing in a folder that a crawl could have left, or no folder."""


class NewerCrawlError(HoneyguideError):
    """A later version wrote the crawl."""


class DamagedCrawlError(HoneyguideError):
    """The database of a crawl is not what was written."""

    def __init__(self, folder: Path, what: str, can_be_mended: bool = True) -> None:
        left = f": 'honeyguide check {folder}' says what can still be used"
        super().__init__(f"{folder / what}{cure(folder) if can_be_mended else left}")
        self.what = what  # it begins with the name of the file
        self.can_be_mended = can_be_mended


def create(folder: Path, settings: Mapping[str, Any]) -> None:
    """Make a folder the place of a new crawl with these settings."""
    try:
        make_folder(folder)
        lock = Lock(folder)
    except OSError as error:
        raise HoneyguideError(f"cannot write to {folder}: {error.strerror}") from None
    try:
        if holds_crawl(folder):
            raise HoneyguideError(
                f"{folder} already holds a crawl: go on with 'honeyguide resume {folder}'"
                " or choose another folder"
            )
        if _has_bodies(folder):  # the first page would take their place
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
    """Whether a crawl was begun in a folder; one killed while it was created was not."""
    path = inside(folder, FILE)
    if not path.exists():
        return False
    if path.is_dir():
        raise HoneyguideError(f"cannot begin a crawl in {folder}: its {FILE} is a folder")
    if path.stat().st_size < _LEAST and _has_begun(path):
        return True  # SQLite would remove the log
    with closing(connect(folder, only_read=_has_begun(path))) as database:
        try:
            return bool(database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0])
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise explain(error, folder) from None
            return True  # something else, that must not be overwritten


def open_crawl(folder: Path, only_read: bool | None = None) -> sqlite3.Connection:
    """Open the database of a crawl, or say why that cannot be done.

    Where it is not said: only to read where there is a log, which the last connection to write
    would put into the file and remove as it closes, with all that shows whether it is damaged.
    """
    path = crawl_file(folder)
    if path.stat().st_size < _LEAST:  # SQLite would remove the log of an empty file
        raise _empty(folder)
    database = None
    try:
        database = connect(folder, _has_begun(path) if only_read is None else only_read)
        _check_kind(database, folder)
        _check_schema(database, folder)
        database.execute("PRAGMA synchronous = FULL")  # a commit is safe before the next begins
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
    """Where the database of a crawl is; NoCrawlError where there can be none."""
    try:
        is_there, is_folder = folder.exists(), folder.is_dir()
    except OSError as error:
        raise HoneyguideError(f"cannot read {folder}: {error.strerror}") from None
    if not is_there:
        raise NoCrawlError(f"{folder} does not exist")
    if not is_folder:
        raise NoCrawlError(f"{folder} is a file: name the folder that holds the crawl")
    path = inside(folder, FILE)
    if path.is_dir():
        raise NoCrawlError(f"{folder} holds no crawl: its {FILE} is a folder")
    if not path.exists():
        raise NoCrawlError(f"{folder} holds no crawl: there is no {FILE} in it{_rest(folder)}")
    return path


def _rest(folder: Path) -> str:
    """What can be used of a crawl without a database, to end a sentence with."""
    return f"; {rescue(folder)}" if _has_bodies(folder) else ""


def rescue(folder: Path) -> str:
    """How bodies are read that no database speaks of."""
    return f"'honeyguide import warc {folder / WARCS} NEW' makes a recorded web of the bodies"


def _check_kind(database: sqlite3.Connection, folder: Path) -> None:
    id, format = _pragma(database, "application_id"), format_of(database)
    if id != _ID:
        raise _other_kind(database, folder)
    if not OLDEST <= format <= _MOST_FORMATS:
        raise DamagedCrawlError(folder, f"{FILE} is damaged: no crawl has format {format}")
    if format > FORMAT:
        raise NewerCrawlError(
            f"{folder} was written by honeyguide {_writer(database)}"
            f" (its format is {format}, this one, {VERSION}, reads {OLDEST} to {FORMAT})"
        )


def _other_kind(database: sqlite3.Connection, folder: Path) -> HoneyguideError:
    """What a file is that does not say that it is a crawl's."""
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_schema")}
    if tables >= _CRAWL:
        what = f"{FILE} is damaged: its first bytes do not say that it is a crawl's"
        return DamagedCrawlError(folder, what)
    if tables:
        return NoCrawlError(f"{folder} holds no crawl: its {FILE} is a database of something else")
    return _empty(folder)


def _empty(folder: Path) -> HoneyguideError:
    """What a database without tables is: cut off where other files show that there was a crawl."""
    if not _has_bodies(folder) and not _has_begun(folder / FILE):
        return NoCrawlError(f"{folder} holds no crawl: its {FILE} is empty")
    what = f"{FILE} is cut off: nothing is left of it, and it cannot be rebuilt"
    return DamagedCrawlError(folder, what, can_be_mended=False)


def _has_bodies(folder: Path) -> bool:
    return any(inside(folder, WARCS).glob("*.warc.gz"))


def _check_schema(database: sqlite3.Connection, folder: Path) -> None:
    """Whoever sent the folder: plain tables that honeyguide makes, and nothing that acts."""
    for kind, name, sql in database.execute("SELECT type, name, sql FROM sqlite_schema").fetchall():
        is_ours = is_plain_table(database, kind, name, sql) or (kind == "index" and sql is None)
        if not is_ours:
            raise HoneyguideError(
                f"{folder / FILE} holds a {kind!r} {name!r}, which honeyguide did not make:"
                " the file was changed, or it is damaged"
            )


def is_plain_table(database: sqlite3.Connection, kind: str, name: str, sql: str) -> bool:
    """Whether something in a schema is one of the tables above, which keeps and does not act."""
    if kind != "table" or name not in {*_ADDED, *_NEW}:
        return False
    columns = database.execute(f"PRAGMA table_xinfo({name})")
    is_virtual = str(sql).upper().startswith("CREATE VIRTUAL")
    return not is_virtual and not any(hidden for *_, hidden in columns)


def _pragma(database: sqlite3.Connection, name: str) -> int:
    return int(database.execute(f"PRAGMA {name}").fetchone()[0])


def _writer(database: sqlite3.Connection) -> str:
    try:
        row = database.execute(
            "SELECT value FROM about WHERE key IN ('version', 'written_by') ORDER BY key DESC"
        ).fetchone()
    except sqlite3.Error:
        row = None
    return told(row[0])[:40] if row else "of another version"


def format_of(database: sqlite3.Connection) -> int:
    """Which format its tables have."""
    return _pragma(database, "user_version")


@contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """The database of a crawl to read from; damage that shows is told in a sentence."""
    with closing(open_crawl(folder)) as database:
        try:
            yield database
        except (sqlite3.Error, ValueError, LookupError, TypeError) as error:
            if isinstance(error, sqlite3.Error) and _is_damage(error):
                raise explain(error, folder) from None
            raise HoneyguideError(f"cannot read {folder / FILE}: {told(error)}") from None


def connect(folder: Path, only_read: bool = False) -> sqlite3.Connection:
    """A connection that may move between threads and leaves transactions to its user."""
    path = inside(folder.resolve(), FILE)
    for end in BESIDE:
        inside(path.parent, FILE + end)
    where = path.as_uri()
    if path.exists() and (only_read or not os.access(folder, os.W_OK)):
        where += "?mode=ro" if _has_begun(path) else "?immutable=1"
    database = sqlite3.connect(
        where, uri=True, isolation_level=None, check_same_thread=False, timeout=30
    )
    database.execute("PRAGMA trusted_schema = OFF")  # no function runs because the file says so
    database.execute("PRAGMA cell_size_check = ON")
    return database


def _has_begun(path: Path) -> bool:
    """Whether there are commits that are not in the file itself yet."""
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


def about(database: sqlite3.Connection) -> dict[str, Any]:
    """What is known about the crawl as a whole."""
    if format_of(database) < FORMAT:
        return dict(database.execute("SELECT key, value FROM about"))
    rows = database.execute("SELECT key, value, checksum FROM about").fetchall()
    for row in rows:
        if not is_whole(row):
            raise HoneyguideError(f"the crawl's {row[0]!r} is damaged{cure(path_of(database))}")
    return {key: value for key, value, _ in rows}


def path_of(database: sqlite3.Connection) -> Path:
    """The folder of a crawl's database."""
    return Path(database.execute("PRAGMA database_list").fetchone()[2]).parent


def cure(folder: Path) -> str:
    """What can be done about damage, to end a sentence with."""
    return f": 'honeyguide check {folder} --repair' mends what can be mended"


def put_about(database: sqlite3.Connection, known: Mapping[str, Any]) -> None:
    """Keep what is known about the crawl as a whole, in the transaction that is open."""
    rows = [with_checksum(*item) for item in known.items()]
    database.executemany("REPLACE INTO about VALUES (?, ?, ?)", rows)


def settings(folder: Path) -> dict[str, Any]:
    """The settings that a crawl was begun with."""
    with reading(folder) as database:
        said: dict[str, Any] = json.loads(about(database)["settings"])
    return said


def explain(error: Exception, folder: Path) -> HoneyguideError:
    """What an error of the disk or the database means to the user."""
    again = f"'honeyguide resume {folder}' goes on once"
    code = getattr(error, "sqlite_errorcode", 0) or 0
    if code == sqlite3.SQLITE_FULL or getattr(error, "errno", 0) in _FULL:
        return HoneyguideError(f"the disk is full: {again} there is room")
    if code & 0xFF == sqlite3.SQLITE_NOTADB:
        what = f"{FILE} is damaged in its first bytes: none of it can be read, nor be rebuilt"
        return DamagedCrawlError(folder, what, can_be_mended=False)
    if _is_damage(error):
        return DamagedCrawlError(folder, f"{FILE} is damaged or cut off (SQLite: {told(error)})")
    return HoneyguideError(f"cannot write to {folder} ({told(error)}): {again} that is mended")


def _is_damage(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) or 0
    is_from_file = isinstance(error, sqlite3.Error | UnicodeError)
    return is_from_file and (not code or code & 0xFF in _DAMAGE)


def told(error: object) -> str:
    """What an error says, on one line: it may quote what somebody wrote into the file."""
    line = " ".join(str(error).split())
    return "".join(char if char.isprintable() else "?" for char in line)[:_TOLD]


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
            "events": 0,  # written so far
            "visits": 0,  # rows of pages
            "hosts": 0,  # checksums of hosts, combined
            "unchecked": 0,  # events before checksums were kept
        },
    )
    database.execute("COMMIT")


def make_empty(database: sqlite3.Connection, format: int) -> None:
    """Make the tables, in the transaction that is open; with rows of which format to come?"""
    for statement in _TABLES.split(";\n"):
        database.execute(statement)
    database.execute(f"PRAGMA application_id = {_ID}")
    database.execute(f"PRAGMA user_version = {format}")


def upgrade(database: sqlite3.Connection) -> None:
    """Bring the tables of an older format to this one; rows without a checksum stay so."""
    if format_of(database) == FORMAT:
        return
    database.execute("BEGIN IMMEDIATE")
    try:
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
    """Note what rows there are, so that it shows when one is missing."""
    hosts = database.execute("SELECT host, what, value FROM hosts").fetchall()
    hosts = [with_checksum(*row) for row in hosts]
    database.executemany("REPLACE INTO hosts VALUES (?, ?, ?, ?)", hosts)
    events, visits = count_rows(database)
    known = dict(database.execute("SELECT key, value FROM about"))
    known |= {"events": events, "visits": visits, "unchecked": events}
    known["hosts"] = combined(row[-1] for row in hosts)
    put_about(database, known)


def count_rows(database: sqlite3.Connection) -> tuple[int, int]:
    """The number of the last event that left a trace, and how many pages there are."""
    tops = [
        database.execute(f"SELECT max(n) FROM {table}").fetchone()[0]  # noqa: S608
        for table in ("journal", "snapshots", "pages")
    ]
    [[visits]] = database.execute("SELECT count(*) FROM pages")
    return max(top or 0 for top in tops), visits


def warc_end(database: sqlite3.Connection, known: Mapping[str, Any]) -> tuple[str, int]:
    """The WARC file that was written last and its bytes: never less than a page's row speaks of."""
    file, size = known.get("warc", ""), known.get("warc_size", 0)
    row = database.execute(
        "SELECT * FROM pages WHERE warc IS NOT NULL ORDER BY n DESC LIMIT 1"
    ).fetchone()
    if row is not None and row[15] == file and is_whole(row):
        size = max(size, row[16] + row[17])
    return file, size


def with_checksum(*row: Any) -> tuple[Any, ...]:
    """A row as the database gives it back, and a checksum of it."""
    kept = tuple(map(_as_kept, row))
    return (*kept, checksum(kept))


def checksum(row: Sequence[Any]) -> int:
    """The checksum of a row that came from the database."""
    return zlib.crc32(_encode(row))


def combined(checksums: Iterable[int]) -> int:
    """One number for all rows of a table, whatever their order."""
    return reduce(xor, checksums, 0)


def is_whole(row: Sequence[Any]) -> bool:
    """Whether a row that ends in its checksum is what was written."""
    *said, known = row
    try:
        return bool(checksum(said) == known)
    except (TypeError, ValueError):  # a text that is none
        return False


def _as_kept(value: Any) -> Any:
    if type(value) is float:
        return None if math.isnan(value) else value + 0.0  # SQLite knows no NaN and no -0.0
    return int(value) if type(value) is bool else value
