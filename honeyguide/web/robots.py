"""robots.txt before every request: fetched once a day for each site, stored with the crawl."""

import asyncio
import heapq
import math
import time
from collections import OrderedDict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import zstandard

from honeyguide.contracts import Link, OfHost, Response
from honeyguide.urls.spelling import host_of, target
from honeyguide.web.decoding import decode
from honeyguide.web.fetch_limits import ANYTHING, Terms, WebFetcher
from honeyguide.web.host_schedule import Clock, HostSchedule, may_pass, retry_after
from honeyguide.web.http import Redirects
from honeyguide.web.robots_txt import Decision, RobotsTxt

MAX_BYTES = 600 * 1024  # of a file; RFC 9309, 2.5 asks for at least 500 KiB
LIFETIME = 86_400.0  # seconds that a file is valid; RFC 9309, 2.4
_WHAT = "robots.txt "  # followed by the origin, as what is learnt of a host
_MAX_REDIRECTS = 5  # RFC 9309, 2.3.1.2
_FIRST_RETRY = 60.0  # seconds until an unreachable robots.txt is retried; then doubled
_LAST_RETRY = 3_600.0
_CAPACITY = 20_000  # robots.txt files that are kept
_MAX_WEIGHT = 200_000_000  # approximate bytes of memory of all files that are kept
_MAX_RECALLED = 64_000_000  # bytes of records that a resumed crawl starts with
_QUICK = 8 * 1024  # bytes; larger files are parsed in a thread
_TERMS = Terms(ANYTHING, MAX_BYTES, MAX_BYTES, cut=True)
_MAX_NEWS = 64  # files that wait for a visit to their host
_ALLOW_ALL = RobotsTxt(b"", "")


class Record(NamedTuple):
    """The answer to a request for robots.txt, or the failure, as it is stored."""

    asked: float  # seconds since 1970
    until: float  # seconds since 1970
    body: bytes | None  # the file, compressed; None: nothing may be fetched
    reason: str = ""  # why there is no file
    failure: str = ""  # of requests that are refused for that reason
    failures: int = 0  # in a row

    @property
    def weight(self) -> int:
        """Approximate bytes of memory of its texts."""
        return len(self.body or b"") + len(self.reason) + len(self.failure)

    def seconds_left(self, now: float) -> float:
        """Seconds for which it is still valid; 0 when it was requested in the future."""
        if now < self.asked:  # the clock was set back, so its age is unknown
            return 0.0
        return min(self.until, self.asked + LIFETIME) - now

    def file(self) -> bytes:
        """The file, decompressed and bounded: the record may be forged."""
        return decode(self.body or b"", "zstd", MAX_BYTES)[0] if self.body else b""


def compress(file: bytes) -> bytes:
    """Compress a file for a record."""
    return zstandard.ZstdCompressor(level=1).compress(file) if file else b""


def to_learnt(origin: str, record: Record) -> OfHost:
    """Turn a record into a row of what is learnt of a host."""
    return OfHost(host_of(f"{origin}/"), _WHAT + origin, _encode(record))


def from_learnt(learnt: OfHost) -> tuple[str, Record] | None:
    """The origin and record in a row of what was learnt; None when the row is something else."""
    if not isinstance(learnt.value, bytes) or not learnt.what.startswith(_WHAT):
        return None
    try:
        return learnt.what.removeprefix(_WHAT), _decode(learnt.value)
    except msgspec.DecodeError:  # written by another version: the file is requested again
        return None


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Record).decode


@dataclass(frozen=True, slots=True)
class _Known:
    record: Record
    rules: RobotsTxt | None  # None: nothing may be fetched
    until: float  # by the clock

    @property
    def weight(self) -> int:
        """Approximate bytes of memory."""
        return self.record.weight + (self.rules.weight if self.rules else 0)


class Robots:
    """Checks robots.txt before each request, and refuses what it forbids."""

    def __init__(
        self,
        fetcher: WebFetcher,
        user_agent: str,
        schedule: HostSchedule | None = None,  # of Crawl-delays; None: one of its own
        clock: Clock = time.monotonic,
        redirects_clock: Clock = time.monotonic,
        wall_clock: Clock = time.time,  # seconds since 1970
    ) -> None:
        self._fetcher = fetcher
        self._robots_fetcher = Redirects(
            fetcher, _MAX_REDIRECTS, clock=redirects_clock, wall_clock=wall_clock
        )
        self._user_agent = user_agent
        self._schedule = schedule or HostSchedule()
        self._clock = clock
        self._wall_clock = wall_clock
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._recalled: dict[str, Record] = {}  # by origin; from before the crawl was resumed
        self._news: dict[str, Record] = {}
        self._weight = 0
        self._pending: dict[str, asyncio.Task[_Known]] = {}

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """Fetch a link if its site's robots.txt allows it."""
        place = target(link.url)
        if isinstance(place, str):
            return Response(link, link.url, 0, failure=place)
        known = await self._ask(place.origin)
        if known.rules is None:  # every try is in vain until robots.txt is requested again
            wait = {"retry-after": str(math.ceil(max(0.0, known.until - self._clock())))}
            return Response(link, place.url, 0, wait, failure=known.record.failure)
        if not known.rules.allows(place.path):
            return Response(link, place.url, 0, failure="robots")
        return await self._fetcher.fetch(link, terms)

    async def decide(self, url: str) -> Decision:
        """Whether a URL may be fetched, and which rule decides."""
        place = target(url)
        if isinstance(place, str):
            return _ALLOW_ALL.decide(url)
        known = await self._ask(place.origin)
        if known.rules is None:
            return Decision(False, known.record.reason)
        decision = known.rules.decide(url)
        reason = known.record.reason
        return decision._replace(rule=reason) if reason else decision

    def news(self, hosts: Collection[str] = ()) -> tuple[OfHost, ...]:
        """Rows for files that are new since the last call: of these hosts, or of all.

        Files of other hosts wait for a visit to these hosts, and are stored with that visit.
        """
        chosen = list(self._news)
        if hosts and len(chosen) <= _MAX_NEWS:
            chosen = [origin for origin in chosen if host_of(f"{origin}/") in hosts]
        return tuple(to_learnt(origin, self._news.pop(origin)) for origin in chosen)

    def recall(self, learnt: Iterable[OfHost]) -> None:
        """Restore files from before the crawl was resumed: the latest, within bounds."""
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
            return  # the clock was set back, so their ages are unknown
        for _, _, origin, record in sorted(latest, reverse=True):
            self._recalled.setdefault(origin, record)

    async def close(self) -> None:
        """Close the inner fetcher."""
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
        """Whether a file is still valid by both clocks: one stops while a machine sleeps."""
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
        """The record of an answer (RFC 9309, 2.3.1)."""
        now, status, failure = self._wall_clock(), response.status, response.failure
        # 429 and a redirect with a long Retry-After do not mean that there are no rules
        is_absent = not failure and 300 <= status < 500 and not may_pass(response)
        if is_absent or failure == "too many redirects":
            return Record(now, now + LIFETIME, b"", f"robots.txt: {failure or status}")
        if not failure and status < 300:
            return Record(now, now + LIFETIME, compress(response.body))
        failures = before.record.failures + 1 if before else 1
        wish = min(retry_after(response.headers, now) or 0.0, LIFETIME)
        until = now + max(wish, min(_LAST_RETRY, _FIRST_RETRY * 2.0 ** min(failures - 1, 9)))
        if before and before.rules:  # the old file stays valid (RFC 9309, 2.4)
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
        self._schedule.set_crawl_delay(origin, known.rules.crawl_delay if known.rules else None)
        while len(self._known) > _CAPACITY or (self._weight > _MAX_WEIGHT and len(self._known) > 1):
            self._drop(next(iter(self._known)))

    def _drop(self, origin: str) -> None:
        known = self._known.pop(origin, None)
        if known:
            self._weight -= known.weight
            self._schedule.set_crawl_delay(origin, None)
