"""robots.txt on the way to every page: fetched once, kept for a day, obeyed on every hop."""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from honeyguide.contracts import Link, Response
from honeyguide.fetchers.politeness import retry_after
from honeyguide.fetchers.redirects import Redirects
from honeyguide.fetchers.robots_txt import Decision, RobotsTxt
from honeyguide.fetchers.targets import target
from honeyguide.fetchers.terms import ANYTHING, Terms, WebFetcher

_MAX_BYTES = 600 * 1024  # RFC 9309, 2.5 asks for at least 500 KiB
_MAX_REDIRECTS = 5  # RFC 9309, 2.3.1.2
_LIFETIME = 86_400.0  # seconds; RFC 9309, 2.4
_FIRST_RETRY = 60.0  # seconds until an unreachable robots.txt is asked for again; then doubled
_LAST_RETRY = 3_600.0
_CAPACITY = 20_000  # robots.txt files that are kept
_MAX_WEIGHT = 200_000_000  # bytes of memory, about, of all files that are kept
_TERMS = Terms(ANYTHING, _MAX_BYTES, _MAX_BYTES, cut=True)
_ALLOW_ALL = RobotsTxt(b"", "")


@dataclass(frozen=True, slots=True)
class _Known:
    rules: RobotsTxt | None  # None: nothing may be fetched
    until: float  # by the clock
    reason: str = ""  # why there is no file to go by
    failure: str = ""  # of a response that is refused for that reason
    failures: int = 0  # in a row


class Robots:
    """Asks a site's robots.txt before each request, and refuses what it forbids."""

    def __init__(
        self,
        fetcher: WebFetcher,
        user_agent: str,
        clock: Callable[[], float] = time.monotonic,
        redirects_clock: Callable[[], float] | None = None,  # None: the loop's
    ) -> None:
        self._fetcher = fetcher
        self._robots_fetcher = Redirects(fetcher, _MAX_REDIRECTS, clock=redirects_clock)
        self._user_agent = user_agent
        self._clock = clock
        self._known: OrderedDict[str, _Known] = OrderedDict()
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
            return Response(link, place.url, 0, wait, failure=known.failure)
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
            return Decision(False, known.reason)
        decision = known.rules.decide(url)
        return decision._replace(rule=known.reason) if known.reason else decision

    def crawl_delay(self, url: str) -> float | None:
        """Seconds between two requests that a site asks for, as far as it is known."""
        place = target(url)
        known = None if isinstance(place, str) else self._known.get(place.origin)
        return known.rules.crawl_delay if known and known.rules else None

    async def close(self) -> None:
        """Close the fetcher."""
        for task in self._pending.values():
            task.cancel()
        await self._fetcher.close()

    async def _ask(self, origin: str) -> _Known:
        known = self._known.get(origin)
        if known is not None and self._clock() < known.until:
            self._known.move_to_end(origin)
            return known
        task = self._pending.get(origin)
        if task is None:
            task = self._pending[origin] = asyncio.create_task(self._renew(origin, known))
        return await asyncio.shield(task)

    async def _renew(self, origin: str, before: _Known | None) -> _Known:
        try:
            response = await self._robots_fetcher.fetch(Link(f"{origin}/robots.txt"), _TERMS)
        finally:
            del self._pending[origin]
        known = self._read(response, before)
        self._keep(origin, known)
        return known

    def _read(self, response: Response, before: _Known | None) -> _Known:
        """What an answer means by RFC 9309, 2.3.1."""
        now, status, failure = self._clock(), response.status, response.failure
        # 429 is no absence of rules but a plea for patience
        is_absent = not failure and 300 <= status < 500 and status != 429
        if is_absent or failure == "too many redirects":
            return _Known(_ALLOW_ALL, now + _LIFETIME, f"robots.txt: {failure or status}")
        if not failure and status < 300:
            return _Known(RobotsTxt(response.body, self._user_agent), now + _LIFETIME)
        failures = before.failures + 1 if before else 1
        wish = min(retry_after(response.headers, time.time()) or 0.0, _LIFETIME)
        until = now + max(wish, min(_LAST_RETRY, _FIRST_RETRY * 2.0 ** (failures - 1)))
        if before and before.rules:  # an old file is better than none, RFC 9309, 2.4
            return _Known(before.rules, until, before.reason, failures=failures)
        reason = f"robots.txt is unreachable: {failure or status}"
        is_down = status == 0 and response.url == response.link.url
        return _Known(None, until, reason, failure if is_down else "robots unreachable", failures)

    def _keep(self, origin: str, known: _Known) -> None:
        self._drop(origin)
        self._known[origin] = known
        self._weight += known.rules.weight if known.rules else 0
        while len(self._known) > _CAPACITY or (self._weight > _MAX_WEIGHT and len(self._known) > 1):
            self._drop(next(iter(self._known)))

    def _drop(self, origin: str) -> None:
        known = self._known.pop(origin, None)
        if known and known.rules:
            self._weight -= known.rules.weight
