"""robots.txt on the way to every page: fetched once, kept for a day, obeyed on every hop."""

import asyncio
import heapq
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from honeyguide.contracts import Link, OfHost, Response
from honeyguide.web.fetch_limits import ANYTHING, Terms, WebFetcher
from honeyguide.web.politeness import may_pass, retry_after
from honeyguide.web.redirects import Redirects
from honeyguide.web.request_url import host_of, target
from honeyguide.web.robots_record import (
    LIFETIME,
    MAX_BYTES,
    Record,
    compress,
    from_learnt,
    to_learnt,
)
from honeyguide.web.robots_txt import Decision, RobotsTxt

_MAX_REDIRECTS = 5  # RFC 9309, 2.3.1.2
_FIRST_RETRY = 60.0  # seconds until an unreachable robots.txt is asked for again; then doubled
_LAST_RETRY = 3_600.0
_CAPACITY = 20_000  # robots.txt files that are kept
_MAX_WEIGHT = 200_000_000  # bytes of memory, about, of all files that are kept
_MAX_RECALLED = 64_000_000  # bytes of records that a resumed crawl starts with
_QUICK = 8 * 1024  # bytes of a file that is read at once; larger ones are read in a thread
_TERMS = Terms(ANYTHING, MAX_BYTES, MAX_BYTES, cut=True)
_MAX_NEWS = 64  # files of hosts that were only passed through do not wait for ever
_ALLOW_ALL = RobotsTxt(b"", "")


@dataclass(frozen=True, slots=True)
class _Known:
    record: Record
    rules: RobotsTxt | None  # None: nothing may be fetched
    until: float  # by the clock

    @property
    def weight(self) -> int:
        """Bytes of memory that it takes, about."""
        return self.record.weight + (self.rules.weight if self.rules else 0)


class Robots:
    """Asks a site's robots.txt before each request, and refuses what it forbids."""

    def __init__(
        self,
        fetcher: WebFetcher,
        user_agent: str,
        clock: Callable[[], float] = time.monotonic,
        redirects_clock: Callable[[], float] | None = None,  # None: the loop's
        wall_clock: Callable[[], float] = time.time,  # seconds since 1970
    ) -> None:
        self._fetcher = fetcher
        self._robots_fetcher = Redirects(
            fetcher, _MAX_REDIRECTS, clock=redirects_clock, wall_clock=wall_clock
        )
        self._user_agent = user_agent
        self._clock = clock
        self._wall_clock = wall_clock
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._recalled: dict[str, Record] = {}  # by origin; from before the crawl was resumed
        self._news: dict[str, Record] = {}
        self._weight = 0
        self._pending: dict[str, asyncio.Task[_Known]] = {}

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """Bring what a link points to if its site allows it."""
        place = target(link.url)
        if isinstance(place, str):
            return Response(link, link.url, 0, failure=place)
        known = await self._ask(place.origin)
        if known.rules is None:  # before robots.txt is asked for again, all tries are in vain
            wait = {"retry-after": str(math.ceil(max(0.0, known.until - self._clock())))}
            return Response(link, place.url, 0, wait, failure=known.record.failure)
        if not known.rules.allows(place.path):
            return Response(link, place.url, 0, failure="robots")
        return await self._fetcher.fetch(link, terms)

    async def decide(self, url: str) -> Decision:
        """Whether a URL may be fetched, and what says so."""
        place = target(url)
        if isinstance(place, str):
            return _ALLOW_ALL.decide(url)
        known = await self._ask(place.origin)
        if known.rules is None:
            return Decision(False, known.record.reason)
        decision = known.rules.decide(url)
        reason = known.record.reason
        return decision._replace(rule=reason) if reason else decision

    def crawl_delay(self, url: str) -> float | None:
        """Seconds between two requests that a site asks for, as far as it is known."""
        place = target(url)
        known = None if isinstance(place, str) else self._known.get(place.origin)
        return known.rules.crawl_delay if known and known.rules else None

    def news(self, hosts: Collection[str] = ()) -> tuple[OfHost, ...]:
        """What files said that are new since this was last asked: of these hosts, or of all.

        Those of other hosts wait for visits of their own, so that they are kept with these.
        """
        chosen = list(self._news)
        if hosts and len(chosen) <= _MAX_NEWS:
            chosen = [origin for origin in chosen if host_of(f"{origin}/") in hosts]
        return tuple(to_learnt(origin, self._news.pop(origin)) for origin in chosen)

    def recall(self, learnt: Iterable[OfHost]) -> None:
        """Know again what files said before the crawl was resumed, the latest within bounds."""
        latest: list[tuple[float, int, str, Record]] = []  # a heap, the oldest first
        newest, weight = -math.inf, 0  # bytes of all in the heap
        for number, each in enumerate(learnt):
            if (found := from_learnt(each)) is None:
                continue
            origin, record = found
            newest, weight = max(newest, record.asked), weight + record.weight
            heapq.heappush(latest, (record.asked, -number, origin, record))
            while len(latest) > _CAPACITY or weight > _MAX_RECALLED:  # before the next is read
                weight -= heapq.heappop(latest)[-1].weight
        if newest > self._wall_clock():
            return  # the clock was set back: how old any of them is, nobody knows
        for _, _, origin, record in sorted(latest, reverse=True):
            self._recalled.setdefault(origin, record)

    async def close(self) -> None:
        """Close the fetcher."""
        for task in self._pending.values():
            task.cancel()
        await self._fetcher.close()

    async def _ask(self, origin: str) -> _Known:
        known = self._known.get(origin)
        if known is not None and self._holds(known):
            self._known.move_to_end(origin)
            return known
        task = self._pending.get(origin)
        if task is None:
            task = self._pending[origin] = asyncio.create_task(self._renew(origin, known))
        return await asyncio.shield(task)

    def _holds(self, known: _Known) -> bool:
        """Whether a file is young enough by both clocks: one stops while a machine sleeps."""
        return self._clock() < known.until and self._wall_clock() < known.record.until

    async def _renew(self, origin: str, before: _Known | None) -> _Known:
        try:
            if before is None and (record := self._recalled.pop(origin, None)) is not None:
                before = await self._know(record)
            if before is None or not self._holds(before):
                url = f"{origin}/robots.txt"
                response = await self._robots_fetcher.fetch(Link(url), _TERMS)
                before = await self._know(self._read(response, before))
                self._news[origin] = before.record
        finally:
            del self._pending[origin]
        self._keep(origin, before)
        return before

    async def _know(self, record: Record) -> _Known:
        until = self._clock() + record.seconds_left(self._wall_clock())
        if record.body is None:
            return _Known(record, None, until)
        file = record.file()
        if len(file) <= _QUICK:
            rules = RobotsTxt(file, self._user_agent) if file else _ALLOW_ALL
        else:
            rules = await asyncio.to_thread(RobotsTxt, file, self._user_agent)
        return _Known(record, rules, until)

    def _read(self, response: Response, before: _Known | None) -> Record:
        """What an answer means by RFC 9309, 2.3.1."""
        now, status, failure = self._wall_clock(), response.status, response.failure
        # 429 is no absence of rules but a plea for patience, as is a redirect for later
        is_absent = not failure and 300 <= status < 500 and not may_pass(response)
        if is_absent or failure == "too many redirects":
            return Record(now, now + LIFETIME, b"", f"robots.txt: {failure or status}")
        if not failure and status < 300:
            return Record(now, now + LIFETIME, compress(response.body))
        failures = before.record.failures + 1 if before else 1
        wish = min(retry_after(response.headers, now) or 0.0, LIFETIME)
        until = now + max(wish, min(_LAST_RETRY, _FIRST_RETRY * 2.0 ** min(failures - 1, 9)))
        if before and before.rules:  # an old file is better than none, RFC 9309, 2.4
            known = before.record
            return Record(now, until, known.body, known.reason, failures=failures)
        reason = f"robots.txt is unreachable: {failure or status}"
        is_down = status == 0 and response.url == response.link.url
        return Record(
            now, until, None, reason, failure if is_down else "robots unreachable", failures
        )

    def _keep(self, origin: str, known: _Known) -> None:
        self._drop(origin)
        self._known[origin] = known
        self._weight += known.weight
        while len(self._known) > _CAPACITY or (self._weight > _MAX_WEIGHT and len(self._known) > 1):
            self._drop(next(iter(self._known)))

    def _drop(self, origin: str) -> None:
        known = self._known.pop(origin, None)
        if known:
            self._weight -= known.weight
