"""Find visits of a crawl by URL; the crawl may be running, and its writer is never blocked."""

import json
import sqlite3
from collections.abc import Collection
from typing import NamedTuple

from honeyguide.contracts import Link
from honeyguide.storage.choices import Choice, names_in, unpack_choice
from honeyguide.storage.database import about
from honeyguide.storage.replay import unpacked_text, visited_page
from honeyguide.urls.spelling import host_of

_COLUMNS = (
    "n, url, page_url, title, status, failure, relevance, relevant, reasons, score, depth, parent,"
    " fetched, seconds, bytes"
)
_LATEST = 20_000  # visits whose links are searched
_MOST_URLS = 500  # that one query looks for


class FoundPage(NamedTuple):
    """A visit, without the text of its page."""

    n: int  # its event
    url: str  # that was asked for
    page_url: str  # after redirects; empty if there is no page
    title: str
    status: int | None
    failure: str
    relevance: float
    relevant: bool
    reasons: tuple[str, ...]  # of the judge
    score: float  # when it was chosen
    depth: int
    parent: str
    fetched: float  # seconds since 1970
    seconds: float
    bytes: int


def find_pages(database: sqlite3.Connection, urls: Collection[str]) -> dict[str, FoundPage]:
    """The last visit of each URL, asked for or reached by a redirect; others are left out.

    All rows are read, without their texts: about a second for a million.
    """
    found: dict[str, FoundPage] = {}
    wanted = list(dict.fromkeys(urls))[:_MOST_URLS]
    marks = ",".join("?" * len(wanted))
    query = f"SELECT {_COLUMNS} FROM pages WHERE url IN ({marks}) OR page_url IN ({marks})"  # noqa: S608 no input in it
    for row in database.execute(f"{query} ORDER BY n", (*wanted, *wanted)):
        page = found_page(row)
        if page.page_url in wanted and page.page_url not in found:
            found[page.page_url] = page
        if page.url in wanted:
            found[page.url] = page
    return found


def pages_of(database: sqlite3.Connection, numbers: Collection[int]) -> list[FoundPage]:
    """Visits by the numbers of their events, in that order."""
    query = f"SELECT {_COLUMNS} FROM pages WHERE n = ?"  # noqa: S608 no input in it
    rows = (database.execute(query, (n,)).fetchone() for n in numbers)
    return [found_page(row) for row in rows if row is not None]


def found_page(row: tuple[object, ...]) -> FoundPage:
    """The visit in a row of _COLUMNS."""
    n, url, page_url, title, status, failure, relevance, relevant, reasons, *rest = row
    said = tuple(json.loads(str(reasons or "[]")))
    known = (n, url, page_url or "", title or "", status, failure)
    return FoundPage(*known, relevance or 0.0, bool(relevant), said, *rest)  # type: ignore[arg-type]


def text_of(database: sqlite3.Connection, n: int) -> str:
    """The text of the page of a visit; empty if there is none."""
    row = database.execute("SELECT text FROM pages WHERE n = ?", (n,)).fetchone()
    return unpacked_text(row[0]) if row else ""


def choice_before(database: sqlite3.Connection, url: str, n: int) -> tuple[float, Choice] | None:
    """When and why a link was chosen, last before event n; None if that was not stored."""
    query = (
        "SELECT now, data FROM journal WHERE n < ? AND kind = 'take' AND url = ?"
        " ORDER BY n DESC LIMIT 1"
    )
    row = database.execute(query, (n, url)).fetchone()
    if row is None or row[1] is None:
        return None
    return row[0], unpack_choice(row[1], names_in(about(database)))


def link_on(database: sqlite3.Connection, n: int, url: str) -> Link | None:
    """The link to a URL on the page of a visit, with its anchor; None if there is none."""
    row = database.execute("SELECT * FROM journal WHERE n = ?", (n,)).fetchone()
    page = visited_page(row) if row else None
    links = [link for link in page.links if link.url == url] if page else []
    return next((link for link in links if link.anchor), links[0] if links else None)


def page_that_shows(database: sqlite3.Connection, url: str) -> tuple[str, Link | None]:
    """A page that links to a URL, and the link, among the latest pages; "" and None without one."""
    query = "SELECT * FROM journal WHERE kind = 'visit' ORDER BY n DESC LIMIT ?"
    for row in database.execute(query, (_LATEST,)):
        page = visited_page(row)
        for link in page.links if page else ():
            if link.url == url:
                return page.url if page else "", link
    return "", None


def barren_pages(database: sqlite3.Connection, url: str, n: int) -> int:
    """How many visits to the host of a URL before event n came since its last relevant page."""
    host, count = host_of(url), 0
    for each, relevant in database.execute(
        "SELECT url, relevant FROM pages WHERE n < ? ORDER BY n DESC", (n,)
    ):
        if host_of(each) == host:
            if relevant:
                break
            count += 1
    return count


def last_event(database: sqlite3.Connection) -> int:
    """The number of the last event in the database."""
    [[last]] = database.execute("SELECT max(n) FROM journal")
    return int(last or 0)
