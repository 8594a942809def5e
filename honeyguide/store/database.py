"""The SQLite file of a crawl: its tables, and how it is opened."""

import errno
import json
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from honeyguide.errors import HoneyguideError
from honeyguide.store.lock import Lock
from honeyguide.version import VERSION

FILE = "crawl.sqlite"
FORMAT = 1  # of the tables below
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_ID = 0x686F6E79  # "hony", where SQLite keeps what kind of file it is

_TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE journal (  -- what happened since the older of two snapshots, in order
    n INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,  -- seed, take, look, visit, bound
    now REAL NOT NULL,  -- on the crawl's own clock
    url TEXT,
    data BLOB
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
    text BLOB  -- zstd; last, so that the rest is read without it
);
CREATE TABLE snapshots (n INTEGER PRIMARY KEY, now REAL NOT NULL, file TEXT NOT NULL);
"""

# made when a crawl is opened: older ones were begun without it
HOSTS = """
CREATE TABLE IF NOT EXISTS hosts (  -- what the world has learnt of each
    host TEXT, what TEXT, value REAL NOT NULL, PRIMARY KEY (host, what)
) WITHOUT ROWID
"""


def create(folder: Path, settings: Mapping[str, Any]) -> None:
    """Make a folder the place of a new crawl with these settings."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = Lock(folder)
    except OSError as error:
        raise HoneyguideError(f"cannot write to {folder}: {error.strerror}") from None
    try:
        if holds_crawl(folder):
            raise HoneyguideError(
                f"{folder} already holds a crawl: go on with 'honeyguide resume {folder}'"
                " or choose another folder"
            )
        with closing(connect(folder)) as database:
            _make_tables(database, settings)
    except sqlite3.Error as error:
        raise explain(error, folder) from None
    finally:
        lock.release()


def holds_crawl(folder: Path) -> bool:
    """Whether a crawl was begun in a folder; one killed while it was created was not."""
    path = folder / FILE
    if not path.exists():
        return False
    with closing(connect(folder)) as database:
        try:
            return bool(database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0])
        except sqlite3.DatabaseError:
            return True  # something else, that must not be overwritten


def open_crawl(folder: Path) -> sqlite3.Connection:
    """Open the database of a crawl, or say why that cannot be done."""
    path = folder / FILE
    if not path.exists():
        raise HoneyguideError(f"{folder} holds no crawl")
    try:
        database = connect(folder)
        id, format = (
            database.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
    except sqlite3.Error as error:
        raise explain(error, folder) from None
    if id == _ID and format == FORMAT:
        return database
    database.close()
    if id == _ID:
        raise HoneyguideError(
            f"{folder} was written by another version of honeyguide"
            f" (its format is {format}, this one reads {FORMAT})"
        )
    raise HoneyguideError(f"{folder} holds no crawl: {path.name} is something else")


@contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """The database of a crawl to read from; damage that shows is told in a sentence."""
    with closing(open_crawl(folder)) as database:
        try:
            yield database
        except (sqlite3.Error, ValueError, LookupError) as error:
            raise HoneyguideError(f"cannot read {folder / FILE}: {error}") from None


def connect(folder: Path) -> sqlite3.Connection:
    """A connection that may move between threads and leaves transactions to its user."""
    path = (folder / FILE).resolve()
    where = path.as_uri()
    if path.exists() and not os.access(folder, os.W_OK):
        begun = path.with_name(f"{path.name}-wal")  # visits that are not in the file itself yet
        where += "?mode=ro" if begun.exists() and begun.stat().st_size else "?immutable=1"
    return sqlite3.connect(
        where, uri=True, isolation_level=None, check_same_thread=False, timeout=30
    )


def about(database: sqlite3.Connection) -> dict[str, Any]:
    """What is known about the crawl as a whole."""
    return dict(database.execute("SELECT key, value FROM about"))


def settings(folder: Path) -> dict[str, Any]:
    """The settings that a crawl was begun with."""
    with reading(folder) as database:
        said: dict[str, Any] = json.loads(about(database)["settings"])
    return said


def explain(error: Exception, folder: Path) -> HoneyguideError:
    """What an error of the disk or the database means to the user."""
    again = f"'honeyguide resume {folder}' goes on once"
    code = getattr(error, "sqlite_errorcode", 0)
    if code == sqlite3.SQLITE_FULL or getattr(error, "errno", 0) in _FULL:
        return HoneyguideError(f"the disk is full: {again} there is room")
    if code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return HoneyguideError(f"{folder / FILE} is damaged: {error}")
    return HoneyguideError(f"cannot write to {folder} ({error}): {again} that is mended")


def _make_tables(database: sqlite3.Connection, settings: Mapping[str, Any]) -> None:
    database.execute("PRAGMA journal_mode = WAL")
    known = {
        "settings": json.dumps(settings),
        "version": VERSION,
        "started": time.time(),
    }
    database.execute("BEGIN IMMEDIATE")
    for statement in _TABLES.split(";\n"):
        database.execute(statement)
    database.executemany("INSERT INTO about VALUES (?, ?)", known.items())
    database.execute(f"PRAGMA application_id = {_ID}")
    database.execute(f"PRAGMA user_version = {FORMAT}")
    database.execute("COMMIT")
