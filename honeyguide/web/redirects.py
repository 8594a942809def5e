"""Redirects, followed one checked hop at a time."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

from msgspec import structs

from honeyguide.contracts import Link, Response
from honeyguide.urls.spelling import MAX_LENGTH
from honeyguide.web.fetch_limits import Terms, WebFetcher
from honeyguide.web.politeness import leads_on, retry_after
from honeyguide.web.request_url import follow, host_of

_LONGEST_WAIT = 60.0  # seconds before a hop; who would wait longer comes back later


class Redirects:
    """Follows redirects through a fetcher, so that every hop passes all of its checks."""

    def __init__(
        self,
        fetcher: WebFetcher,
        limit: int = 10,
        patience: float = 120.0,
        clock: Callable[[], float] | None = None,  # None: the loop's
        leave: Callable[[str, float], None] = lambda host, seconds: None,  # alone for so long
        wall_clock: Callable[[], float] = time.time,  # seconds since 1970
    ) -> None:
        self._fetcher = fetcher
        self._limit = limit
        self._patience = patience  # seconds after which no further hop is begun
        self._clock = clock
        self._leave = leave
        self._wall_clock = wall_clock

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """Bring what a link leads to in the end, or a redirect that must not be followed yet."""
        response = await self._fetcher.fetch(link, terms)
        if not leads_on(response):
            return response
        seen = {response.url}
        clock = self._clock or asyncio.get_running_loop().time
        deadline = clock() + self._patience
        for _ in range(self._limit):
            url = follow(response.url, response.headers["location"])
            if len(url) > MAX_LENGTH:
                return replace(response, link=link, failure="bad url")
            if url in seen:  # without cookies, the second answer would be the first
                break
            if clock() >= deadline:
                return replace(response, link=link, failure="timeout")
            if not await self._wait(response, deadline - clock()):
                return replace(response, link=link)
            seen.add(url)
            response = await self._fetcher.fetch(structs.replace(link, url=url), terms)
            if not leads_on(response):
                return replace(response, link=link)
        return replace(response, link=link, failure="too many redirects")

    async def _wait(self, response: Response, seconds_left: float) -> bool:
        """Wait for as long as a redirect asks to (RFC 9110, 10.2.3); False if that is too long."""
        wait = retry_after(response.headers, self._wall_clock()) or 0.0
        if wait > min(seconds_left, _LONGEST_WAIT):
            return False
        if wait:
            self._leave(host_of(response.url), wait)
            await asyncio.sleep(wait)
        return True

    async def close(self) -> None:
        """Close the fetcher."""
        await self._fetcher.close()
