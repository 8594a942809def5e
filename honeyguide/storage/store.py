"""Record every event of a crawl in its folder, and replay them when it is resumed."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from sqlite3 import Error as DatabaseError
from typing import Any

import msgspec

from honeyguide.contracts import Frontier, Link, OfHost, Request, State, Step, Verdict, Visit
from honeyguide.disk.serialise import (
    DamagedError,
    pack_visit,
    split_state,
)
from honeyguide.engine.memory import Memory
from honeyguide.engine.navigator import Lease, Navigator
from honeyguide.engine.orders import AnyOrder, Standing, pack_order, read_standing
from honeyguide.errors import HoneyguideError
from honeyguide.storage import recent, snapshots
from honeyguide.storage.bodies import lost_bodies
from honeyguide.storage.choices import NAMES, Choice, Names, choice_of, names_in, pack_choice
from honeyguide.storage.crawl_log import tell
from honeyguide.storage.database import (
    FILE,
    STANDING,
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
from honeyguide.storage.recent import Absorbed, RecentEvents, absorbed_from, absorbed_row
from honeyguide.storage.records import stored
from honeyguide.storage.replay import Journal, Replay, damaged
from honeyguide.storage.verdicts import JudgeChange, pack_verdicts
from honeyguide.text.words import counted
from honeyguide.version import VERSION
from honeyguide.warc.writer import MAX_BYTES, WarcWriter

_MISFITS = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError)
_OTHER_EVENTS: dict[str, Callable[..., None]] = {
    "take": Ledger.write_choice,
    "look": Ledger.write_parked,
    "bound": Ledger.write_memory_limit,
    "revise": Ledger.write_revision,
    "order": Ledger.write_order,
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
        self._names: list[Names] = []  # of reasons, as choices number them
        self._n = 0  # number of the last event
        self._unchecked = 0  # the last event whose row has no checksum
        self._now = 0.0  # time of the last event, in seconds on the crawl's own clock
        self._visits = 0  # since the last snapshot
        self._to_do: list[Job] = []  # after the next commit
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

    def record_choice(self, link: Link, now: float, choice: Choice | None = None) -> None:
        """Record that a link was chosen, and why if that is known."""
        why = [] if choice is None else [pack_choice(choice, self._number_of(choice.names))]
        self._record("take", now, clean(link.url), *why)

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

    def record_revision(self, verdicts: Sequence[Verdict], now: float) -> None:
        """Record that the visits so far have these verdicts now, after the guard."""
        self._record("revise", now, pack_verdicts(verdicts))

    def record_judge(
        self, changed: Mapping[str, Any], change: JudgeChange, counted: Mapping[int, Verdict]
    ) -> None:
        """Record another judge, and what visits count for by its verdicts; return when committed.

        `changed` are the settings that differ. `counted` has the verdicts after the guard, by the
        numbers of the visits' events.
        """
        self.flush()
        self.settings |= changed
        self._ledger.note(settings=json.dumps(self.settings))  # committed with the event
        n, judge = self._next(self._now), changed["judge"]
        self._put(partial(self._ledger.write_judge, n, self._now, judge, change, counted))
        self.flush()
        self._remove_recent()  # its events have gaps nowhere, and this one is too large for it

    def record_order(
        self,
        file: str,
        order: AnyOrder,
        now: float,
        standing: Standing,
        changed: Mapping[str, Any] | None = None,
    ) -> None:
        """Record a person's order, what is in force after it, and the settings that it changed."""
        known = {STANDING: msgspec.json.encode(standing).decode()}
        if changed:
            self.settings |= changed
            known["settings"] = json.dumps(self.settings)
        self._record("order", now, file, pack_order(order), known)

    def note_standing(self, standing: Standing) -> None:
        """Store what is in force, after an order that was refused."""
        self.note(**{STANDING: msgspec.json.encode(standing).decode()})

    def standing(self) -> Standing:
        """The orders that are in force."""
        self.flush()
        return read_standing(about(self._database).get(STANDING))

    def after_commit(self, job: Job) -> None:
        """Do something once all events so far are committed, soon; the writing thread does it."""
        self._put(lambda: self._to_do.append(job))
        self._guarded(self._writer.hasten)

    def relevant_visits(self) -> int:
        """How many visits count as relevant."""
        self.flush()
        [[count]] = self._database.execute("SELECT count(*) FROM pages WHERE relevant")
        return int(count)

    def body(self, n: int) -> bytes:
        """The stored body of a visit, by the number of its event; empty if there is none."""
        place = "SELECT warc, warc_offset FROM pages WHERE n = ? AND warc IS NOT NULL"
        row = self._database.execute(place, (n,)).fetchone()
        return next(stored(self.folder / WARCS, *row)).body if row else b""

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
            self._remove_recent()
        finally:
            self._release()

    def _number_of(self, names: Names) -> int:
        """The number of a list of reasons in this folder; a new one is stored first."""
        if names not in self._names:
            self._names.append(names)
            self.note(**{NAMES: json.dumps(self._names)})
            self.flush()
        return self._names.index(names)

    def _commit(self) -> None:
        self._ledger.commit()
        self._snapshots.tidy()
        if self._recent is not None:
            self._recent.committed(self._ledger.events)
        to_do, self._to_do = self._to_do, []
        for job in to_do:
            job()

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

    def _remove_recent(self) -> None:
        """Remove the files of recent events, once all of them are committed."""
        if self._recent is not None:
            self._guarded(self._recent.remove)
            self._recent = None

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
                raise damaged(self.folder, "what it has learnt of hosts")
            checksums ^= row[-1]
        if checksums != self._ledger.hosts:
            raise damaged(self.folder, "what it has learnt of hosts")

    def visits(self) -> Iterator[tuple[int, Visit]]:
        """All visits with the numbers of their events, as the judge of their time saw them."""
        return self._journal().visits()

    def replay_with(
        self, navigator: Navigator, verdicts: Mapping[int, Verdict]
    ) -> dict[int, Verdict]:
        """Replay the whole crawl with these verdicts of its visits, by the numbers of their events.

        All choices stay as they were. Returns what each visit counts for, after the guard.
        """
        replay, counted = Replay(navigator), dict[int, Verdict]()
        for event in self._journal().events(0):
            if (step := replay.apply_anew(event, verdicts)) is not None:
                counted[event.n] = step.verdict
            if navigator.revised:
                counted = dict(zip(counted, navigator.revised, strict=True))
            self._now = event.now
        return counted

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
        journal, replay, n = self._journal(), Replay(navigator), 0
        judged, change = journal.last_judge()
        saved = self._snapshots.newest()
        if saved is not None and saved[1] >= judged:
            state, n, self._now = saved
            navigator.load(state)
        for event in journal.events(n):
            if event.n < judged:
                replay.apply_anew(event, change.verdicts)
            else:
                replay.apply(event)
            self._visits += event.kind == "visit"
            self._now = event.now
        self.differing = replay.differing
        if self._snapshots.damaged:  # the crawl was restored without them
            self._writer.put(self._drop_damaged)
            self._writer.flush()

    def _journal(self) -> Journal:
        journal = Journal(self._database, self.folder)
        journal.last, journal.unchecked = self._n, self._unchecked
        return journal

    def _drop_damaged(self) -> None:
        self._ledger.begin_transaction()
        self._snapshots.drop_damaged()

    def _open(self) -> Connection:
        """Open the database for writing, unless its log has lost commits."""
        if has_lost_commits(self.folder):
            raise damaged(self.folder, f"the end of {FILE}-wal")
        return open_crawl(self.folder, read_only=False)

    def _recover(self) -> None:
        """Remove what the last process did not commit, and read the counts."""
        upgrade(self._database)
        known = about(self._database)
        self.settings = json.loads(known["settings"])
        self._names = names_in(known)
        self._n, self._unchecked = known["events"], known["unchecked"]
        tops = self._database.execute(
            "SELECT (SELECT max(n) FROM journal), (SELECT max(n) FROM snapshots)"
        ).fetchone()
        if self._n != max(top or 0 for top in tops):
            raise damaged(self.folder, f"the end of its journal, which had {self._n} events,")
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
            raise damaged(self.folder, f"an event in {' or '.join(recent.NAMES)}") from error
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
        self._record_revision(self.started_at)  # a kill may have come before it was recorded

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

    @property
    def revises_next(self) -> bool:
        """Whether the next visit may change earlier verdicts."""
        return self.navigator.revises_next

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
            self.store.record_choice(link, now, choice_of(self.navigator, link))
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
        self._record_revision(now)
        if self.store.wants_snapshot(len(self.memory)):
            self.store.snapshot(self.navigator.state())
            tell("snapshot", "a snapshot is written", pages=self.memory.visits)
        return step

    def _record_revision(self, now: float) -> None:
        if self.navigator.revised:
            self.store.record_revision(self.navigator.revised, now)
            relevant = sum(verdict.relevant for verdict in self.navigator.revised)
            pages = len(self.navigator.revised)
            message = f"the verdicts of {counted(pages, 'page')} are revised"
            tell("revision", message, pages=pages, relevant=relevant)
            self.navigator.revised = []
