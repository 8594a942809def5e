"""When each host may be asked: delays, queues, back-off, Retry-After and Crawl-delay."""

import asyncio
import time
import weakref
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Self

from honeyguide.contracts import Link, OfHost, Response
from honeyguide.urls.patterns import ANOTHER_HOST, DENIED, OUTSIDE
from honeyguide.urls.spelling import host_of, target
from honeyguide.web.connections import TOO_MANY_FILES

# Failures of requests that were not sent, because they are not allowed.
NOT_ASKED = frozenset(
    {"robots", "scheme", "port", "bad url", "private address", DENIED, OUTSIDE, ANOTHER_HOST}
)
# Failures of requests that were not sent, but may be later.
NOT_YET_ASKED = frozenset({"resting", "proxy unreachable", TOO_MANY_FILES})
# Failures of a host, as opposed to failures of one page.
HOST_FAILURES = frozenset(
    {
        "timeout",
        "connection refused",
        "connection reset",
        "unreachable",
        "dns",
        "tls",
        "plain http",
        "busy",
        "bad response",
        "robots unreachable",
    }
)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_OVERLOADED = frozenset({429, 503})
# What is stored of a host; the names are part of the crawl folder's format.
FAILURES = "failures"  # in a row
RESTS_UNTIL = "rests until"  # seconds since 1970

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[object]]
_SMOOTHING = 0.3  # weight of the latest response time
_CAPACITY = 100_000  # hosts that are remembered
_SWEEP_AT = 1024  # queues
# seconds, more than any Crawl-delay or slow host needs; after longer waits a link is tried later
_PATIENCE = 61.0
# seconds; a host that redirects to many others is not delayed longer for one of them
_LONGEST_DETOUR = 60.0


@dataclass(frozen=True, slots=True)
class Limits:
    """How fast any one host and any one server may be asked."""

    slowness: float = 2.0  # a host that takes a second is asked again after two
    longest: float = 60.0  # seconds; no Crawl-delay, slowness or back-off waits longer
    longest_retry_after: float = 86_400.0  # seconds
    failures: int = 5  # in a row, until a host is given up for now
    pause: float = 3_600.0  # seconds until a host that was given up is tried again
    per_host: int | None = 1  # requests at once; None: any number
    per_address: int | None = 2  # the same, for an IP address
    address_interval: float = 0.25  # seconds between two requests to an IP address

    @classmethod
    def for_hosts(cls, per_host: int) -> Self:
        """Limits for hosts that may be asked so many things at once, and for their addresses."""
        usual = cls()
        interval = usual.address_interval / per_host
        return cls(per_host=per_host, per_address=max(2, per_host), address_interval=interval)


@dataclass(slots=True)
class _Record:
    seconds: float | None = None  # smoothed response time
    failures: int = 0  # in a row


class HostSchedule:
    """Decides when each host may be asked, from the crawl's delay and from what hosts answer."""

    def __init__(
        self,
        delay: float = 1.0,  # seconds between two requests to a host; 0: also when it is slow
        limits: Limits | None = None,
        clock: Clock = time.monotonic,
        wall_clock: Clock = time.time,  # seconds since 1970
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.delay = delay
        self.host_delays: dict[str, float] = {}  # by host, instead of `delay`
        self._limits = limits or Limits()
        self._clock = clock
        self._wall_clock = wall_clock
        self._sleep = sleep
        self._until: dict[str, float] = {}  # by host: the clock's time at which it may be asked
        # by host, the task that asked last; its id could soon be that of another task
        self._last_tasks: dict[str, weakref.ref[Any]] = {}
        self._crawl_delays: dict[str, float] = {}  # seconds, by origin
        self._records: dict[str, _Record] = {}
        self._news: dict[tuple[str, str], OfHost] = {}  # by host and what
        # hosts that get one request at a time: seconds of their Crawl-delay
        self._unhurried: dict[str, float] = {}
        self._host_queues = _Queues(self._at_once, 0.0, clock, sleep)
        self._address_queues = _Queues(
            lambda address: self._limits.per_address, self._limits.address_interval, clock, sleep
        )

    # ------------------------------------------------------------------- before a request

    def wait(self, host: str) -> float:
        """Seconds until a host may be asked; zero or less when it may be asked now."""
        return self._until.get(host, 0.0) - self._clock()

    async def ready(self, host: str) -> float:
        """Wait until a host may be asked, and reserve the delay after it.

        Returns 0.0, or the seconds that are left when they are too many to wait for.
        """
        task = weakref.ref(asyncio.current_task())
        # a redirect within a host is not delayed: both requests belong to one visit
        while self._last_tasks.get(host) != task and (wait := self.wait(host)) > 0:
            if wait > _PATIENCE:
                return wait
            await self._sleep(wait)  # meanwhile another task may have gone first
        self.hold(host, max(self._delay_of(host), self._unhurried.get(host, 0.0)))
        self._last_tasks[host] = task
        return 0.0

    @asynccontextmanager
    async def turn(
        self, host: str, addresses: Sequence[str], seconds: float
    ) -> AsyncIterator[bool]:
        """Wait so long in the queues of a host and of its addresses; False when no turn came."""
        if not await self._host_queues.enter(host, seconds):
            yield False
            return
        entered: list[str] = []
        try:
            for address in addresses:  # sorted, so that no two tasks wait for each other
                if not await self._address_queues.enter(address, seconds):
                    yield False
                    return
                entered.append(address)
            yield True
        finally:
            for address in entered:
                self._address_queues.leave(address)
            self._host_queues.leave(host)

    def hold(self, host: str, seconds: float) -> None:
        """Do not ask a host for at least so many seconds."""
        now = self._clock()
        self._last_tasks.pop(host, None)
        if seconds and now + seconds > self._until.get(host, 0.0):
            self._until[host] = now + seconds
        if len(self._last_tasks) > _CAPACITY:
            self._last_tasks.clear()
        if len(self._until) > _CAPACITY:
            waiting = sorted((until, each) for each, until in self._until.items() if until > now)
            # to half the room, so that it is not sorted for every host
            self._until = {each: until for until, each in waiting[-_CAPACITY // 2 :]}

    def probe(self, origin: str) -> None:
        """Reserve the usual delay for a request that only tests whether a host answers."""
        wish = min(self.crawl_delay(origin) or 0.0, self._limits.longest)
        host = host_of(origin)
        self.hold(host, max(self._delay_of(host), wish))

    # ------------------------------------------------------------------- Crawl-delay

    def crawl_delay(self, url: str) -> float | None:
        """Seconds between two requests that a URL's robots.txt asks for, as far as it is known."""
        place = target(url)
        return None if isinstance(place, str) else self._crawl_delays.get(place.origin)

    def set_crawl_delay(self, origin: str, seconds: float | None) -> None:
        """Remember what an origin's robots.txt asks for; None forgets it."""
        self._crawl_delays.pop(origin, None)
        self._unhurried.pop(host_of(origin), None)
        if seconds is not None:
            self._crawl_delays[origin] = seconds
        if seconds:
            self._unhurried[host_of(origin)] = min(seconds, self._limits.longest)

    def _at_once(self, host: str) -> int | None:
        """How many requests to a host may be under way; one if it is slow on purpose or unwell."""
        usual = self._limits.per_host
        record = self._records.get(host)
        is_slow = host in self._unhurried or (record is not None and record.failures > 0)
        return 1 if usual is not None and is_slow else usual

    # ------------------------------------------------------------------- after a response

    def after_visit(self, link: Link, response: Response, seconds: float) -> float:
        """Seconds until the link's host may be asked again; holds the host that answered as well.

        They differ when the link was redirected to another host.
        """
        asked, reached = host_of(link.url), host_of(response.url)
        if reached == asked:
            return self.after(link.url, response, seconds)
        if reached and response.failure not in NOT_ASKED | NOT_YET_ASKED:
            self.after(response.url, response, seconds)
        redirected = Response(link, link.url, 302)
        # how long the redirect alone took is not known
        wait = self.after(link.url, redirected, min(seconds, 0.5))
        if response.failure == "resting":  # until the other host is ready, every try is in vain
            other = retry_after(response.headers, self._wall_clock()) or 0.0
            wait = max(wait, min(other, _LONGEST_DETOUR))
        return wait

    def after(self, url: str, response: Response, seconds: float) -> float:
        """Hold a URL's host after a response that took so many seconds; returns for how long."""
        host, now = host_of(url), self._wall_clock()
        wait = self._delay_after(host, response, seconds, now, self.crawl_delay(url))
        self.hold(host, wait)
        if may_pass(response):
            self._news[host, RESTS_UNTIL] = OfHost(host, RESTS_UNTIL, now + wait)
        return wait

    def given_up(self) -> list[str]:
        """The hosts that are not asked for now because they kept failing."""
        most = self._limits.failures
        return [host for host, record in self._records.items() if record.failures >= most]

    def _delay_after(
        self, host: str, response: Response, seconds: float, now: float, crawl_delay: float | None
    ) -> float:
        if response.failure in NOT_ASKED:
            return 0.0
        record, limits, delay = self._record(host), self._limits, self._delay_of(host)
        asked_for = min(retry_after(response.headers, now) or 0.0, limits.longest_retry_after)
        if response.failure in NOT_YET_ASKED:
            return max(delay, asked_for)
        usual = self._usual(delay, record, seconds, crawl_delay)
        if _is_well(response):
            self._count(host, record, 0)
            return max(usual, asked_for) if 300 <= response.status < 400 else usual
        self._count(host, record, record.failures + 1)
        if response.status in _OVERLOADED:
            self._unhurried.setdefault(host, 0.0)
        if record.failures >= limits.failures:
            return max(usual, asked_for, limits.pause)
        back_off = min(limits.longest, max(delay, 1.0) * 2.0**record.failures)
        return max(usual, asked_for, back_off)

    def _delay_of(self, host: str) -> float:
        """Seconds between two requests to a host, unless it asks for more."""
        return self.host_delays.get(host, self.delay)

    def _usual(
        self, delay: float, record: _Record, seconds: float, crawl_delay: float | None
    ) -> float:
        before = seconds if record.seconds is None else record.seconds
        record.seconds = before + _SMOOTHING * (seconds - before)
        is_sparing = delay and self._limits.per_host == 1
        slow = self._limits.slowness * record.seconds if is_sparing else 0.0
        return max(delay, min(max(slow, crawl_delay or 0.0), self._limits.longest))

    # ------------------------------------------------------------------- what is stored

    def news(self) -> tuple[OfHost, ...]:
        """What was learnt of hosts since the last call, to be stored with a visit."""
        news, self._news = tuple(self._news.values()), {}
        return news

    def recall(self, learnt: Iterable[OfHost]) -> None:
        """Restore what was learnt of hosts before the crawl was resumed."""
        for host, what, value in learnt:
            if isinstance(value, bytes):
                continue
            if what == FAILURES and value:  # hosts that answer would take the room of others
                self._record(host).failures = int(value)
                self._news.pop((host, FAILURES), None)
            elif what == RESTS_UNTIL:
                self.hold(host, max(0.0, value - self._wall_clock()))

    def _count(self, host: str, record: _Record, failures: int) -> None:
        if failures != record.failures:
            record.failures = failures
            self._news[host, FAILURES] = OfHost(host, FAILURES, failures)

    def _record(self, host: str) -> _Record:
        record = self._records.get(host)
        if record is None:
            if len(self._records) >= _CAPACITY:
                del self._records[next(iter(self._records))]
            record = self._records[host] = _Record()
            self._news[host, FAILURES] = OfHost(host, FAILURES, 0)
        return record


@dataclass(slots=True)
class _Queue:
    inside: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    ready: float = 0.0  # the clock's time at which the next may enter

    @property
    def users(self) -> int:
        return self.inside + len(self.waiting)


class _Queues:
    """One queue for each key: a few may enter at once, an interval apart."""

    def __init__(
        self,
        at_once: Callable[[str], int | None],  # how many may be inside now; None: any number
        interval: float,  # seconds between two entries
        clock: Clock,
        sleep: Sleep,
    ) -> None:
        self._at_once = at_once
        self._interval = interval
        self._clock = clock
        self._sleep = sleep
        self._queues: dict[str, _Queue] = {}
        self._sweep_at = _SWEEP_AT

    async def enter(self, key: str, seconds: float) -> bool:
        """Wait so long for a place; False when there was none. Whoever enters must leave."""
        most = self._at_once(key)
        if most is None:
            return True
        queue = self._queues.get(key) or self._open(key)
        if queue.inside < most and not queue.waiting:
            queue.inside += 1
        elif not await self._wait(key, queue, seconds):
            return False
        return await self._pass_interval(key, queue)

    def leave(self, key: str) -> None:
        """Free a place for the next."""
        if (queue := self._queues.get(key)) is not None:
            queue.inside -= 1
            self._let_in(key, queue)

    async def _wait(self, key: str, queue: _Queue, seconds: float) -> bool:
        place = asyncio.get_running_loop().create_future()
        queue.waiting.append(place)
        try:
            async with asyncio.timeout(seconds):
                await place
        except BaseException as error:
            if place.done() and not place.cancelled():  # it came in the same moment
                self.leave(key)
            else:
                with suppress(ValueError):  # it may have been passed over already
                    queue.waiting.remove(place)
                self._let_in(key, queue)
            if isinstance(error, TimeoutError):
                return False
            raise
        return True

    def _let_in(self, key: str, queue: _Queue) -> None:
        """Give free places to those who wait longest, and forget an empty queue."""
        most = self._at_once(key)
        while queue.waiting and (most is None or queue.inside < most):
            place = queue.waiting.popleft()
            if not place.done():
                place.set_result(None)
                queue.inside += 1
        if not queue.users and not self._interval:
            self._queues.pop(key, None)

    async def _pass_interval(self, key: str, queue: _Queue) -> bool:
        if self._interval:
            now = self._clock()
            wait = queue.ready - now
            queue.ready = max(now, queue.ready) + self._interval
            if wait > 0:
                try:
                    await self._sleep(wait)
                except BaseException:
                    self.leave(key)
                    raise
        return True

    def _open(self, key: str) -> _Queue:
        if len(self._queues) >= self._sweep_at:
            now = self._clock()
            for idle in [k for k, q in self._queues.items() if not q.users and q.ready <= now]:
                del self._queues[idle]
            self._sweep_at = max(_SWEEP_AT, 2 * len(self._queues))
        queue = self._queues[key] = _Queue()
        return queue


def is_redirect(response: Response) -> bool:
    """Whether a response is a redirect that can be followed."""
    return response.status in _REDIRECTS and "location" in response.headers


def may_pass(response: Response) -> bool:
    """Whether a response may be a better one the next time, so that a retry is worth it."""
    is_lasting = response.failure == "plain http"  # another try would meet the same server
    return (not _is_well(response) and not is_lasting) or _redirects_later(response)


def _is_well(response: Response) -> bool:
    is_unwell = response.status == 429 or response.status >= 500
    return not is_unwell and response.failure not in HOST_FAILURES | NOT_YET_ASKED


def _redirects_later(response: Response) -> bool:
    """Whether a response is a redirect that was not followed because of a long Retry-After."""
    return is_redirect(response) and not response.failure and "retry-after" in response.headers


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that a Retry-After header asks for, from a number or a date."""
    value = headers.get("retry-after", "").strip()
    number = value.partition(",")[0]  # a header given twice is joined by a comma
    try:
        if number[:1].isdigit() and number.isascii():
            return float(number)  # too large a number is infinite
        date = parsedate_to_datetime(value)
        # HTTP has no other zone, whether a date names one or not (RFC 9110, 5.6.7)
        when = date if date.tzinfo else date.replace(tzinfo=UTC)
        return max(0.0, when.timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None
