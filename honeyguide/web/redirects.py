"""Redirects, followed one checked hop at a time."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from msgspec import structs

from honeyguide.contracts import Link, Response
from honeyguide.urls.spelling import MAX_LENGTH
from honeyguide.web.fetch_limits import Terms, WebFetcher
from honeyguide.web.request_url import follow

_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class Redirects:
    """Follows redirects through a fetcher, so that every hop passes all of its checks."""

    def __init__(
        self,
        fetcher: WebFetcher,
        limit: int = 10,
        patience: float = 120.0,
        clock: Callable[[], float] | None = None,  # None: the loop's
    ) -> None:
        self._fetcher = fetcher
        self._limit = limit
        self._patience = patience  # seconds after which no further hop is begun
        self._clock = clock

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """Bring what a link leads to in the end."""
        response = await self._fetcher.fetch(link, terms)
        if not _leads_on(response):
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
            seen.add(url)
            response = await self._fetcher.fetch(structs.replace(link, url=url), terms)
            if not _leads_on(response):
                return replace(response, link=link)
        return replace(response, link=link, failure="too many redirects")

    async def close(self) -> None:
        """Close the fetcher."""
        await self._fetcher.close()


def _leads_on(response: Response) -> bool:
    return response.status in _REDIRECTS and "location" in response.headers
