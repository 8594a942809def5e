"""Organisations' sites as a world to crawl."""

from collections import Counter
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from honeyguide.contracts import Judge, Link, Page, Truth, Verdict, Visit
from honeyguide.errors import HoneyguideError, unknown
from honeyguide.registry import part
from honeyguide.source_finder.organisations.html import render
from honeyguide.source_finder.organisations.sites import Habit, Site, make_site
from honeyguide.web.html import parse

ONE_CLICK = (1.0, 0.0, 0.0, 0.0)
MANY = (2, 6)  # decoys: 40 sites with as few as the others have show too few to learn from
AS_FOUND = (0.5, 0.2, 0.08, 0.22)
# set -> number of sites (table III of Liao and Chang (2022)), and what they are like
SETS = {
    "train": (40, Habit(("train",), ONE_CLICK, MANY)),
    "validation": (20, Habit(("train",), ONE_CLICK, MANY)),
    "tesw": (100, Habit(("test",), ONE_CLICK)),
    "unlabelled": (300, Habit(("train", "more"), AS_FOUND)),
    "rww": (404, Habit(("test",), AS_FOUND)),
}
TOGETHER = {"mixed": ("tesw", "rww")}
KEPT = 600  # sites that are kept made up, some tens of kilobytes each
_NOTHING = Verdict(0.0, False)


@part("world", "organisations", argument="set")
class OrganisationsWorld:
    """Sites of councils, universities, museums, clubs, companies: event lists among decoys."""

    live = False

    def __init__(self, judge: Judge, set: str = "train", sites: int = 0, seed: int = 1) -> None:
        if set not in SETS and set not in TOGETHER:
            raise unknown("set of sites", set, [*SETS, *TOGETHER])
        self.judge, self.set, self.seed = judge, set, seed
        names = [
            f"site{number}.{member}.example"
            for member in TOGETHER.get(set, (set,))
            for number in range(SETS[member][0])
        ]
        if not 0 <= sites <= len(names):
            raise HoneyguideError(f"set {set!r} has {len(names)} sites, not {sites}")
        spread = len(names) / sites if sites and set in TOGETHER else 1.0  # some of each
        self.hosts = tuple(names[int(at * spread)] for at in range(sites or len(names)))
        self._known = frozenset(self.hosts)
        self._site = lru_cache(KEPT)(self._make)

    def __reduce__(self) -> tuple[Any, ...]:
        return OrganisationsWorld, (self.judge, self.set, len(self.hosts), self.seed)

    @property
    def homes(self) -> tuple[str, ...]:
        """The home page of every site."""
        return tuple(f"http://{host}/" for host in self.hosts)

    def site(self, host: str) -> Site | None:
        """The site of a host; None when there is none."""
        return self._site(host) if host in self._known else None

    def html(self, url: str) -> bytes | None:
        """What a server would send; None when there is no such page."""
        found = self._find(url)
        return render(*found) if found else None

    async def visit(self, link: Link) -> Visit:
        """Read and judge the page at a link."""
        page = self.page(link.url)
        if page is None:
            return Visit(link, None, _NOTHING, failure="status 404")
        return Visit(link, page, self.judge(page))

    def page(self, url: str) -> Page | None:
        """The page at an address, as the parser reads it, with what it truly is."""
        found = self._find(url)
        if found is None:
            return None
        body = render(*found)
        return replace(parse(body, url).page, html=body, labels=found[1].labels)

    def find(self, name: str) -> Link:
        """The link to a page by its URL, or to a site by its name or number."""
        wanted = name.strip()
        host = (
            self.hosts[int(wanted)]
            if wanted.isdecimal() and int(wanted) < len(self.hosts)
            else wanted
        )
        if "://" not in wanted and host in self._known:
            return Link(f"http://{host}/")
        if self._find(wanted) is None:
            raise HoneyguideError(f"no page named {wanted!r} among these sites")
        return Link(wanted)

    def labels(self) -> dict[str, int]:
        """How many pages have each label."""
        counts: Counter[str] = Counter()
        for host in self.hosts:
            for draft in self._site(host).pages.values():
                counts.update(draft.labels)
        return dict(sorted(counts.items()))

    def truth(self) -> Truth:
        """Every page's links and relevance."""
        return self._truth

    @cached_property
    def _truth(self) -> Truth:
        urls = [
            self._site(host).url(path) for host in self.hosts for path in self._site(host).pages
        ]
        numbers = {url: number for number, url in enumerate(urls)}
        rows, relevant = [], []
        for url in urls:
            page = self.page(url)
            links = page.links if page else ()
            rows.append(sorted({numbers[link.url] for link in links if link.url in numbers}))
            relevant.append(page is not None and self.judge(page).relevant)
        offsets = np.cumsum([0, *map(len, rows)])
        targets = np.array([target for row in rows for target in row], np.int32)
        return Truth(lambda url: numbers.get(url, -1), np.array(relevant), offsets, targets)

    async def close(self) -> None:
        """Nothing is open."""

    def _make(self, host: str) -> Site:
        number, member, _ = host.removeprefix("site").split(".")
        place = [self.seed, list(SETS).index(member), int(number)]
        return make_site(host, SETS[member][1], np.random.default_rng(place))

    def _find(self, url: str) -> "tuple[Site, Any] | None":
        host, slash, path = url.removeprefix("http://").partition("/")
        site = self.site(host)
        draft = site.pages.get(slash + path) if site else None
        return (site, draft) if site and draft else None
