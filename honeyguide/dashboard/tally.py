"""Counts of a crawl's visits, added up as they are stored; a million pages take about 50 MB."""

import sqlite3
from collections import Counter
from typing import Any

import numpy as np

from honeyguide.columns import Columns
from honeyguide.urls.spelling import host_of

ROWS = 20_000  # visits that are read at a time, so that no read lasts long
POINTS = 300  # of the harvest curve
LAST = 100  # visits of which the present harvest is the share
RATE_SECONDS = 60.0  # over which the rate is taken
_NEW = (
    "SELECT n, url, page_url, failure, relevant, fetched, bytes FROM pages WHERE n > ?"
    " ORDER BY n LIMIT ?"
)
_REVISED = "SELECT max(n) FROM journal WHERE n > ? AND kind IN ('revise', 'judge')"
_RELEVANT = "SELECT n, relevant FROM pages WHERE n > ? AND n <= ? ORDER BY n LIMIT ?"
Row = tuple[int, str, str | None, str, int, float, int]


class Tally:
    """What the visits of a crawl brought, by time, by host and by failure."""

    def __init__(self) -> None:
        self.last = 0  # event of the last visit that was read
        self.errors: Counter[str] = Counter()
        self.bytes = 0
        self._visits = Columns(
            event=np.int64,
            relevant=np.bool_,
            fetched=np.float64,
            host=np.int32,
            asked=np.int64,  # hash of the URL that was asked for
            reached=np.int64,  # hash of the page's URL
        )
        self._hosts: dict[str, int] = {}
        self._failures: dict[int, Counter[str]] = {}  # by host
        self._journal = 0  # the last event that was looked at for revised verdicts

    def __len__(self) -> int:
        return len(self._visits)

    def read(self, database: sqlite3.Connection) -> bool:
        """Read some more visits; return whether there may be others left."""
        rows: list[Row] = database.execute(_NEW, (self.last, ROWS)).fetchall()
        if rows:
            self._add(rows)
        if len(rows) < ROWS:
            self._read_revised(database)
        return len(rows) == ROWS

    def find(self, url: str) -> int | None:
        """The event of the last visit of a URL; None if there is none."""
        sought, visits = hash(url), self._visits
        for name in ("asked", "reached"):
            found = np.flatnonzero(visits[name] == sought)
            if len(found):
                return int(visits["event"][found[-1]])
        return None

    @property
    def relevant(self) -> int:
        """Relevant visits."""
        return int(np.count_nonzero(self._visits["relevant"]))

    @property
    def first(self) -> float | None:
        """When the first visit was stored; None without any."""
        return float(self._visits["fetched"][0]) if len(self) else None

    def harvest(self) -> float:
        """The share of relevant ones in the last visits."""
        last = self._visits["relevant"][-LAST:]
        return float(last.mean()) if len(last) else 0.0

    def rate(self, now: float) -> float:
        """Visits a second, lately: before `now`, seconds since 1970."""
        recent = len(self) - int(np.searchsorted(self._visits["fetched"], now - RATE_SECONDS))
        begin = max(now - RATE_SECONDS, self.first or now)
        return recent / max(now - begin, 1.0)

    def curve(self) -> list[tuple[int, int]]:
        """Pages fetched and relevant ones among them, at some points."""
        total = np.cumsum(self._visits["relevant"], dtype=np.int64)
        if not len(total):
            return [(0, 0)]
        places = np.unique(np.linspace(0, len(total) - 1, POINTS).astype(np.int64))
        return [(0, 0), *zip((places + 1).tolist(), total[places].tolist(), strict=True)]

    def hosts(self, count: int) -> list[dict[str, Any]]:
        """The hosts with most relevant pages, then with most pages."""
        names, of = list(self._hosts), self._visits["host"]
        pages = np.bincount(of, minlength=len(names))
        relevant = np.bincount(of, self._visits["relevant"], len(names)).astype(np.int64)
        best = np.lexsort((-pages, -relevant))[:count]
        return [
            {
                "host": names[place],
                "pages": int(pages[place]),
                "relevant": int(relevant[place]),
                "errors": self._failures.get(place, Counter()).total(),
                "failures": dict(self._failures.get(place, Counter()).most_common(3)),
            }
            for place in best.tolist()
        ]

    @property
    def host_count(self) -> int:
        """Hosts that were visited."""
        return len(self._hosts)

    def latest(self, count: int) -> list[int]:
        """The events of the latest visits, the newest first."""
        events: list[int] = self._visits["event"][-count:].tolist()
        return events[::-1]

    def _add(self, rows: list[Row]) -> None:
        hosts = [self._number(host_of(page_url or url)) for _, url, page_url, *_ in rows]
        self._visits.add(
            len(rows),
            event=[row[0] for row in rows],
            relevant=[bool(row[4]) for row in rows],
            fetched=[row[5] for row in rows],
            host=hosts,
            asked=[hash(row[1]) for row in rows],
            reached=[hash(row[2] or row[1]) for row in rows],
        )
        for row, host in zip(rows, hosts, strict=True):
            self.bytes += row[6]
            if failure := row[3]:
                self.errors[failure] += 1
                self._failures.setdefault(host, Counter())[failure] += 1
        self.last = rows[-1][0]

    def _number(self, host: str) -> int:
        return self._hosts.setdefault(host, len(self._hosts))

    def _read_revised(self, database: sqlite3.Connection) -> None:
        """Read all verdicts again if some of them were revised."""
        [[revised]] = database.execute(_REVISED, (self._journal,))
        if revised is not None and self._journal:
            self._read_verdicts(database)
        [[last]] = database.execute("SELECT max(n) FROM journal")
        self._journal = int(last or 0)

    def _read_verdicts(self, database: sqlite3.Connection) -> None:
        place, last = 0, 0
        while rows := database.execute(_RELEVANT, (last, self.last, ROWS)).fetchall():
            verdicts = np.array([bool(relevant) for _, relevant in rows])
            self._visits["relevant"][place : place + len(rows)] = verdicts
            place, last = place + len(rows), rows[-1][0]
