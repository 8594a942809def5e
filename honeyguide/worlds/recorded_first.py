"""Serve pages from a recording where it has them, else from the live web (Friar 2017, §4.2.3)."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
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
    Restrictable,
    Sampled,
    Truth,
    Visit,
    World,
)
from honeyguide.errors import HoneyguideError
from honeyguide.urls.patterns import UrlLists


class RecordedFirst:
    """Visits a page in `record` if it is there, else in `beyond`, which takes longer."""

    def __init__(
        self,
        record: World,
        beyond: World,
        has: Callable[[str], bool],  # whether the record has the page at a URL
        recorded_seconds: float = 0.01,
        beyond_seconds: float = 1.0,  # Friar (2017): about 1 s a page
    ) -> None:
        if min(recorded_seconds, beyond_seconds) < 0:
            raise HoneyguideError("the seconds of a page must be zero or more")
        self.record, self.beyond = record, beyond
        self.has = lru_cache(maxsize=1 << 15)(has)  # menus repeat the same links on every page
        self.recorded_seconds, self.beyond_seconds = recorded_seconds, beyond_seconds
        self.live = beyond.live

    def seconds(self, url: str) -> float:
        """The seconds that the page at a URL takes, as an estimate for live fetches."""
        return self.recorded_seconds if self.has(url) else self.beyond_seconds

    async def visit(self, link: Link) -> Visit:
        """Visit a page in one of the two worlds; in a simulated crawl its clock advances."""
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
        """The link to a seed, which need not be recorded."""
        return self.beyond.find(name)

    def sample(self, count: int, rng: np.random.Generator) -> list[Link]:
        """Draw pages from the recording."""
        if not isinstance(self.record, Sampled):
            raise HoneyguideError("random pages cannot be drawn from this kind of recording")
        return self.record.sample(count, rng)

    def recall(self, learnt: Iterable[OfHost]) -> None:
        """Restore what was learnt about hosts, in the world beyond the recording."""
        if isinstance(self.beyond, Recalling):
            self.beyond.recall(learnt)

    def restrict(self, lists: UrlLists, delays: Mapping[str, float]) -> None:
        """Restrict the requests of the world beyond the recording."""
        if isinstance(self.beyond, Restrictable):
            self.beyond.restrict(lists, delays)

    def observe(self, observer: Callable[[Request], None]) -> None:
        """Call the observer for each request; the recording sends none."""
        if isinstance(self.beyond, Observable):
            self.beyond.observe(observer)

    def labels(self) -> dict[str, int]:
        """The labels of the recording."""
        return self.record.labels()

    def truth(self) -> Truth:
        """The truth about the world beyond the recording."""
        return self.beyond.truth()

    async def close(self) -> None:
        """Close both worlds."""
        await self.record.close()
        await self.beyond.close()
