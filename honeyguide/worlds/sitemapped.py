"""Add a site's sitemap links to the first page that is visited there."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from msgspec import structs

from honeyguide import urls
from honeyguide.contracts import (
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
from honeyguide.urls.patterns import UrlLists

TAG_PATH = "sitemap"
READ = "sitemaps"  # name of the stored fact that a host's sitemaps were read


class Sitemapped:
    """Wraps a world and reads each host's sitemaps once."""

    def __init__(
        self,
        world: World,
        read: Callable[[str, float], Awaitable[Sequence[Link]]],
        most: int = 1000,  # links taken from a host's sitemaps
    ) -> None:
        self._world = world
        self._read = read  # (URL, seconds until its host may be requested) -> links of its sitemaps
        self._most = most
        self._hosts: set[str] = set()
        self.live = world.live

    async def visit(self, link: Link) -> Visit:
        """Visit a page, and add the sitemap links if its host is new."""
        visit = await self._world.visit(link)
        if visit.page is None or (host := urls.host(visit.page.url)) in self._hosts:
            return visit
        self._hosts.add(host)
        found = (
            structs.replace(link, url=url, tag_path=TAG_PATH, source=visit.page.url)
            for link in await self._read(visit.page.url, visit.host_delay or 0.0)
            if (url := urls.canonical(link.url)) is not None
        )
        links = (*visit.page.links, *islice(found, self._most))
        learnt = (*visit.learnt, OfHost(host, READ, 1))
        return replace(visit, page=replace(visit.page, links=links), learnt=learnt)

    def recall(self, learnt: Iterable[OfHost]) -> None:
        """Restore whose sitemaps were read, and what the wrapped world has learnt."""
        self._hosts |= {host for host, what, _ in learnt if what == READ}
        if isinstance(self._world, Recalling):
            self._world.recall(learnt)

    def restrict(self, lists: UrlLists, delays: Mapping[str, float]) -> None:
        """Restrict the requests of the wrapped world."""
        if isinstance(self._world, Restrictable):
            self._world.restrict(lists, delays)

    def observe(self, observer: Callable[[Request], None]) -> None:
        """Call the observer for each request of the wrapped world."""
        if isinstance(self._world, Observable):
            self._world.observe(observer)

    def find(self, name: str) -> Link:
        """As the wrapped world has it."""
        return self._world.find(name)

    def labels(self) -> dict[str, int]:
        """As the wrapped world has it."""
        return self._world.labels()

    def truth(self) -> Truth:
        """As the wrapped world has it."""
        return self._world.truth()

    async def close(self) -> None:
        """Close the wrapped world."""
        await self._world.close()
