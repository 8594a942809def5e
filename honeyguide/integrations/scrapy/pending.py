"""Requests of a spider that wait or are being fetched; in a JOBDIR they survive a kill."""

import heapq
import logging
import sqlite3
from itertools import count
from pathlib import Path

import msgspec
from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

_log = logging.getLogger(__name__)
_TABLE = (
    "CREATE TABLE IF NOT EXISTS requests (key TEXT PRIMARY KEY, passed INT, data BLOB NOT NULL)"
)
_PUT = "INSERT OR REPLACE INTO requests VALUES (?, ?, ?)"
# keys of a request's meta
ROW = "honeyguide_row"  # the key of its row, if it is no link
PAGE = "honeyguide_page"  # the URL of the page that it is counted as

Passed = tuple[int, int, Request]  # -priority, age, request


class PendingRequests:
    """Requests behind links, by URL, and requests that are passed on, by their priority."""

    def __init__(self, spider: Spider, folder: Path | None = None) -> None:
        self._spider = spider
        self._links: dict[str, Request] = {}
        self._passed: list[Passed] = []
        self._ages = count()
        self._database: sqlite3.Connection | None = None
        if folder is not None:
            self._database = sqlite3.connect(folder / "requests.sqlite", isolation_level=None)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")  # a kill loses no commit
            self._database.execute(_TABLE)
            self._recall()

    def __len__(self) -> int:
        return len(self._passed)

    def has_link(self, url: str) -> bool:
        """Whether there is a request behind a link."""
        if url in self._links or self._database is None:
            return url in self._links
        found = self._database.execute("SELECT 1 FROM requests WHERE key = ?", (url,))
        return found.fetchone() is not None

    def put_link(self, url: str, request: Request) -> None:
        """Keep the request behind a link until it is done."""
        if not self._write(url, request, passed=False):
            self._links[url] = request

    def take_link(self, url: str) -> Request | None:
        """The request behind a link that was chosen; it stays until it is done."""
        if (request := self._links.get(url)) is not None or self._database is None:
            return request
        row = self._database.execute("SELECT data FROM requests WHERE key = ?", (url,)).fetchone()
        return None if row is None else self._read(row[0])

    def put_passed(self, request: Request) -> None:
        """Add a request that is no link; those with a higher priority come first."""
        age = next(self._ages)
        key = request.meta.setdefault(ROW, f"passed {age}")
        self._write(key, request, passed=True)
        heapq.heappush(self._passed, (-request.priority, age, request))

    def take_passed(self) -> Request | None:
        """The next request that is no link; it stays in the JOBDIR until it is done."""
        return heapq.heappop(self._passed)[2] if self._passed else None

    def done(self, key: str) -> None:
        """Forget a request: its page has come, or has failed."""
        self._links.pop(key, None)
        if self._database is not None:
            self._database.execute("DELETE FROM requests WHERE key = ?", (key,))

    def begin(self) -> None:
        """Write what follows together."""
        if self._database is not None and not self._database.in_transaction:
            self._database.execute("BEGIN")

    def commit(self) -> None:
        """Write what was added since `begin`."""
        if self._database is not None and self._database.in_transaction:
            self._database.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        if self._database is not None:
            self.commit()
            self._database.close()

    def _recall(self) -> None:
        """Let the passed requests of an earlier run wait again."""
        assert self._database is not None  # noqa: S101
        rows = "SELECT key, data FROM requests WHERE passed ORDER BY rowid"
        for key, data in self._database.execute(rows).fetchall():
            request = self._read(data)
            if PAGE in request.meta:  # a retry or redirect of a page, which is chosen again
                self.done(key)
                continue
            age = next(self._ages)
            request.meta[ROW] = key
            heapq.heappush(self._passed, (-request.priority, age, request))
        last = self._database.execute("SELECT coalesce(max(rowid), 0) FROM requests").fetchone()[0]
        self._ages = count(int(last) + len(self._passed) + 1)

    def _write(self, key: str, request: Request, passed: bool) -> bool:
        """Write a request to the JOBDIR; False if there is none, or it cannot be written."""
        if self._database is None:
            return False
        try:
            data = msgspec.msgpack.encode(request.to_dict(spider=self._spider))
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            _log.warning("%s cannot be kept in the JOBDIR, a stop loses it: %s", request, error)
            return False
        self._database.execute(_PUT, (key, passed, data))
        return True

    def _read(self, data: bytes) -> Request:
        return request_from_dict(msgspec.msgpack.decode(data), spider=self._spider)
