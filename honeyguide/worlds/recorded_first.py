"""A record of the web where it has a page, and the web beyond it (document 004, 4.2.3)."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from honeyguide.contracts import Link, Truth, Visit, World
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
        self.record, self.beyond, self.has = record, beyond, has
        self.recorded_seconds, self.beyond_seconds = recorded_seconds, beyond_seconds
        self.live = beyond.live

    def seconds(self, url: str) -> float:
        """What the page at a URL costs, or is thought to cost where it is really fetched."""
        return self.recorded_seconds if self.has(url) else self.beyond_seconds

    async def visit(self, link: Link) -> Visit:
        """Visit where it costs less; a simulated crawl spends the seconds on its own clock."""
        recorded = self.has(link.url)
        world = self.record if recorded else self.beyond
        if world.live:
            return await world.visit(link)
        seconds = self.seconds(link.url)
        if not self.live:
            await asyncio.sleep(seconds)
        return replace(await world.visit(link), seconds=seconds)

    def find(self, name: str) -> Link:
        """The link to a seed, as the record knows it."""
        return self.record.find(name)

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
