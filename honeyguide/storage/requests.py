"""The table `requests`: one row for each request that a crawl has sent."""

import sqlite3
from collections.abc import Iterator
from typing import Any

from honeyguide.contracts import Request
from honeyguide.errors import HoneyguideError
from honeyguide.storage.database import (
    checksum_matches,
    has_table,
    path_of,
    repair_hint,
    with_checksum,
)

_INSERT = "INSERT INTO requests VALUES (NULL,?,?,?,?,?,?,?,?,?,?)"
_COLUMNS = "host, url, sent, seconds, status, failure, bytes, retry_after, location, checksum"


def add(database: sqlite3.Connection, request: Request) -> None:
    """Insert a request, in the transaction that is open."""
    database.execute(_INSERT, with_checksum(*request))


def count_and_begin(database: sqlite3.Connection) -> tuple[int, float | None]:
    """How many requests are stored, and when the first was sent; folders of 0.1 hold none."""
    if not has_table(database, "requests"):
        return 0, None
    [[count, begin]] = database.execute("SELECT count(*), min(sent) FROM requests")
    return count, begin


def by_host(database: sqlite3.Connection, host: str = "") -> Iterator[Request]:
    """The requests to one host (or all), ordered by host, then by the time they ended."""
    which, chosen = ("WHERE host = ?", (host,)) if host else ("", ())
    query = f"SELECT {_COLUMNS} FROM requests {which} ORDER BY host, n"  # noqa: S608 no input in it
    return (_checked(row, database) for row in database.execute(query, chosen))


def damaged(database: sqlite3.Connection) -> Iterator[int]:
    """The numbers of damaged rows."""
    rows = database.execute(f"SELECT n, {_COLUMNS} FROM requests")  # noqa: S608 no input in it
    return (n for n, *row in rows if not checksum_matches(row))


def _checked(row: tuple[Any, ...], database: sqlite3.Connection) -> Request:
    if not checksum_matches(row):
        raise HoneyguideError(f"a stored request is damaged{repair_hint(path_of(database))}")
    return Request(*row[:-1])
