"""The requests that a crawl has sent, one row each: what a site's owner may ask about."""

import sqlite3
from collections.abc import Iterator
from typing import Any

from honeyguide.contracts import Request
from honeyguide.errors import HoneyguideError
from honeyguide.storage.database import cure, is_whole, path_of, with_checksum

_INSERT = "INSERT INTO requests VALUES (NULL,?,?,?,?,?,?,?,?,?,?)"
_COLUMNS = "host, url, sent, seconds, status, failure, bytes, retry_after, location, checksum"


def add(database: sqlite3.Connection, request: Request) -> None:
    """Keep a request."""
    database.execute(_INSERT, with_checksum(*request))


def by_host(database: sqlite3.Connection, host: str = "") -> Iterator[Request]:
    """The requests to one host or to all, host after host, each host's in their order."""
    which, chosen = ("WHERE host = ?", (host,)) if host else ("", ())
    query = f"SELECT {_COLUMNS} FROM requests {which} ORDER BY host, n"  # noqa: S608 no input in it
    return (_whole(row, database) for row in database.execute(query, chosen))


def damaged(database: sqlite3.Connection) -> Iterator[int]:
    """The numbers of rows that are not what was written."""
    rows = database.execute(f"SELECT n, {_COLUMNS} FROM requests")  # noqa: S608 no input in it
    return (n for n, *row in rows if not is_whole(row))


def _whole(row: tuple[Any, ...], database: sqlite3.Connection) -> Request:
    if not is_whole(row):
        raise HoneyguideError(f"a request that was kept is damaged{cure(path_of(database))}")
    return Request(*row[:-1])
