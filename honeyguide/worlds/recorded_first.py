"""A record of the web where it has a page, and the web beyond it (Friar 2017, §4.2.3)."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from honeyguide.contracts import (
    UNASKED,
    Link,
    Observable,
    OfHost,
    Recalling,
    Request,
    Sampled,
    Truth,
    Visit,
    World,
)
from honeyguide.errors import HoneyguideError


class RecordedFirst:
    """Two worlds as one: a page of the record costs next to nothing, any other one a fetch."""

    def __init__(
        self,
        record: World,
        beyond: World,
        has: Callable[[str], bool],  # whether the record has the page at a URL
        recorded_seconds: float = 0.01,
        beyond_seconds: float = 1.0,  # the document: on the order of 1 s a page
    ) -> None:
        if min(recorded_seconds, beyond_seconds) < 0:
            raise HoneyguideError("a page cannot cost less than no time")
        self.record, self.beyond = record, beyond
        self.has = lru_cache(maxsize=1 << 15)(has)  # menus name the same pages again and again
        self.recorded_seconds, self.beyond_seconds = recorded_seconds, beyond_seconds
        self.live = beyond.live

    def seconds(self, url: str) -> float:
        """What the page at a URL costs, or is thought to cost where it is really fetched."""
        return self.recorded_seconds if self.has(url) else self.beyond_seconds

    async def visit(self, link: Link) -> Visit:
        """Visit where it costs less; a simulated crawl spends the seconds on its own clock."""
        if self.has(link.url):
            visit = replace(await self.record.visit(link), host_delay=UNASKED)
        else:
            visit = await self.beyond.visit(link)
        if self.live:
            return visit
        seconds = self.seconds(link.url)
        await asyncio.sleep(seconds)
        return replace(visit, seconds=seconds)

    def find(self, name: str) -> Link:
        """The link to a seed, which need not be in the record."""
        return self.beyond.find(name)

    def sample(self, count: int, rng: np.random.Generator) -> list[Link]:
        """Pages drawn from the record."""
        if not isinstance(self.record, Sampled):
            raise HoneyguideError("no page can be drawn from a record like this")
        return self.record.sample(count, rng)

    def recall(self, learnt: Iterable[OfHost]) -> None:
        """What was learnt of hosts was learnt beyond the record."""
        if isinstance(self.beyond, Recalling):
            self.beyond.recall(learnt)

    def observe(self, observer: Callable[[Request], None]) -> None:
        """Requests are sent beyond the record only."""
        if isinstance(self.beyond, Observable):
            self.beyond.observe(observer)

    def labels(self) -> dict[str, int]:
        """The labels of the record."""
        return self.record.labels()

    def truth(self) -> Truth:
        """All that can be found beyond the record too."""
        return self.beyond.truth()

    async def close(self) -> None:
        """Close both."""
        await self.record.close()
        await self.beyond.close()
