"""Record every event of a crawl in its folder, and replay them when it is resumed."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from sqlite3 import Error as DatabaseError
from typing import Any

from honeyguide.contracts import Frontier, Link, OfHost, Request, State, Step, Verdict, Visit
from honeyguide.disk.serialise import (
    DamagedError,
    pack_visit,
    split_state,
    text_from_bytes,
    unpack_links,
    unpack_visit,
)
from honeyguide.engine.memory import Memory
from honeyguide.engine.navigator import Lease, Navigator
from honeyguide.errors import HoneyguideError
from honeyguide.storage import recent, snapshots
from honeyguide.storage.bodies import lost_bodies
from honeyguide.storage.database import (
    FILE,
    WARCS,
    about,
    checksum_matches,
    explain,
    one_line,
    open_crawl,
    repair_hint,
    upgrade,
    warc_end,
)
from honeyguide.storage.ends import VISITS_AT_ONCE, unclean_ends
from honeyguide.storage.ledger import Job, Ledger, Writer, clean
from honeyguide.storage.lock import Lock
from honeyguide.storage.log import has_lost_commits
from honeyguide.storage.pieces import unpacked
from honeyguide.storage.recent import Absorbed, RecentEvents, absorbed_from, absorbed_row
from honeyguide.version import VERSION
from honeyguide.warc.writer import MAX_BYTES, WarcWriter

_MOST = 1 << 28  # bytes of a page's text or of a visit, at most
_MISFITS = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError)
_EVENTS = """
SELECT journal.n, kind, now, journal.url, data, journal.checksum, pages.*
FROM journal LEFT JOIN pages ON pages.n = journal.n AND kind = 'visit'
WHERE journal.n > ? ORDER BY journal.n
"""
_OTHER_EVENTS: dict[str, Callable[..., None]] = {
    "take": Ledger.write_choice,
    "look": Ledger.write_parked,
    "bound": Ledger.write_memory_limit,
}


class Store:
    """Records the events of a crawl in the folder that `create` made; locks it until closed."""

    def __init__(
        self,
        folder: Path,
        request_headers: Mapping[str, str] | None = None,  # of every request, for WARC records
        warc_bytes: int = MAX_BYTES,  # of a WARC file before the next one is started
        batch_seconds: float = 1.0,  # between an event and its commit, at most
        wall: Callable[[], float] = time.time,  # seconds since 1970
        visits_at_once: int = 1,  # at most; stored, because a kill loses their requests
    ) -> None:
        self.folder = Path(folder)
        self._wall = wall
        self._visits_at_once = visits_at_once
        open_crawl(self.folder).close()  # raises before a lock is put into another folder
        self._lock = Lock(self.folder)
        try:
            self._database = self._guarded(self._open)
        except HoneyguideError:
            self._lock.release()
            raise
        self._warc = WarcWriter(self.folder / WARCS, request_headers, warc_bytes)
        self._snapshots = snapshots.Snapshots(self.folder, self._database)
        self._ledger = Ledger(self._database, self._warc)
        self._writer = Writer(self._commit, batch_seconds)
        self._recent: RecentEvents | None = None
        self._is_closed = False
        self.settings: dict[str, Any] = {}
        self._n = 0  # number of the last event
        self._unchecked = 0  # the last event whose row has no checksum
        self._now = 0.0  # time of the last event, in seconds on the crawl's own clock
        self._visits = 0  # since the last snapshot
        self.differing = 0  # choices in the journal that this version would not make
        self.warnings: list[str] = []  # a sentence for each loss that the crawl can do without
        try:
            self._guarded(self._recover)
        except HoneyguideError:
            self._release()
            raise

    @property
    def has_events(self) -> bool:
        """Whether the journal has any event, so that the crawl must not be seeded again."""
        return self._n > 0

    # ------------------------------------------------------------------ events

    def record_seeds(self, links: Sequence[Link], now: float) -> None:
        """Record the seeds; return when they are committed."""
        self._put(partial(self._ledger.write_seeds, self._next(now), now, tuple(links)))
        self.flush()

    def record_choice(self, link: Link, now: float) -> None:
        """Record that a link was chosen."""
        self._record("take", now, clean(link.url))

    def record_parked(self, now: float) -> None:
        """Record that no link was chosen, but some were parked."""
        self._record("look", now)

    def record_memory_limit(self, max_bytes: int, now: float) -> None:
        """Record that the memory limit of the navigator's tables changed."""
        self._record("bound", now, max_bytes)

    def record_visit(
        self, visit: Visit, score: float, now: float, counted: Verdict | None = None, **known: int
    ) -> None:
        """Record an absorbed visit.

        `score` is the score of its link when it was chosen. `counted` is the verdict after the
        guard: a copy of another page is not relevant. `known` become rows of the table `about`.
        """
        self._visits += 1
        counted = counted or visit.verdict
        absorbed = Absorbed(visit, pack_visit(visit), counted, float(score), self._wall(), known)
        n = self._next(now)
        self._note_recent(n, "visit", now, *absorbed_row(absorbed))
        self._put(partial(self._ledger.write_visit, n, now, absorbed), _size(visit))

    def record_request(self, request: Request) -> None:
        """Record a request that has ended; reports need it, resuming does not."""
        self._put(partial(self._ledger.write_request, request))

    def note(self, **known: Any) -> None:
        """Set rows of the table `about`, such as why the crawl stopped."""
        self._put(partial(self._ledger.note, **known))

    def wants_snapshot(self, links: int) -> bool:
        """Whether a snapshot is due, for a crawl that knows so many links."""
        return snapshots.is_due(self._visits, links)

    def snapshot(self, state: State) -> None:
        """Write a snapshot: the navigator's state after all events so far."""
        steps = self._snapshots.write(*split_state(state, in_pieces=True), self._n, self._now)
        self._guarded(partial(self._writer.put_long, self._ledger.in_transaction(steps)))
        self._visits = 0

    def flush(self) -> None:
        """Return when all events so far are committed and synced."""
        self._guarded(self._writer.flush)

    def close(self) -> None:
        """Commit everything and unlock the folder; calling it again does nothing."""
        if self._is_closed:
            return
        try:
            self.note(**{VISITS_AT_ONCE: 0})
            self.flush()
            self._guarded(self._warc.close)
            if self._recent is not None:
                self._guarded(self._recent.remove)
        finally:
            self._release()

    def _commit(self) -> None:
        self._ledger.commit()
        self._snapshots.tidy()
        if self._recent is not None:
            self._recent.committed(self._ledger.events)

    def _record(self, kind: str, now: float, *what: Any) -> None:
        """Record an event of a kind in _OTHER_EVENTS."""
        n = self._next(now)
        self._note_recent(n, kind, now, *what)
        self._put(partial(_OTHER_EVENTS[kind], self._ledger, n, now, *what))

    def _note_recent(self, n: int, kind: str, now: float, *what: Any) -> None:
        """Write an event to the files of recent events, so that a kill does not lose it."""
        if self._recent is None:
            self._recent = self._guarded(partial(RecentEvents, self.folder))
        self._guarded(partial(self._recent.add, n, kind, now, *what))

    def _release(self) -> None:
        self._is_closed = True
        self._writer.stop()
        self._warc.abandon()
        if self._recent is not None:
            self._recent.close()
        self._database.close()
        self._lock.release()

    def _next(self, now: float) -> int:
        self._n += 1
        self._now = now
        return self._n

    def _put(self, job: Job, size: int = 0) -> None:
        self._guarded(partial(self._writer.put, job, size))

    def _guarded(self, job: Callable[[], Any]) -> Any:
        try:
            return job()
        except (OSError, DatabaseError, UnicodeError) as error:
            raise explain(error, self.folder) from error

    # ------------------------------------------------------------------ resuming

    def learnt(self) -> Iterable[OfHost]:
        """What the world has learnt of hosts; iterating reads it from the database each time.

        All rows are verified first, one at a time: together they may not fit into memory.
        """
        self._guarded(self._verify_learnt)
        return _Learnt(self._database, self._guarded)

    def _verify_learnt(self) -> None:
        checksums = 0
        for row in self._database.execute("SELECT host, what, value, checksum FROM hosts"):
            if not checksum_matches(row):
                raise self._damaged("what it has learnt of hosts")
            checksums ^= row[-1]
        if checksums != self._ledger.hosts:
            raise self._damaged("what it has learnt of hosts")

    def replay(self, navigator: Navigator) -> float:
        """Restore the crawl into a new navigator; return the time of its last event, in seconds.

        The navigator's leases are links whose visits were cut off: visit them first.
        """
        try:
            self._guarded(partial(self._replay, navigator))
        except (*_MISFITS, DamagedError) as error:
            raise HoneyguideError(
                f"{self.folder} cannot be resumed: its data does not fit its settings"
                f" ({type(error).__name__}: {error})"
            ) from error
        return self._now

    def _replay(self, navigator: Navigator) -> None:
        n = 0
        saved = self._snapshots.newest()
        if saved is not None:
            state, n, self._now = saved
            navigator.load(state)
        for kind, now, *row in self._events(n):
            self._apply(navigator, kind, now, *row)
            self._now = now
        if self._snapshots.damaged:  # the crawl was restored without them
            self._writer.put(self._drop_damaged)
            self._writer.flush()

    def _drop_damaged(self) -> None:
        self._ledger.begin_transaction()
        self._snapshots.drop_damaged()

    def _events(self, after: int) -> Iterator[tuple[Any, ...]]:
        """Yield kind, time, URL, data and page text of each event; raise if one is damaged."""
        first = self._database.execute("SELECT min(n) FROM journal").fetchone()[0]
        if after < self._n and (first is None or first > after + 1):
            raise HoneyguideError(
                f"{self.folder} cannot be resumed: its snapshots are"
                f" damaged{repair_hint(self.folder)}"
            )
        n = after
        for row in self._database.execute(_EVENTS, (after,)):
            n += 1
            event, page = row[:6], row[6:]
            if event[0] != n or not self._is_intact(event):
                raise self._damaged(f"event {n} of its journal")
            if event[1] == "visit" and not (page[0] == n and self._is_intact(page)):
                raise self._damaged(f"the page of event {n}")
            yield (*event[1:5], page[-2])
        if n != self._n:
            raise self._damaged(f"event {n + 1} of its journal")

    def _is_intact(self, row: tuple[Any, ...]) -> bool:
        """Whether the checksum of a row matches; rows of format 1 have none and count as intact."""
        return checksum_matches(row) or (row[-1] is None and row[0] <= self._unchecked)

    def _damaged(self, what: str) -> HoneyguideError:
        return HoneyguideError(
            f"{self.folder} cannot be resumed: {what} is damaged{repair_hint(self.folder)}"
        )

    def _apply(
        self, navigator: Navigator, kind: str, now: float, url: str, data: bytes, text: bytes
    ) -> None:
        if kind == "visit":
            self._visits += 1
            self._absorb_again(navigator, unpack_visit(_unpacked(data), unpacked_text(text)), now)
        elif kind == "seed":
            navigator.seed(unpack_links(_unpacked(data)))
        elif kind == "bound":
            navigator.limit_bytes(int(url))
        else:
            self._choose_again(navigator, url, now)

    def _choose_again(self, navigator: Navigator, url: str | None, now: float) -> None:
        """Choose the link that the journal names, even if another one would be chosen now."""
        link = navigator.choose(now)
        if (link and clean(link.url)) == url:
            return
        self.differing += 1
        if link is not None:
            navigator.undo_choice(link, now)
        if url is not None:
            navigator.follow(url, now)

    def _absorb_again(self, navigator: Navigator, visit: Visit, now: float) -> None:
        if visit.link.url not in navigator.leases:  # `clean` changed the URL in the journal
            navigator.follow(visit.link.url, now)
        navigator.absorb(visit, now)

    def _open(self) -> Connection:
        """Open the database for writing, unless its log has lost commits."""
        if has_lost_commits(self.folder):
            raise self._damaged(f"the end of {FILE}-wal")
        return open_crawl(self.folder, read_only=False)

    def _recover(self) -> None:
        """Remove what the last process did not commit, and read the counts."""
        upgrade(self._database)
        known = about(self._database)
        self.settings = json.loads(known["settings"])
        self._n, self._unchecked = known["events"], known["unchecked"]
        tops = self._database.execute(
            "SELECT (SELECT max(n) FROM journal), (SELECT max(n) FROM snapshots)"
        ).fetchone()
        if self._n != max(top or 0 for top in tops):
            raise self._damaged(f"the end of its journal, which had {self._n} events,")
        self._check_recent()
        ledger = self._ledger
        ledger.events, ledger.visits, ledger.hosts = self._n, known["visits"], known["hosts"]
        self._snapshots.recover()
        self.warnings += map(one_line, lost_bodies(self._database, self.folder))
        self._warc.resume(*warc_end(self._database, known))
        ledger.note(stopped="", written_by=VERSION)
        ledger.note(**unclean_ends(known, self.has_events).row())
        ledger.note(**{VISITS_AT_ONCE: self._visits_at_once})
        self._import_recent()

    def _check_recent(self) -> None:
        """Raise if the database has lost commits; warn of recent events that cannot be used.

        A file of recent events is emptied only after the database has committed its events.
        """
        scans = [recent.scan(self.folder, name) for name in recent.NAMES]
        for gap in recent.gaps(scans, self._n):
            if gap.is_of_database:
                raise HoneyguideError(
                    f"{self.folder} cannot be resumed: {gap.what}{repair_hint(self.folder)}"
                )
            self.warnings.append(f"{gap.what}: those after are lost, too")
        self.warnings += [wrong for scan in scans for wrong in scan.wrong]

    def _import_recent(self) -> None:
        """Write the recent events of a killed process into the database."""
        try:
            for event in recent.read(self.folder, self._n):
                if not recent.is_valid(event):
                    raise DamagedError("a row is damaged")
                n, kind, now, what = event
                self._n, self._now = n, now
                if kind == "visit":
                    self._writer.put(partial(self._ledger.write_visit, n, now, absorbed_from(what)))
                else:
                    self._writer.put(partial(_OTHER_EVENTS[kind], self._ledger, n, now, *what))
            self._writer.flush()
        except (*_MISFITS, DamagedError) as error:
            raise self._damaged(f"an event in {' or '.join(recent.NAMES)}") from error
        recent.remove(self.folder)


class _Learnt:
    """The rows of the table `hosts`, read one at a time."""

    def __init__(self, database: Connection, guarded: Callable[[Callable[[], Any]], Any]) -> None:
        self._database = database
        self._guarded = guarded

    def __iter__(self) -> Iterator[OfHost]:
        """Yield each row; iterating again reads the table again."""
        rows = self._database.execute("SELECT host, what, value FROM hosts")
        while (row := self._guarded(rows.fetchone)) is not None:
            yield OfHost(*row)


def unpacked_text(data: bytes | None) -> str:
    """Decompress a page's text from its row; "" if it has none."""
    return text_from_bytes(_unpacked(data)) if data else ""


def _unpacked(data: bytes) -> bytes:
    try:
        return unpacked(data, _MOST)
    except DamagedError:
        raise HoneyguideError("a stored page is damaged") from None


def _size(visit: Visit) -> int:
    """An estimate of the bytes that a visit takes in memory."""
    body = len(visit.response.body) if visit.response else 0
    return body + (len(visit.page.text) + 500 * len(visit.page.links) if visit.page else 0)


class RecordingNavigator:
    """Wraps a navigator: replays the stored crawl into it, then records each of its events."""

    def __init__(
        self,
        navigator: Navigator,
        store: Store,
        max_bytes: int | None = None,  # new limit of the tables; None: the stored one
    ) -> None:
        self.navigator = navigator
        self.store = store
        self.started_at = store.replay(navigator)  # seconds on the crawl's own clock
        self._max_bytes = max_bytes
        self._first = [lease.link for lease in navigator.leases.values()]

    @property
    def leases(self) -> dict[str, Lease]:
        """The links that are being visited, by URL."""
        return self.navigator.leases

    @property
    def frontier(self) -> Frontier:
        """The navigator's frontier."""
        return self.navigator.frontier

    @property
    def memory(self) -> Memory:
        """The crawled graph so far."""
        return self.navigator.memory

    @property
    def stopped(self) -> bool:
        """Whether the agent says that no waiting link is worth a fetch."""
        return self.navigator.stopped

    def seed(self, links: Sequence[Link]) -> None:
        """Add the seeds unless the crawl has started already, and set a new memory limit."""
        if not self.store.has_events:
            self.navigator.seed(links)
            self.store.record_seeds(links, self.started_at)
        if self._max_bytes is not None and self._max_bytes != self.navigator.max_bytes:
            self.navigator.limit_bytes(self._max_bytes)
            self.store.record_memory_limit(self._max_bytes, self.started_at)

    def choose(self, now: float) -> Link | None:
        """Take the next link to visit and record the choice; links of cut-off visits come first."""
        if self._first:
            return self._first.pop(0)
        moved = self.navigator.moved
        link = self.navigator.choose(now)
        if link is not None:
            self.store.record_choice(link, now)
        elif self.navigator.moved > moved:
            self.store.record_parked(now)
        return link

    def absorb(self, visit: Visit, now: float) -> Step:
        """Absorb a visit, record it, and write a snapshot if one is due."""
        score = self.navigator.leases[visit.link.url].score
        step = self.navigator.absorb(visit, now)
        waiting, in_flight = len(self.frontier), len(self.leases)
        self.store.record_visit(
            visit, score, now, step.verdict, waiting=waiting, in_flight=in_flight
        )
        if self.store.wants_snapshot(len(self.memory)):
            self.store.snapshot(self.navigator.state())
        return step
