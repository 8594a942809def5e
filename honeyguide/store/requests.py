"""The requests that a crawl has sent, one row each: what a site's owner may ask about."""

import sqlite3
from collections.abc import Iterator

from honeyguide.contracts import Request

# made when a crawl is opened: older ones were begun without it
TABLE = """
CREATE TABLE IF NOT EXISTS requests (  -- one for each that was sent, in the order of their ends
    n INTEGER PRIMARY KEY,
    host TEXT NOT NULL,
    url TEXT NOT NULL,
    sent REAL NOT NULL,  -- seconds since 1970
    seconds REAL NOT NULL,
    status INTEGER NOT NULL,  -- 0 without an answer
    failure TEXT NOT NULL,
    bytes INTEGER NOT NULL,  -- of the body, as transferred
    retry_after REAL,  -- seconds
    location TEXT NOT NULL  -- of a redirect
)
"""
_INSERT = "INSERT INTO requests VALUES (NULL,?,?,?,?,?,?,?,?,?)"
_COLUMNS = "host, url, sent, seconds, status, failure, bytes, retry_after, location"


def add(database: sqlite3.Connection, request: Request) -> None:
    """Keep a request."""
    database.execute(_INSERT, request)


def by_host(database: sqlite3.Connection, host: str = "") -> Iterator[Request]:
    """The requests to one host or to all, host after host, each host's in their order."""
    which, chosen = ("WHERE host = ?", (host,)) if host else ("", ())
    query = f"SELECT {_COLUMNS} FROM requests {which} ORDER BY host, n"  # noqa: S608 no input in it
    return (Request(*row) for row in database.execute(query, chosen))
