"""Crawl a recorded web."""

import asyncio
from collections.abc import Callable

import numpy as np

from honeyguide.contracts import Judge, Link, Page, Truth, Verdict, Visit
from honeyguide.recorded.graph import Graph
from honeyguide.registry import part
from honeyguide.worlds.drawing import drawn

NOT_FOUND = Verdict(0.0, False)
LOOKED_AT = 100  # pages that `has_texts` looks at


@part("world", "graph", argument="path", files="path")
class GraphWorld:
    """A recorded web on disk, made by 'honeyguide import'."""

    live = False

    def __init__(
        self,
        path: str,
        judge: Judge,
        latency: float = 0.0,  # seconds that a visit takes
        outside: bool = False,  # whether pages have their links to pages that are not recorded
    ) -> None:
        self.graph = Graph.open(path)
        self.judge = judge
        self.latency = latency
        self.outside = outside
        self._truth: Truth | None = None

    async def visit(self, link: Link) -> Visit:
        """Look a page up and judge it."""
        if self.latency > 0:
            await asyncio.sleep(self.latency)
        number = self.graph.index(link.url)
        if number < 0:
            return Visit(link, None, NOT_FOUND, failure="not recorded", seconds=self.latency)
        page = self.graph.page(number, self.outside)
        return Visit(link, page, self.judge(page), seconds=self.latency)

    def has(self, url: str) -> bool:
        """Whether the page at a URL was recorded."""
        return self.graph.index(url) >= 0

    def has_texts(self) -> bool:
        """Whether any of a sample of pages has text; pages from WAT files have none."""
        step = max(1, len(self.graph) // LOOKED_AT)
        some = range(0, len(self.graph), step)
        return any(self.graph.page_without_links(page).text for page in some)

    def find(self, name: str) -> Link:
        """The link to the page with this id, title or URL, in any case."""
        return Link(self.graph.url(self.graph.find(name)))

    def sample(self, count: int, rng: np.random.Generator) -> list[Link]:
        """`count` pages drawn uniformly, with replacement."""
        return [Link(self.graph.url(page)) for page in drawn(count, len(self.graph), rng)]

    def hubs(self, count: int) -> list[Link]:
        """The pages with most links to recorded pages, most first."""
        links = np.diff(self.graph.inside()[0])
        pages = np.argsort(-links, kind="stable")[:count].tolist()
        return [Link(self.graph.url(page)) for page in pages]

    def labels(self) -> dict[str, int]:
        """How many pages have each label."""
        return self.graph.labels()

    async def close(self) -> None:
        """Nothing is open."""

    def truth(self, progress: Callable[[int, int], None] | None = None) -> Truth:
        """Judge all pages, on the first call; return verdicts and links."""
        if self._truth is None:
            count = len(self.graph)
            relevant = np.zeros(count, bool)
            for number in range(count):
                relevant[number] = self.judge(self._judged(number)).relevant
                if progress is not None:
                    progress(number + 1, count)
            links = self.graph.inside()
            self._truth = Truth(self.graph.index, relevant, *links, self.graph.url)
        return self._truth

    def _judged(self, number: int) -> Page:
        """A page for the judge, with links only if the judge reads them."""
        if getattr(self.judge, "reads_links", True):
            return self.graph.page(number, self.outside)
        return self.graph.page_without_links(number)
