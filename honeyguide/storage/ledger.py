"""What is written of each event, in the writer's thread, a transaction for each batch."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import zstandard

from honeyguide.contracts import UNWANTED, Link, OfHost, Request, Visit
from honeyguide.disk.serialise import pack_links, text_to_bytes
from honeyguide.storage import requests
from honeyguide.storage.checksums import with_checksum
from honeyguide.storage.database import put_about
from honeyguide.storage.recent import Absorbed, capture_begun
from honeyguide.warc.index import Place
from honeyguide.warc.writer import WarcWriter

INSERT_PAGE = "INSERT INTO pages VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_FIND_HOST = "SELECT checksum FROM hosts WHERE host = ? AND what = ?"


class Ledger:
    """Rows of the database, and bodies beside it."""

    def __init__(self, database: sqlite3.Connection, warc: WarcWriter) -> None:
        self._database = database
        self._warc = warc
        self.visits = 0  # rows of pages
        self.hosts = 0  # checksums of the rows of hosts, combined
        self.events = 0  # the number of the last one
        self._about: dict[str, Any] = {}  # to be written with the next commit
        self._compress = zstandard.ZstdCompressor(level=1).compress

    def seed(self, n: int, now: float, links: Sequence[Link]) -> None:
        """Links were given to start from."""
        self._event(n, "seed", now, None, self._compress(pack_links(links)))

    def take(self, n: int, now: float, url: str) -> None:
        """A link was chosen."""
        self._event(n, "take", now, clean(url))

    def look(self, n: int, now: float) -> None:
        """Links were parked, none was chosen."""
        self._event(n, "look", now)

    def bound(self, n: int, now: float, max_bytes: int) -> None:
        """The tables were given another limit of memory."""
        self._event(n, "bound", now, str(max_bytes))

    def visit(
        self,
        n: int,
        now: float,
        absorbed: Absorbed,
    ) -> None:
        """A visit was absorbed."""
        visit, packed, counted, score, fetched, known = absorbed
        self._event(n, "visit", now, None, self._compress(packed))
        visit = replace(visit, verdict=counted)
        place = self._archive(visit, score, fetched)
        text = visit.page and self._compress(text_to_bytes(visit.page.text))
        row = (*_page_row(n, visit, score, fetched), *(place or (None,) * 3), text)
        self._database.execute(INSERT_PAGE, with_checksum(*row))
        self.visits += 1
        for learnt in visit.learnt:
            self._learn(learnt)
        self.note(last=fetched, **known)

    def asked(self, request: Request) -> None:
        """A request was sent, and has ended."""
        self.begin()
        requests.add(self._database, request)

    def in_transaction(self, steps: Iterator[None]) -> Iterator[None]:
        """The same steps, each in a transaction."""
        self.begin()
        for step in steps:
            yield step
            self.begin()

    def note(self, **about: Any) -> None:
        """Something is known about the crawl as a whole."""
        self._about |= about

    def commit(self) -> None:
        """Make all of it last: bodies first, so that no row speaks of one that is not there."""
        self.begin()
        self._warc.sync()
        self.note(warc=self._warc.file, warc_size=self._warc.size)
        self.note(events=self.events, visits=self.visits, hosts=self.hosts)
        put_about(self._database, self._about)
        self._about = {}
        self._database.execute("COMMIT")

    def begin(self) -> None:
        """Let what is written now be one with what comes until the commit."""
        if not self._database.in_transaction:
            self._database.execute("BEGIN IMMEDIATE")

    def _event(
        self, n: int, kind: str, now: float, url: str | None = None, data: bytes | None = None
    ) -> None:
        self.begin()
        row = with_checksum(n, kind, float(now), url, data)
        self._database.execute("INSERT INTO journal VALUES (?,?,?,?,?,?)", row)
        self.events = n

    def _learn(self, learnt: OfHost) -> None:
        key = clean(learnt.host), learnt.what
        value: Any = learnt.value  # a number, or bytes
        value = value if isinstance(value, bytes) else float(value)
        row = with_checksum(*key, value)
        before = self._database.execute(_FIND_HOST, key).fetchone()
        self._database.execute("REPLACE INTO hosts VALUES (?,?,?,?)", row)
        self.hosts ^= row[-1] ^ (before[0] if before else 0)

    def _archive(self, visit: Visit, score: float, fetched: float) -> Place | None:
        response, verdict, link = visit.response, visit.verdict, visit.link
        if response is None or not response.status:
            return None
        fields = {
            "via": link.source,
            "hopsFromSeed": str(link.depth),
            "fetchTimeMs": f"{visit.seconds * 1000:.0f}",
            "requested-url": link.url if link.url != response.url else "",
            "relevance": str(float(verdict.relevance)),
            "relevant": "true" if verdict.relevant else "false",
            "score": str(score),
            "failure": visit.failure,
        }
        known = {name: value for name, value in fields.items() if value}
        return self._warc.write(response, known, capture_begun(visit, fetched))


def clean(text: str) -> str:
    """A text that every database and file format takes."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _page_row(n: int, visit: Visit, score: float, fetched: float) -> tuple[Any, ...]:
    link, page, verdict, response = visit.link, visit.page, visit.verdict, visit.response
    if verdict == UNWANTED:
        page = None  # it was read for its links alone
    return (
        n,
        clean(link.url),
        page and clean(page.url),
        page and clean(page.title),
        response and response.status,
        clean(visit.failure),
        float(verdict.relevance),
        int(verdict.relevant),
        msgspec.json.encode([clean(reason) for reason in verdict.reasons]).decode(),
        float(score),
        link.depth,
        clean(link.source),
        float(fetched),
        float(visit.seconds),
        len(response.body) if response else 0,
    )
