"""Real organisations' sites in a folder, served in memory as a world, with their labels."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from experiments.real_sites_split import is_test
from honeyguide.contracts import Judge, Link, Page, Truth, Verdict, Visit
from honeyguide.errors import HoneyguideError
from honeyguide.web.html import parse

RECORDS = "sites.json"
KEPT = 4_000  # parsed pages in the cache
_NOTHING = Verdict(0.0, False)


@dataclass(frozen=True, slots=True)
class RealSite:
    """A site on disk and what people said of its pages; pages are named by their files."""

    id: str
    folder: Path
    home_file: str
    base: str  # removed from the front of paths
    own_hosts: frozenset[str]
    language: str
    depth: int | None  # clicks from the home page to the nearest source; None: no events
    sources: frozenset[str]
    hubs: frozenset[str]
    decoys: frozenset[str]
    also_ok: frozenset[str]  # count neither way
    quality: str

    @property
    def home(self) -> str:
        """The URL of its home page."""
        return f"http://{self.host}/"

    @property
    def host(self) -> str:
        """The host that it is served at; underscores are not allowed in host names."""
        return f"{self.id.replace('_', '-')}.example"

    def file(self, url: str) -> str | None:
        """Return the file behind a URL of this site, relative to its folder; None without one."""
        path = unquote(urlsplit(url).path)
        path = path.removeprefix(self.base)
        path = path.strip("/")
        if not path:
            return self.home_file
        for name in (path, f"{path}/index.html", f"{path}/index.htm", f"{path}.html"):
            if ".." not in name and (self.folder / name).is_file():
                return name
        return None

    def is_own(self, host: str) -> bool:
        """Return whether a host is one of this site's."""
        return host == self.host or host in self.own_hosts


def read_sites(folder: Path, unpacked: Path, part: str = "") -> list[RealSite]:
    """Return the sites of a part (development, test) or all of them."""
    try:
        records = json.loads((folder / RECORDS).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise HoneyguideError(f"cannot read the sites in {folder}: {error}") from None
    chosen = [row for row in records if not part or is_test(row["id"]) == (part == "test")]
    return [_site(row, unpacked / row["id"]) for row in chosen]


def _site(row: dict[str, Any], folder: Path) -> RealSite:
    also_ok = [*row["also_ok"], *([row["home"]] if row["home_lists_events"] else [])]
    return RealSite(
        id=row["id"],
        folder=folder,
        home_file=row["home"],
        base=row["base"] if row["base"].endswith("/") else row["base"] + "/",
        own_hosts=frozenset(row["own_hosts"]),
        language=row["language"],
        depth=row["depth"],
        sources=frozenset(row["sources"]),
        hubs=frozenset(row["hubs"]),
        decoys=frozenset(row["decoys"]),
        also_ok=frozenset(also_ok),
        quality=row["quality"],
    )


class RealSites:
    """A world of real sites; labels are source:events, hub:events, decoy:events, ok:events."""

    live = False

    def __init__(self, sites: Iterable[RealSite], judge: Judge | None = None) -> None:
        self.sites = {site.host: site for site in sites}
        self.judge = judge
        self.homes = tuple(site.home for site in self.sites.values())
        self._page = lru_cache(KEPT)(self._read)

    def site(self, url: str) -> RealSite | None:
        """Return the site that a URL belongs to."""
        return self.sites.get(urlsplit(url).hostname or "")

    def label(self, url: str) -> str:
        """Return what people said of a page: source, hub, decoy, ok or other."""
        site = self.site(url)
        file = site.file(url) if site else None
        if site is None or file is None:
            return "other"
        named = {"source": site.sources, "hub": site.hubs, "decoy": site.decoys}
        named["ok"] = site.also_ok
        return next((name for name, files in named.items() if file in files), "other")

    async def visit(self, link: Link) -> Visit:
        """Return the page at a link."""
        page = self.page(link.url)
        if page is None:
            return Visit(link, None, _NOTHING, failure="status 404")
        return Visit(link, page, self.judge(page) if self.judge else _NOTHING)

    def page(self, url: str) -> Page | None:
        """Return the parsed page at a URL with its label; None if there is none."""
        return self._page(url)

    def find(self, name: str) -> Link:
        """Return the link to a URL."""
        return Link(name)

    def labels(self) -> dict[str, int]:
        """Return nothing: labels are not counted."""
        return {}

    def truth(self) -> Truth:
        """Refuse: nobody labelled every page."""
        raise HoneyguideError("not every page of the real sites is labelled")

    async def close(self) -> None:
        """Do nothing: no resource is open."""

    def _read(self, url: str) -> Page | None:
        site = self.site(url)
        file = site.file(url) if site else None
        if site is None or file is None or not file.lower().endswith((".html", ".htm")):
            return None
        body = (site.folder / file).read_bytes()
        page = parse(body, url).page
        links = tuple(self._own(site, link) for link in page.links)
        return replace(page, html=body, links=links, labels=(f"{self.label(url)}:events",))

    def _own(self, site: RealSite, link: Link) -> Link:
        """Return a link to one of the site's other hosts as one to the host it is served at."""
        to = urlsplit(link.url)
        if to.hostname == site.host or not site.is_own(to.hostname or ""):
            return link
        moved = to._replace(scheme="http", netloc=site.host, fragment="").geturl()
        return Link(moved, link.anchor, link.context, link.tag_path, link.depth, link.source)
