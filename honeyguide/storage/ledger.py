"""Rows of the database, written by a thread of their own in batches."""

import queue
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import zstandard

from honeyguide.contracts import UNWANTED, Link, OfHost, Request, Visit
from honeyguide.disk.serialise import pack_links, text_to_bytes
from honeyguide.storage import requests
from honeyguide.storage.database import put_about, with_checksum
from honeyguide.storage.recent import Absorbed, capture_begun
from honeyguide.warc.writer import Place, WarcWriter

Job = Callable[[], None]
Steps = Iterator[None]  # a long job: it may be left after any of them
INSERT_PAGE = "INSERT INTO pages VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_FIND_HOST = "SELECT checksum FROM hosts WHERE host = ? AND what = ?"


class Writer:
    """Does jobs in order and commits what they did once a second, or at once when asked to.

    After an error nothing more is done, and the error reaches whoever hands in the next job.
    """

    def __init__(
        self,
        commit: Job,
        seconds: float = 1.0,  # from a job to its commit, at most
        jobs: int = 2000,  # in one commit, at most
        max_waiting: int = 64_000_000,  # bytes handed in and not yet written
    ) -> None:
        self._commit = commit
        self._seconds = seconds
        self._jobs = jobs
        self._max_waiting = max_waiting
        self._queue: queue.SimpleQueue[tuple[Job, int] | threading.Event | None] = (
            queue.SimpleQueue()
        )
        self._long: deque[Steps] = deque()
        self._given = self._done = 0  # bytes; each is changed by one thread only
        self._open = 0  # jobs done and not committed
        self._due = 0.0
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="honeyguide store", daemon=True)
        self._thread.start()

    def put(self, job: Job, size: int = 0) -> None:
        """Hand in a job that holds so many bytes; waits only when the disk is far behind."""
        self._raise()
        if size:  # only the thread that absorbs hands in anything large
            self._given += size
        self._queue.put((job, size))
        if self._given - self._done > self._max_waiting:
            while self._given - self._done > self._max_waiting // 2:
                time.sleep(0.002)

    def put_long(self, steps: Steps) -> None:
        """Hand in a job that is done little by little, so that others do not wait for it."""
        self.put(lambda: self._long.append(steps))

    def flush(self) -> None:
        """Return once all that was handed in is committed."""
        done = threading.Event()
        self._queue.put(done)
        done.wait()
        self._raise()

    def stop(self) -> None:
        """End the thread; what is not committed by now stays so."""
        self._queue.put(None)
        self._thread.join()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        while (item := self._next()) is not None:
            if isinstance(item, threading.Event):
                while self._long:
                    self._do(self._step)
                self._finish()
                item.set()
                continue
            job, size = item
            self._do(job)
            self._done += size

    def _do(self, job: Job) -> None:
        self._try(job)
        self._open += 1
        if self._open == 1:
            self._due = time.monotonic() + self._seconds
        if self._open >= self._jobs or time.monotonic() >= self._due:
            self._finish()

    def _next(self) -> tuple[Job, int] | threading.Event | None:
        """What was handed in next; in between, a step of what takes long."""
        if self._long:
            self._do(self._step)
        while self._open or self._long:
            wait = 0.0 if self._long else self._due - time.monotonic()
            try:
                return self._queue.get(timeout=max(wait, 0.0))
            except queue.Empty:
                if self._long:
                    self._do(self._step)
                else:
                    self._finish()
        return self._queue.get()

    def _step(self) -> None:
        steps = self._long[0]
        if next(steps, self) is self:  # it is done
            self._long.popleft()

    def _finish(self) -> None:
        self._try(self._commit)
        self._open = 0

    def _try(self, job: Job) -> None:
        if self._error is None:
            try:
                job()
            except Exception as error:  # carried to the thread that can tell the user
                self._error = error
                self._long.clear()


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
