"""A crawl in a folder: every event is journalled, and replayed after any end."""

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
    cure,
    explain,
    is_whole,
    open_crawl,
    told,
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

_MOST = 1 << 28  # bytes of a page's text, or of a visit
_MISFITS = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError)
_EVENTS = """
SELECT journal.n, kind, now, journal.url, data, journal.checksum, pages.*
FROM journal LEFT JOIN pages ON pages.n = journal.n AND kind = 'visit'
WHERE journal.n > ? ORDER BY journal.n
"""
_OTHER_EVENTS: dict[str, Callable[..., None]] = {
    "take": Ledger.take,
    "look": Ledger.look,
    "bound": Ledger.bound,
}


class Store:
    """Keeps a crawl that `create` has made a place for; the folder is its own until closed."""

    def __init__(
        self,
        folder: Path,
        request_headers: Mapping[str, str] | None = None,  # sent with every request, for the WARC
        warc_bytes: int = MAX_BYTES,  # of a WARC file, before the next one begins
        batch_seconds: float = 1.0,  # from an event to its commit, at most
        wall: Callable[[], float] = time.time,
        visits_at_once: int = 1,  # at most; a kill may leave so many without a trace
    ) -> None:
        self.folder = Path(folder)
        self._wall = wall
        self._visits_at_once = visits_at_once
        open_crawl(self.folder).close()  # nothing is written into a folder of something else
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
        self._n = 0  # events so far
        self._unchecked = 0  # of them, those before checksums were kept
        self._now = 0.0  # of the last event, on the crawl's own clock
        self._visits = 0  # since the last snapshot
        self.differing = 0  # choices of the journal that would be others now
        self.warnings: list[str] = []  # what is lost without which the crawl goes on: sentences
        try:
            self._guarded(self._recover)
        except HoneyguideError:
            self._let_go()
            raise

    @property
    def begun(self) -> bool:
        """Whether anything has happened yet."""
        return self._n > 0

    # ------------------------------------------------------------------ events

    def seeded(self, links: Sequence[Link], now: float) -> None:
        """These pages were given to start from; returns when that is safe."""
        self._put(partial(self._ledger.seed, self._next(now), now, tuple(links)))
        self.flush()

    def took(self, link: Link, now: float) -> None:
        """The next link was chosen."""
        self._happened("take", now, clean(link.url))

    def looked(self, now: float) -> None:
        """No link was chosen, but some were parked on the way."""
        self._happened("look", now)

    def bounded(self, max_bytes: int, now: float) -> None:
        """The tables were given another limit of memory."""
        self._happened("bound", now, max_bytes)

    def absorbed(
        self, visit: Visit, score: float, now: float, counted: Verdict | None = None, **known: int
    ) -> None:
        """A visit was taken in; the score is its link's when it was chosen, the rest is noted.

        It may have counted for less than the world's verdict: a copy of another page does.
        """
        self._visits += 1
        counted = counted or visit.verdict
        absorbed = Absorbed(visit, pack_visit(visit), counted, float(score), self._wall(), known)
        n = self._next(now)
        self._note_recent(n, "visit", now, *absorbed_row(absorbed))
        self._put(partial(self._ledger.visit, n, now, absorbed), _size(visit))

    def asked(self, request: Request) -> None:
        """A request was sent, and has ended; it changes nothing, but can be told of later."""
        self._put(partial(self._ledger.asked, request))

    def note(self, **known: Any) -> None:
        """Something for `status`: how many links wait, why the crawl stopped."""
        self._put(partial(self._ledger.note, **known))

    def wants_snapshot(self, links: int) -> bool:
        """Whether it is time for a snapshot of a crawl that knows so many links."""
        return snapshots.is_due(self._visits, links)

    def snapshot(self, state: State) -> None:
        """Keep the state that all events so far have led to."""
        steps = self._snapshots.write(*split_state(state, in_pieces=True), self._n, self._now)
        self._guarded(partial(self._writer.put_long, self._ledger.in_transaction(steps)))
        self._visits = 0

    def flush(self) -> None:
        """Return once everything so far is safe on the disk."""
        self._guarded(self._writer.flush)

    def close(self) -> None:
        """Make everything safe and let go of the folder; once is enough."""
        if self._is_closed:
            return
        try:
            self.note(**{VISITS_AT_ONCE: 0})
            self.flush()
            self._guarded(self._warc.close)
            if self._recent is not None:
                self._guarded(self._recent.remove)
        finally:
            self._let_go()

    def _commit(self) -> None:
        self._ledger.commit()
        self._snapshots.tidy()
        if self._recent is not None:
            self._recent.committed(self._ledger.events)

    def _happened(self, kind: str, now: float, *what: Any) -> None:
        """Keep an event that the ledger has a method for."""
        n = self._next(now)
        self._note_recent(n, kind, now, *what)
        self._put(partial(_OTHER_EVENTS[kind], self._ledger, n, now, *what))

    def _note_recent(self, n: int, kind: str, now: float, *what: Any) -> None:
        """Write an event where a kill does not reach it, until it is in the database."""
        if self._recent is None:
            self._recent = self._guarded(partial(RecentEvents, self.folder))
        self._guarded(partial(self._recent.add, n, kind, now, *what))

    def _let_go(self) -> None:
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

    # ------------------------------------------------------------------ going on

    def learnt(self) -> Iterable[OfHost]:
        """What the world of the crawl has learnt of hosts; it is read anew each time.

        Rows are verified one by one before: all robots.txt at once are too large.
        """
        self._guarded(self._verify_learnt)
        return _Learnt(self._database, self._guarded)

    def _verify_learnt(self) -> None:
        checksums = 0
        for row in self._database.execute("SELECT host, what, value, checksum FROM hosts"):
            if not is_whole(row):
                raise self._damaged("what it has learnt of hosts")
            checksums ^= row[-1]
        if checksums != self._ledger.hosts:
            raise self._damaged("what it has learnt of hosts")

    def replay(self, navigator: Navigator) -> float:
        """Bring a new navigator to where the crawl was, and say what time it was there.

        Its leases are links that were being visited: they come first.
        """
        try:
            self._guarded(partial(self._replay, navigator))
        except (*_MISFITS, DamagedError) as error:
            raise HoneyguideError(
                f"{self.folder} cannot be resumed: what it keeps does not fit its settings"
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
        if self._snapshots.damaged:  # all of it is known without them
            self._writer.put(self._drop_damaged)
            self._writer.flush()

    def _drop_damaged(self) -> None:
        self._ledger.begin()
        self._snapshots.drop_damaged()

    def _events(self, after: int) -> Iterator[tuple[Any, ...]]:
        """Kind, time, URL, data and page text of each event, each as it was written."""
        first = self._database.execute("SELECT min(n) FROM journal").fetchone()[0]
        if after < self._n and (first is None or first > after + 1):
            raise HoneyguideError(
                f"{self.folder} cannot be resumed: its snapshots are damaged{cure(self.folder)}"
            )
        n = after
        for row in self._database.execute(_EVENTS, (after,)):
            n += 1
            event, page = row[:6], row[6:]
            if event[0] != n or not self._is_right(event):
                raise self._damaged(f"event {n} of its journal")
            if event[1] == "visit" and not (page[0] == n and self._is_right(page)):
                raise self._damaged(f"the page of event {n}")
            yield (*event[1:5], page[-2])
        if n != self._n:
            raise self._damaged(f"event {n + 1} of its journal")

    def _is_right(self, row: tuple[Any, ...]) -> bool:
        """Whether a row is what was written; those of format 1 have nothing to tell it by."""
        return is_whole(row) or (row[-1] is None and row[0] <= self._unchecked)

    def _damaged(self, what: str) -> HoneyguideError:
        return HoneyguideError(
            f"{self.folder} cannot be resumed: {what} is damaged{cure(self.folder)}"
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
            navigator.bound(int(url))
        else:
            self._choose_again(navigator, url, now)

    def _choose_again(self, navigator: Navigator, url: str | None, now: float) -> None:
        """Choose as the journal says, also where another link would be chosen now."""
        link = navigator.choose(now)
        if (link and clean(link.url)) == url:
            return
        self.differing += 1
        if link is not None:
            navigator.undo_choice(link, now)
        if url is not None:
            navigator.follow(url, now)

    def _absorb_again(self, navigator: Navigator, visit: Visit, now: float) -> None:
        if visit.link.url not in navigator.leases:  # it was chosen by a name that was mended
            navigator.follow(visit.link.url, now)
        navigator.absorb(visit, now)

    def _open(self) -> Connection:
        """Open the database to write, unless that would hide that commits are lost."""
        if has_lost_commits(self.folder):
            raise self._damaged(f"the end of {FILE}-wal")
        return open_crawl(self.folder, only_read=False)

    def _recover(self) -> None:
        """Remove what was not committed when the last process ended, and see where it was."""
        upgrade(self._database)
        known = about(self._database)
        self.settings = json.loads(known["settings"])
        self._n, self._unchecked = known["events"], known["unchecked"]
        tops = self._database.execute(
            "SELECT (SELECT max(n) FROM journal), (SELECT max(n) FROM snapshots)"
        ).fetchone()
        if self._n != max(top or 0 for top in tops):
            raise self._damaged(f"the end of its journal, which had {self._n} events,")
        self._look_at_recent()
        ledger = self._ledger
        ledger.events, ledger.visits, ledger.hosts = self._n, known["visits"], known["hosts"]
        self._snapshots.recover()
        self.warnings += map(told, lost_bodies(self._database, self.folder))
        self._warc.resume(*warc_end(self._database, known))
        ledger.note(stopped="", written_by=VERSION)
        ledger.note(**unclean_ends(known, self.begun).row())
        ledger.note(**{VISITS_AT_ONCE: self._visits_at_once})
        self._take_in_recent()

    def _look_at_recent(self) -> None:
        """Refuse to go on where the database has lost commits; warn of recent events that are lost.

        A file of recent events is only begun anew once the database has what was in it.
        """
        looks = [recent.look(self.folder, name) for name in recent.NAMES]
        for gap in recent.gaps(looks, self._n):
            if gap.is_of_database:
                raise HoneyguideError(
                    f"{self.folder} cannot be resumed: {gap.what}{cure(self.folder)}"
                )
            self.warnings.append(f"{gap.what}: those after are lost, too")
        self.warnings += [wrong for look in looks for wrong in look.wrong]

    def _take_in_recent(self) -> None:
        """Put the events into the database that a killed process could not put there."""
        try:
            for event in recent.read(self.folder, self._n):
                if not recent.fits(event):
                    raise DamagedError("a row does not fit")
                n, kind, now, what = event
                self._n, self._now = n, now
                if kind == "visit":
                    self._writer.put(partial(self._ledger.visit, n, now, absorbed_from(what)))
                else:
                    self._writer.put(partial(_OTHER_EVENTS[kind], self._ledger, n, now, *what))
            self._writer.flush()
        except (*_MISFITS, DamagedError) as error:
            raise self._damaged(f"what it has in {' or '.join(recent.NAMES)}") from error
        recent.remove(self.folder)


class _Learnt:
    """The rows of hosts, of which only one at a time is in memory."""

    def __init__(self, database: Connection, guarded: Callable[[Callable[[], Any]], Any]) -> None:
        self._database = database
        self._guarded = guarded

    def __iter__(self) -> Iterator[OfHost]:
        """Each thing of each host."""
        rows = self._database.execute("SELECT host, what, value FROM hosts")
        while (row := self._guarded(rows.fetchone)) is not None:
            yield OfHost(*row)


def unpacked_text(data: bytes | None) -> str:
    """A page's text from its row."""
    return text_from_bytes(_unpacked(data)) if data else ""


def _unpacked(data: bytes) -> bytes:
    try:
        return unpacked(data, _MOST)
    except DamagedError:
        raise HoneyguideError("a page that the crawl kept is damaged") from None


def _size(visit: Visit) -> int:
    """About how many bytes a visit holds."""
    body = len(visit.response.body) if visit.response else 0
    return body + (len(visit.page.text) + 500 * len(visit.page.links) if visit.page else 0)


class Recorded:
    """Steers a crawl like its navigator does, which it has brought to where the crawl was."""

    def __init__(
        self,
        navigator: Navigator,
        store: Store,
        max_bytes: int | None = None,  # of the tables, from now on; None: as before
    ) -> None:
        self.navigator = navigator
        self.store = store
        self.started_at = store.replay(navigator)  # on the crawl's own clock, which goes on
        self._max_bytes = max_bytes
        self._first = [lease.link for lease in navigator.leases.values()]

    @property
    def leases(self) -> dict[str, Lease]:
        """The links that are being visited, by URL."""
        return self.navigator.leases

    @property
    def frontier(self) -> Frontier:
        """The links that wait."""
        return self.navigator.frontier

    @property
    def memory(self) -> Memory:
        """The crawled graph so far."""
        return self.navigator.memory

    @property
    def stopped(self) -> bool:
        """Whether the agent found nothing worth a fetch."""
        return self.navigator.stopped

    def seed(self, links: Sequence[Link]) -> None:
        """Start from these pages, unless the crawl has started already."""
        if not self.store.begun:
            self.navigator.seed(links)
            self.store.seeded(links, self.started_at)
        if self._max_bytes is not None and self._max_bytes != self.navigator.max_bytes:
            self.navigator.bound(self._max_bytes)
            self.store.bounded(self._max_bytes, self.started_at)

    def choose(self, now: float) -> Link | None:
        """The next link to visit: first those whose visits were cut off."""
        if self._first:
            return self._first.pop(0)
        moved = self.navigator.moved
        link = self.navigator.choose(now)
        if link is not None:
            self.store.took(link, now)
        elif self.navigator.moved > moved:
            self.store.looked(now)
        return link

    def absorb(self, visit: Visit, now: float) -> Step:
        """Take in what came of a link, and keep it."""
        score = self.navigator.leases[visit.link.url].score
        step = self.navigator.absorb(visit, now)
        waiting, in_flight = len(self.frontier), len(self.leases)
        self.store.absorbed(visit, score, now, step.verdict, waiting=waiting, in_flight=in_flight)
        if self.store.wants_snapshot(len(self.memory)):
            self.store.snapshot(self.navigator.state())
        return step
