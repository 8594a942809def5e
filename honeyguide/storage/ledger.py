"""Write the rows of the database in a thread of their own, committed in batches."""

import queue
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import zstandard

from honeyguide.contracts import UNWANTED, Link, OfHost, Request, Verdict, Visit
from honeyguide.disk.serialise import pack_links, text_to_bytes
from honeyguide.storage import requests
from honeyguide.storage.database import put_about, with_checksum
from honeyguide.storage.recent import Absorbed, capture_time
from honeyguide.storage.verdicts import JudgeChange, pack_judge, unpack_verdicts
from honeyguide.warc.writer import Place, WarcWriter

Job = Callable[[], None]
Steps = Iterator[None]  # a long job: other jobs may run between two steps
INSERT_PAGE = "INSERT INTO pages VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
UPDATE_VERDICT = "UPDATE pages SET relevance=?, relevant=?, reasons=?, checksum=? WHERE n=?"
_FIRST_PAGES = "SELECT * FROM pages ORDER BY n LIMIT ?"
_RELEVANCE, _RELEVANT, _REASONS = 6, 7, 8  # columns of pages
_FIND_HOST = "SELECT checksum FROM hosts WHERE host = ? AND what = ?"


class Writer:
    """A thread that does jobs in order and commits once a second, or when `flush` is called.

    After an error it does nothing more, and the next call of `put` or `flush` raises the error.
    """

    def __init__(
        self,
        commit: Job,
        seconds: float = 1.0,  # between a job and its commit, at most
        jobs: int = 2000,  # in one commit, at most
        max_waiting: int = 64_000_000,  # bytes of queued jobs, at most
    ) -> None:
        self._commit = commit
        self._seconds = seconds
        self._jobs = jobs
        self._max_waiting = max_waiting
        self._queue: queue.SimpleQueue[tuple[Job, int] | threading.Event | None] = (
            queue.SimpleQueue()
        )
        self._long: deque[Steps] = deque()
        self._given = self._done = 0  # bytes of jobs; each is changed by one thread only
        self._uncommitted = 0  # jobs
        self._due = 0.0  # when to commit, on the monotonic clock
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="honeyguide store", daemon=True)
        self._thread.start()

    def put(self, job: Job, size: int = 0) -> None:
        """Queue a job that holds `size` bytes; block while more than `max_waiting` are queued."""
        self._raise()
        if size:  # only one thread queues large jobs
            self._given += size
        self._queue.put((job, size))
        if self._given - self._done > self._max_waiting:
            while self._given - self._done > self._max_waiting // 2:
                time.sleep(0.002)

    def put_long(self, steps: Steps) -> None:
        """Queue a job that is done step by step, so that other jobs do not wait for all of it."""
        self.put(lambda: self._long.append(steps))

    def hasten(self) -> None:
        """Commit as soon as the jobs that are queued now are done."""
        self.put(self._expire)

    def flush(self) -> None:
        """Return when all queued jobs are done and committed."""
        done = threading.Event()
        self._queue.put(done)
        done.wait()
        self._raise()

    def stop(self) -> None:
        """End the thread without a commit."""
        self._queue.put(None)
        self._thread.join()

    def _expire(self) -> None:
        self._due = 0.0

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        while (item := self._next()) is not None:
            if isinstance(item, threading.Event):
                while self._long:
                    self._do(self._step)
                self._commit_jobs()
                item.set()
                continue
            job, size = item
            self._do(job)
            self._done += size

    def _do(self, job: Job) -> None:
        self._try(job)
        self._uncommitted += 1
        if self._uncommitted == 1:
            self._due = time.monotonic() + self._seconds
        if self._uncommitted >= self._jobs or time.monotonic() >= self._due:
            self._commit_jobs()

    def _next(self) -> tuple[Job, int] | threading.Event | None:
        """Wait for the next item of the queue; do steps of long jobs, and commits that are due."""
        if self._long:
            self._do(self._step)
        while self._uncommitted or self._long:
            wait = 0.0 if self._long else self._due - time.monotonic()
            try:
                return self._queue.get(timeout=max(wait, 0.0))
            except queue.Empty:
                if self._long:
                    self._do(self._step)
                else:
                    self._commit_jobs()
        return self._queue.get()

    def _step(self) -> None:
        steps = self._long[0]
        if next(steps, self) is self:  # no step is left
            self._long.popleft()

    def _commit_jobs(self) -> None:
        self._try(self._commit)
        self._uncommitted = 0

    def _try(self, job: Job) -> None:
        if self._error is None:
            try:
                job()
            except Exception as error:  # raised again in the thread that calls put or flush
                self._error = error
                self._long.clear()


class Ledger:
    """Writes events, pages, hosts and requests to the database, and bodies to WARC files."""

    def __init__(self, database: sqlite3.Connection, warc: WarcWriter) -> None:
        self._database = database
        self._warc = warc
        self.visits = 0  # rows of pages
        self.hosts = 0  # combined checksum of the rows of hosts
        self.events = 0  # number of the last event
        self._about: dict[str, Any] = {}  # rows of `about` for the next commit
        self._compress = zstandard.ZstdCompressor(level=1).compress

    def write_seeds(self, n: int, now: float, links: Sequence[Link]) -> None:
        """Write event n: the seeds."""
        self._event(n, "seed", now, None, self._compress(pack_links(links)))

    def write_choice(self, n: int, now: float, url: str, why: bytes | None = None) -> None:
        """Write event n: a link was chosen, and why (see storage/choices.py)."""
        self._event(n, "take", now, clean(url), why)

    def write_parked(self, n: int, now: float) -> None:
        """Write event n: no link was chosen, but some were parked."""
        self._event(n, "look", now)

    def write_memory_limit(self, n: int, now: float, max_bytes: int) -> None:
        """Write event n: the memory limit of the tables changed."""
        self._event(n, "bound", now, str(max_bytes))

    def write_visit(
        self,
        n: int,
        now: float,
        absorbed: Absorbed,
    ) -> None:
        """Write event n, an absorbed visit: its page, its body and what was learnt of hosts."""
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

    def write_revision(self, n: int, now: float, packed: bytes) -> None:
        """Write event n: the first visits have these verdicts now, one for each."""
        self._event(n, "revise", now, None, self._compress(packed))
        verdicts = unpack_verdicts(packed)
        rows = self._database.execute(_FIRST_PAGES, (len(verdicts),)).fetchall()
        for row, verdict in zip(rows, verdicts, strict=True):
            self._revise(row, verdict)

    def write_judge(
        self, n: int, now: float, judge: str, change: JudgeChange, counted: Mapping[int, Verdict]
    ) -> None:
        """Write event n: another judge, its verdicts, and what visits count for by them."""
        self._event(n, "judge", now, clean(judge), self._compress(pack_judge(change)))
        for visit, verdict in counted.items():
            row = self._database.execute("SELECT * FROM pages WHERE n = ?", (visit,)).fetchone()
            self._revise(row, verdict)

    def write_order(
        self, n: int, now: float, file: str, packed: bytes, known: Mapping[str, Any]
    ) -> None:
        """Write event n: a person's order, by its file; `known` become rows of `about`."""
        self._event(n, "order", now, clean(file), self._compress(packed))
        self.note(**known)

    def write_request(self, request: Request) -> None:
        """Write a request that has ended; it is no event."""
        self.begin_transaction()
        requests.add(self._database, request)

    def in_transaction(self, steps: Iterator[None]) -> Iterator[None]:
        """Run the steps of a long job, each in an open transaction."""
        self.begin_transaction()
        for step in steps:
            yield step
            self.begin_transaction()

    def note(self, **about: Any) -> None:
        """Set rows of the table `about` at the next commit."""
        self._about |= about

    def commit(self) -> None:
        """Sync the bodies, then commit the rows, so that no row refers to a missing body."""
        self.begin_transaction()
        self._warc.sync()
        self.note(warc=self._warc.file, warc_size=self._warc.size)
        self.note(events=self.events, visits=self.visits, hosts=self.hosts)
        put_about(self._database, self._about)
        self._about = {}
        self._database.execute("COMMIT")

    def begin_transaction(self) -> None:
        """Open a transaction unless one is open."""
        if not self._database.in_transaction:
            self._database.execute("BEGIN IMMEDIATE")

    def _event(
        self, n: int, kind: str, now: float, url: str | None = None, data: bytes | None = None
    ) -> None:
        self.begin_transaction()
        row = with_checksum(n, kind, float(now), url, data)
        self._database.execute("INSERT INTO journal VALUES (?,?,?,?,?,?)", row)
        self.events = n

    def _revise(self, row: Sequence[Any], verdict: Verdict) -> None:
        """Replace the verdict in a row of `pages`, unless it is the same."""
        changed = list(row[:-1])
        changed[_RELEVANCE], changed[_RELEVANT] = float(verdict.relevance), int(verdict.relevant)
        changed[_REASONS] = _reasons(verdict)
        if changed != list(row[:-1]):
            new = with_checksum(*changed)
            values = new[_RELEVANCE], new[_RELEVANT], new[_REASONS], new[-1], new[0]
            self._database.execute(UPDATE_VERDICT, values)

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
        return self._warc.write(response, known, capture_time(visit, fetched))


def clean(text: str) -> str:
    """Replace NUL and lone surrogates, which databases and file formats refuse."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _reasons(verdict: Verdict) -> str:
    return msgspec.json.encode([clean(reason) for reason in verdict.reasons]).decode()


def _page_row(n: int, visit: Visit, score: float, fetched: float) -> tuple[Any, ...]:
    link, page, verdict, response = visit.link, visit.page, visit.verdict, visit.response
    if verdict == UNWANTED:
        page = None  # noindex: the page was read for its links only
    return (
        n,
        clean(link.url),
        page and clean(page.url),
        page and clean(page.title),
        response and response.status,
        clean(visit.failure),
        float(verdict.relevance),
        int(verdict.relevant),
        _reasons(verdict),
        float(score),
        link.depth,
        clean(link.source),
        float(fetched),
        float(visit.seconds),
        len(response.body) if response else 0,
    )
