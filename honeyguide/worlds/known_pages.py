"""Pages that a crawl has fetched, so that a walk which returns to one sends no request."""

import asyncio
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import IO

import zstandard

from honeyguide.contracts import (
    UNASKED,
    Link,
    Observable,
    OfHost,
    Recalling,
    Request,
    Restrictable,
    Truth,
    Visit,
    World,
)
from honeyguide.disk.serialise import pack_visit, text_from_bytes, text_to_bytes, unpack_visit
from honeyguide.urls.patterns import UrlLists


class KnownPages:
    """Wraps a live world: a page is requested once, and later visits are answered from a file.

    The file is a temporary one, since a page may be large and a walk may see many. Failures that
    are worth a retry are not kept.
    """

    def __init__(self, world: World, earlier: World | None = None) -> None:
        self.world = world
        self.earlier = earlier  # the pages that this crawl fetched before it was resumed
        self.live = world.live
        self._places: dict[str, tuple[int, ...]] = {}  # URL -> offset, bytes of visit, of text
        self._file: IO[bytes] | None = None
        self._asked: dict[str, asyncio.Event] = {}  # URLs whose first visit has not ended
        self._compress = zstandard.ZstdCompressor(level=1).compress

    async def visit(self, link: Link) -> Visit:
        """Visit a page, without a request if this crawl has fetched it."""
        while link.url in self._asked:  # by another walker
            await self._asked[link.url].wait()
        if link.url in self._places:
            return self._again(link)
        ended = self._asked[link.url] = asyncio.Event()
        try:
            return await self._first(link)
        finally:
            del self._asked[link.url]
            ended.set()

    async def _first(self, link: Link) -> Visit:
        visit = await self._from_earlier(link) or await self.world.visit(link)
        if visit.response is not None and not visit.again:
            self._keep(visit)
        return visit

    async def _from_earlier(self, link: Link) -> Visit | None:
        """The visit of an earlier run, if its answer was stored."""
        if self.earlier is None:
            return None
        visit = await self.earlier.visit(link)
        response = visit.response
        if response is None or not response.status or visit.again:
            return None
        if visit.page is not None and not response.body:  # noindex: its links were not stored
            return None
        self._keep(visit)
        return replace(visit, response=None, host_delay=UNASKED, seconds=0.0)

    def _keep(self, visit: Visit) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 closed by close()
        text = text_to_bytes(visit.page.text) if visit.page else b""
        pieces = self._compress(pack_visit(visit)), self._compress(text)
        place = self._file.seek(0, 2), *map(len, pieces)
        self._file.write(b"".join(pieces))
        self._places[visit.link.url] = place
        if visit.page is not None:  # where a redirect led
            self._places.setdefault(visit.page.url, place)

    def _again(self, link: Link) -> Visit:
        assert self._file is not None  # noqa: S101 for the type checker
        offset, *sizes = self._places[link.url]
        self._file.seek(offset)
        read = zstandard.ZstdDecompressor().decompress
        packed, text = (read(self._file.read(size)) for size in sizes)
        kept = unpack_visit(packed, text_from_bytes(text))
        return Visit(link, kept.page, kept.verdict, failure=kept.failure, host_delay=UNASKED)

    def recall(self, learnt: Iterable[OfHost]) -> None:
        """Restore what the wrapped world has learnt of hosts."""
        if isinstance(self.world, Recalling):
            self.world.recall(learnt)

    def restrict(self, lists: UrlLists, delays: Mapping[str, float]) -> None:
        """Restrict the requests of the wrapped world."""
        if isinstance(self.world, Restrictable):
            self.world.restrict(lists, delays)

    def observe(self, observer: Callable[[Request], None]) -> None:
        """Call the observer for each request of the wrapped world."""
        if isinstance(self.world, Observable):
            self.world.observe(observer)

    def find(self, name: str) -> Link:
        """As the wrapped world has it."""
        return self.world.find(name)

    def labels(self) -> dict[str, int]:
        """As the wrapped world has it."""
        return self.world.labels()

    def truth(self) -> Truth:
        """As the wrapped world has it."""
        return self.world.truth()

    async def close(self) -> None:
        """Remove the file, and close the wrapped worlds."""
        if self._file is not None:
            self._file.close()
        if self.earlier is not None:
            await self.earlier.close()
        await self.world.close()
