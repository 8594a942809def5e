"""The readable web as a world to crawl."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from honeyguide.contracts import Judge, Link, Page, Truth, Verdict, Visit
from honeyguide.errors import HoneyguideError, unknown
from honeyguide.registry import part
from honeyguide.worlds.drawing import drawn
from honeyguide.worlds.readable.layout import (
    BROKEN,
    FINE,
    GONE,
    LEAST_PAGES,
    MOVED,
    NOT_FOUND,
    SILENT,
    Layout,
    Spot,
)
from honeyguide.worlds.readable.vocabulary import vocabulary
from honeyguide.worlds.readable.wiring import Wiring
from honeyguide.worlds.readable.writing import Writer
from honeyguide.worlds.synthetic.draft import links_of, text_of

VERSION = "readable-v1"
FAILURES = {NOT_FOUND: "status 404", GONE: "status 410", BROKEN: "status 500", SILENT: "timeout"}
_NOTHING = Verdict(0.0, False)


@part("world", "readable", argument="pages")
class ReadableWorld:
    """A generated web in plain English: pages that make sense, of 16 topics."""

    live = False

    def __init__(self, judge: Judge, pages: int = 6000, seed: int = 1) -> None:
        if pages < LEAST_PAGES:
            raise HoneyguideError(f"the readable web has at least {LEAST_PAGES} pages")
        self.judge, self.pages, self.seed = judge, pages, seed
        self.layout = Layout(pages, seed, vocabulary())
        self.wiring = Wiring(self.layout, seed)
        self.writer = Writer(self.layout, self.wiring, seed)
        self._numbers = {url: page for page, url in enumerate(self.writer.urls)}
        self._numbers |= {url: page for page, url in self.writer.old_urls.items()}
        self._truth: Truth | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return ReadableWorld, (self.judge, self.pages, self.seed)

    async def visit(self, link: Link) -> Visit:
        """Write the page at a link and judge it."""
        spot = self.spot(link.url)
        status = NOT_FOUND if spot is None else self._status(spot)
        if spot is None or status not in (FINE, MOVED):
            return Visit(link, None, _NOTHING, failure=FAILURES[status])
        page = self.read(spot, link.depth + 1)
        return Visit(link, page, self.judge(page))

    def read(self, spot: Spot, depth: int = 0) -> Page:
        """The page as a parser would give it."""
        draft = self.writer.draft(spot)
        text, links = text_of(draft.prose), links_of(draft, depth)
        return Page(draft.url, draft.prose.title, text, links, labels=draft.labels)

    def spot(self, url: str) -> Spot | None:
        """What is settled of the page at a URL; None when there is none."""
        page = self._numbers.get(url)
        return None if page is None else self.layout.spots[page]

    def _status(self, spot: Spot) -> int:
        return SILENT if self.layout.hosts[spot.host].is_down else spot.status

    def find(self, name: str) -> Link:
        """The link to a page by its URL, to a host by its name, or to a list of a topic's pages."""
        wanted = name.strip()
        if self.spot(wanted):
            return Link(wanted)
        host = wanted.lower().rstrip("/")
        if host in self.writer.domains:
            return Link(f"http://{host}/")
        if "://" in wanted:
            raise HoneyguideError(f"no page named {wanted!r} in this generated web")
        if wanted.lower() not in self.topics():
            raise unknown("page, host or topic", wanted, self.topics())
        return Link(self.writer.urls[self.wiring.start(self.topics().index(wanted.lower()))])

    def topics(self) -> tuple[str, ...]:
        """The topics that pages are about."""
        return tuple(topic.name for topic in self.layout.vocabulary.topics)

    def sample(self, count: int, rng: np.random.Generator) -> list[Link]:
        """So many pages, each as likely as any other."""
        return [Link(self.writer.urls[page]) for page in drawn(count, self.pages, rng)]

    def labels(self) -> dict[str, int]:
        """How many pages have each label."""
        counts: Counter[str] = Counter()
        for spot in filter(self._can_be_read, self.layout.spots):
            counts.update(self.writer.labels(spot))
        return dict(sorted(counts.items()))

    async def close(self) -> None:
        """Nothing is open."""

    def truth(self, progress: Callable[[int, int], None] | None = None) -> Truth:
        """Every page's links and relevance."""
        if self._truth is None:
            self._truth = self._whole(progress)
        return self._truth

    def _whole(self, progress: Callable[[int, int], None] | None) -> Truth:
        relevant, offsets = np.zeros(self.pages, np.bool_), np.zeros(self.pages + 1, np.int64)
        targets: list[int] = []
        for spot in self.layout.spots:
            if self._can_be_read(spot):
                relevant[spot.page] = self.judge(self._judged(spot)).relevant
                targets += sorted(set().union(*self.wiring.links(spot.page)) - {spot.page})
            offsets[spot.page + 1] = len(targets)
            if progress is not None:
                progress(spot.page + 1, self.pages)
        url = self.writer.urls.__getitem__
        return Truth(self._index, relevant, offsets, np.array(targets, np.int32), url)

    def _judged(self, spot: Spot) -> Page:
        """A page as its judge needs it."""
        if getattr(self.judge, "reads_only_labels", False):
            return Page(self.writer.urls[spot.page], labels=self.writer.labels(spot))
        return self.read(spot)

    def _can_be_read(self, spot: Spot) -> bool:
        return self._status(spot) in (FINE, MOVED)

    def _index(self, url: str) -> int:
        return self._numbers.get(url, -1)
