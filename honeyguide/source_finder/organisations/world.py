"""A world of generated sites of organisations."""

from collections import Counter
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from honeyguide.contracts import Judge, Link, Page, Truth, Verdict, Visit
from honeyguide.errors import HoneyguideError, unknown
from honeyguide.registry import part
from honeyguide.source_finder.organisations.html import render
from honeyguide.source_finder.organisations.sites import Site, SiteProfile, make_site
from honeyguide.source_finder.organisations.wide import WideProfile, make_wide_site
from honeyguide.web.html import parse

ONE_CLICK = (1.0, 0.0, 0.0, 0.0)
MANY = (2, 6)  # kinds of decoys: with fewer, 40 sites have too few decoys to learn from
AS_FOUND = (0.5, 0.2, 0.08, 0.22)
WIDELY = (0.2, 0.4, 0.2, 0.12, 0.05, 0.03)  # without a list, one to four clicks, on the home page
# set -> number of sites (Liao and Chang 2022, table III) and their properties
SETS: dict[str, tuple[int, SiteProfile | WideProfile]] = {
    "train": (40, SiteProfile(("train",), ONE_CLICK, MANY)),
    "validation": (20, SiteProfile(("train",), ONE_CLICK, MANY)),
    "tesw": (100, SiteProfile(("test",), ONE_CLICK)),
    "unlabelled": (300, SiteProfile(("train", "more"), AS_FOUND)),
    "rww": (404, SiteProfile(("test",), AS_FOUND)),
    # further sets, with twelve languages and lists up to four clicks away
    "wide": (800, WideProfile(False, WIDELY)),
    "wide_validation": (200, WideProfile(False, WIDELY)),
    "wide_test": (400, WideProfile(True, WIDELY)),
    "wide_none": (100, WideProfile(True, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))),
    **{
        f"wide_{kind}{'_test' * test}": (300, WideProfile(bool(test), WIDELY, kind))
        for kind in ("news", "jobs", "people", "publications")
        for test in (0, 1)
    },
}
TOGETHER: dict[str, tuple[str, ...]] = {"mixed": ("tesw", "rww")}
KEPT = 600  # generated sites in the cache, some tens of kilobytes each
_NOTHING = Verdict(0.0, False)


@part("world", "organisations", argument="set")
class OrganisationsWorld:
    """Generated sites of councils, universities, museums, clubs and companies."""

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
        spread = len(names) / sites if sites and set in TOGETHER else 1.0  # some sites of each set
        self.hosts = tuple(names[int(at * spread)] for at in range(sites or len(names)))
        self._known = frozenset(self.hosts)
        self._site = lru_cache(KEPT)(self._make)

    def __reduce__(self) -> tuple[Any, ...]:
        return OrganisationsWorld, (self.judge, self.set, len(self.hosts), self.seed)

    @property
    def homes(self) -> tuple[str, ...]:
        """Home pages of all sites."""
        return tuple(f"http://{host}/" for host in self.hosts)

    def site(self, host: str) -> Site | None:
        """Return the site of a host; None if there is none."""
        return self._site(host) if host in self._known else None

    def html(self, url: str) -> bytes | None:
        """Return the HTML of a page; None if there is no such page."""
        found = self._find(url)
        return render(*found) if found else None

    async def visit(self, link: Link) -> Visit:
        """Return the judged page at a link."""
        page = self.page(link.url)
        if page is None:
            return Visit(link, None, _NOTHING, failure="status 404")
        return Visit(link, page, self.judge(page))

    def page(self, url: str) -> Page | None:
        """Return the parsed page at a URL with its true labels; None if there is none."""
        found = self._find(url)
        if found is None:
            return None
        body = render(*found)
        return replace(parse(body, url).page, html=body, labels=found[1].labels)

    def find(self, name: str) -> Link:
        """Return the link to a page by URL, or to a site by host name or number."""
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
        """Return the number of pages with each label."""
        counts: Counter[str] = Counter()
        for host in self.hosts:
            for draft in self._site(host).pages.values():
                counts.update(draft.labels)
        return dict(sorted(counts.items()))

    def truth(self) -> Truth:
        """Return the links and the relevance of every page."""
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
        """Do nothing: no resource is open."""

    def _make(self, host: str) -> Site:
        number, member, _ = host.removeprefix("site").split(".")
        rng = np.random.default_rng([self.seed, list(SETS).index(member), int(number)])
        profile = SETS[member][1]
        if isinstance(profile, WideProfile):
            return make_wide_site(host, profile, rng)
        return make_site(host, profile, rng)

    def _find(self, url: str) -> "tuple[Site, Any] | None":
        host, slash, path = url.removeprefix("http://").partition("/")
        site = self.site(host)
        draft = site.pages.get(slash + path) if site else None
        return (site, draft) if site and draft else None
