"""What a crawl will not ask for, on any hop: lists, and hosts that are at rest."""

import asyncio
import math
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from honeyguide import urls
from honeyguide.contracts import Link, Response
from honeyguide.urls.patterns import DENIED, OUTSIDE, Refusal
from honeyguide.web.fetch_limits import Terms, WebFetcher
from honeyguide.web.request_url import host_of, origin_of

ANOTHER_HOST = "another host: say --contact to go further"
NOT_ADMITTED = frozenset({DENIED, OUTSIDE, ANOTHER_HOST})
_CAPACITY = 100_000  # hosts at rest that are remembered
# seconds, more than any Crawl-delay or slowness asks for; who would wait longer comes back later
_PATIENCE = 61.0


class Admitted:
    """Asks another fetcher for what nothing speaks against, and for nothing of a host at rest."""

    def __init__(
        self,
        fetcher: WebFetcher,
        refusals: Sequence[Refusal] = (),
        delay: float = 0.0,  # seconds between two requests to a host, however it is come to
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetcher = fetcher
        self._refusals = refusals
        self._delay = delay
        self._clock = clock
        self._until: dict[str, float] = {}  # by host
        # by host, who was there last; a number would be given to another task soon
        self._guests: dict[str, weakref.ref[Any]] = {}

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """Bring what a link points to, if it may be asked for now."""
        url = urls.canonical(link.url) or link.url
        for refusal in self._refusals:
            if reason := refusal(url):
                return Response(link, link.url, 0, failure=reason)
        host, guest = host_of(url), weakref.ref(asyncio.current_task())
        # who is led on within a host need not wait: to it, that is one visit
        while self._guests.get(host) != guest and (wait := self.wait(host)) > 0:
            if wait > _PATIENCE:
                headers = {"retry-after": str(math.ceil(wait))}
                return Response(link, link.url, 0, headers, failure="resting")
            await asyncio.sleep(wait)  # meanwhile another may have gone first
        self.rest(host, self._delay)
        self._guests[host] = guest
        return await self._fetcher.fetch(link, terms)

    def wait(self, host: str) -> float:
        """Seconds until a host may be asked; less than nothing when it may be now."""
        return self._until.get(host, 0.0) - self._clock()

    def rest(self, host: str, seconds: float) -> None:
        """Leave a host alone for so long at least."""
        now = self._clock()
        self._guests.pop(host, None)
        if seconds and now + seconds > self._until.get(host, 0.0):
            self._until[host] = now + seconds
        if len(self._guests) > _CAPACITY:
            self._guests.clear()
        if len(self._until) > _CAPACITY:
            waiting = sorted((until, each) for each, until in self._until.items() if until > now)
            # to half the room, so that it is not sorted for every host
            self._until = {each: until for until, each in waiting[-_CAPACITY // 2 :]}

    def met(self, host: str) -> None:
        """Count a host among those that were asked."""
        for refusal in self._refusals:
            refusal(f"{origin_of(host)}/")

    async def close(self) -> None:
        """Close the other fetcher."""
        await self._fetcher.close()


def few_hosts(most: int) -> Refusal:
    """Refuses all hosts but the first few that are asked for."""
    known: set[str] = set()

    def refusal(url: str) -> str:
        host = host_of(url)
        if host and len(known) < most:
            known.add(host)
        return "" if not host or host in known else ANOTHER_HOST

    return refusal
