"""Crawl a generated web."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from honeyguide.contracts import Judge, Link, Page, Truth, Verdict, Visit
from honeyguide.errors import HoneyguideError, unknown
from honeyguide.registry import part
from honeyguide.worlds.drawing import drawn
from honeyguide.worlds.synthetic.draft import Draft, links_of, text_of
from honeyguide.worlds.synthetic.layout import (
    BROKEN,
    FINE,
    GONE,
    INDEX,
    NOT_FOUND,
    SILENT,
    Layout,
    Spot,
)
from honeyguide.worlds.synthetic.manners import House
from honeyguide.worlds.synthetic.names import Names
from honeyguide.worlds.synthetic.traps import Traps
from honeyguide.worlds.synthetic.truth import arrives, link_counts, reachable, whole_truth
from honeyguide.worlds.synthetic.wiring import Wiring
from honeyguide.worlds.synthetic.writing import Writer

VERSION = "synthetic-v1"
FAILURES = {NOT_FOUND: "status 404", GONE: "status 410", BROKEN: "status 500", SILENT: "timeout"}
COUNTED = 100_000  # pages from which labels are counted; in larger webs counts are estimates
_NOTHING = Verdict(0.0, False)


@part("world", "synthetic", argument="pages")
class SyntheticWorld:
    """A generated web: each page is computed from its URL and the seed, none is stored."""

    live = False

    def __init__(
        self, judge: Judge, pages: int = 10_000, seed: int = 1, delays: bool = False
    ) -> None:
        self.judge = judge
        self.pages = pages
        self.seed = seed
        self.delays = delays  # whether visits take the response times of hosts
        self.layout = Layout(pages, seed)
        self.names = Names(self.layout, seed)
        self.wiring = Wiring(self.layout, seed)
        self.house = House(self.layout, self.names, seed)
        self.traps = Traps(self.names, seed)
        self._truth: Truth | None = None
        self._writer = Writer(self.names, self.wiring, self.traps, seed)

    def __reduce__(self) -> tuple[Any, ...]:
        return SyntheticWorld, (self.judge, self.pages, self.seed, self.delays)

    async def visit(self, link: Link) -> Visit:
        """Generate the page at a link and judge it."""
        spot = self.spot(link.url)
        seconds, rest = 0.0, None
        if self.delays and spot is not None:
            seconds = self.house.seconds(spot)
            rest = self.house.manners(spot.host).crawl_delay
            await asyncio.sleep(seconds)
        draft = self._draft(link.url, spot)
        if draft is None:
            failure = FAILURES[spot.status if spot else NOT_FOUND]
            return Visit(link, None, _NOTHING, None, failure, seconds, rest)
        page = read(draft, link.depth + 1)
        return Visit(link, page, self.judge(page), None, "", seconds, rest)

    def spot(self, url: str) -> Spot | None:
        """The layout of the page at a URL; None if there is no such page."""
        page = self.names.find_page(url)
        return self.layout.spot(page) if page >= 0 else None

    def draft(self, url: str) -> Draft | None:
        """The page that a visit to a URL shows, after redirects; None if the visit fails."""
        return self._draft(url, self.spot(url))

    def _draft(self, url: str, spot: Spot | None) -> Draft | None:
        if spot is None:
            return self._trap(url)
        seen = arrives(self.layout, spot)
        return self._writer.draft(seen) if seen else None

    def _trap(self, url: str) -> Draft | None:
        name, slash, path = url.removeprefix("http://").partition("/")
        host = self.names.find_host(name) if url.startswith("http://") else None
        return self._writer.trap(host, slash + path) if host else None

    def find(self, name: str) -> Link:
        """The link to a page by its URL, to a host by its name, or to pages near a topic."""
        wanted = name.strip()
        if "://" in wanted:
            if self.draft(wanted) is None:
                raise HoneyguideError(f"no page named {wanted!r} in this generated web")
            return Link(wanted)
        host = self.names.find_host(wanted.lower().rstrip("/"))
        if host is not None:
            return Link(self.names.url(self.layout.spot(host.start)))
        if wanted.lower() not in self.topics():
            raise unknown("page, host or topic", wanted, self.topics())
        return self._start(self.topics().index(wanted.lower()))

    def _start(self, topic: int) -> Link:
        """The link to a page that lists pages of a topic, in a portal if one has it."""
        page = self.wiring.portal_index(topic)
        if page is None:
            everywhere = map(self.layout.spot, range(self.pages))
            known = [s for s in everywhere if s.topic == topic and s.status == FINE]
            page = next(
                (s.page for s in known if s.role == INDEX), known[0].page if known else None
            )
        if page is None:
            raise HoneyguideError(
                f"no page about {self.topics()[topic]!r} in a web of {self.pages:,} pages"
            )
        return Link(self.names.url(self.layout.spot(page)))

    def sample(self, count: int, rng: np.random.Generator) -> list[Link]:
        """`count` pages drawn uniformly, with replacement."""
        pages = drawn(count, self.pages, rng)
        return [Link(self.names.url(self.layout.spot(page))) for page in pages]

    def hubs(self, count: int) -> list[Link]:
        """The pages with most links to other pages, most first, in webs of up to 500,000 pages."""
        links = link_counts(self.layout, self.wiring)
        pages = np.argsort(-links, kind="stable")[:count].tolist()
        return [Link(self.names.url(self.layout.spot(page))) for page in pages]

    def topics(self) -> tuple[str, ...]:
        """The topics that pages are about."""
        return self.names.vocabulary.topics

    def labels(self) -> dict[str, int]:
        """The number of pages with each label, estimated from a sample for large webs."""
        step = -(-self.pages // COUNTED)
        counts: Counter[str] = Counter()
        for page in range(0, self.pages, step):
            spot = arrives(self.layout, self.layout.spot(page))
            if spot is not None:
                counts.update(self._writer.labels(spot))
        return {label: count * step for label, count in sorted(counts.items())}

    async def close(self) -> None:
        """Nothing is open."""

    def truth(self, progress: Callable[[int, int], None] | None = None) -> Truth:
        """The links and relevance of every page, for webs of up to 500,000 pages."""
        if self._truth is None:
            self._truth = whole_truth(
                self.layout, self.wiring, self.names, self._is_relevant, progress
            )
        return self._truth

    def _is_relevant(self, spot: Spot) -> bool:
        prose, labels = self._writer.prose(spot), self._writer.labels(spot)
        page = Page(self.names.url(spot), prose.title, text_of(prose), labels=labels)
        return self.judge(page).relevant

    def bound(self, *seeds: Link) -> int:
        """The number of relevant pages that can be reached from these seeds."""
        truth = self.truth()
        seen = reachable(truth, [truth.index(seed.url) for seed in seeds])
        return int((truth.relevant & seen).sum())


def read(draft: Draft, depth: int) -> Page:
    """The page as a parser reads it."""
    text, links = text_of(draft.prose), links_of(draft, depth)
    return Page(draft.url, draft.prose.title, text, links, labels=draft.labels)
