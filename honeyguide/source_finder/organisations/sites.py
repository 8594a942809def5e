"""Generate the site of an organisation: its pages, their links, its lists."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from honeyguide.source_finder.organisations.megamenus import (
    MEGAS,
    SHARE,
    MegaMenu,
    Named,
    Section,
    grouped,
)
from honeyguide.source_finder.organisations.templates import TEMPLATES, Template
from honeyguide.source_finder.organisations.words import WORDINGS, Wording

SORTS = ("council", "university", "museum", "club", "company")
LISTS = ("events", "news", "jobs", "courses", "press")
MONTHS = "January February March April May June July August September October November".split()
DAYS = {"en": "Mon Tue Wed Thu Fri Sat Sun".split(), "zh": "一 二 三 四 五 六 日".split()}


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a list."""

    title: str
    path: str
    date: str
    blurb: str


@dataclass(frozen=True, slots=True)
class Draft:
    """The content of a page, before it is rendered."""

    path: str
    title: str
    labels: tuple[str, ...]
    texts: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    leads: tuple[Named, ...] = ()  # text and path of further links
    extra: str = ""  # more HTML in its body
    head: str = ""  # more HTML in its head


@dataclass(slots=True)
class Site:
    """All pages of a site by path, its menu and footer, and its template."""

    host: str
    name: str
    wording: Wording
    template: Template
    icons: bool  # whether some menu links are images without text
    menu: list[tuple[str, str]] = field(default_factory=list)
    foot: list[tuple[str, str]] = field(default_factory=list)
    pages: dict[str, Draft] = field(default_factory=dict)
    mega: MegaMenu | None = None  # template of the mega-menu that replaces the menu
    sections: tuple[Section, ...] = ()

    def url(self, path: str) -> str:
        """Return the URL of a page."""
        return f"http://{self.host}{path}"


@dataclass(frozen=True, slots=True)
class SiteProfile:
    """Properties of the sites of a set."""

    words: tuple[str, ...]  # names of the sets of words and templates they use
    depths: tuple[
        float, float, float, float
    ]  # probability of events one, two, three clicks away; of none
    decoys: tuple[int, int] = (0, 3)  # kinds of decoys per site: from, to (excluded)


def make_site(host: str, profile: SiteProfile, rng: np.random.Generator) -> Site:
    """Return a random site."""
    words = str(rng.choice(profile.words))
    wording = WORDINGS[str(rng.choice(["en", "zh"])), words]
    builder = _Builder(wording, TEMPLATES[words].pick(rng), host, profile.decoys, rng)
    depth = int(rng.choice(4, p=profile.depths)) + 1
    site = builder.build(depth if depth < 4 else 0)
    chance = rng.spawn(1)[0]  # so that other sites do not depend on who has a mega-menu
    if chance.random() < SHARE:
        builder.add_mega_menu(MEGAS[words][int(chance.integers(len(MEGAS[words])))], chance)
    return site


class _Builder:
    """Generates a site page by page."""

    def __init__(
        self,
        wording: Wording,
        template: Template,
        host: str,
        decoys: tuple[int, int],
        rng: np.random.Generator,
    ) -> None:
        self.rng, self.wording, self.decoys = rng, wording, decoys
        self.sort = SORTS[int(rng.integers(len(SORTS)))]
        name = self._any(wording.names[self.sort]).format(self._any(wording.places))
        self.opaque = bool(rng.random() < 0.5)  # whether URLs contain numbers instead of words
        self.site = Site(host, name, wording, template, bool(rng.random() < 0.2))

    def build(self, depth: int) -> Site:
        """Return a site with events so many clicks from its home page; 0: without events."""
        site, rng = self.site, self.rng
        hubs = [(text, self._path(text)) for text in self._some(self.wording.hubs[self.sort], 1, 3)]
        self.hubs = frozenset(hubs)
        plain = self._some(self.wording.plain, 6, 13)
        under: dict[str, list[tuple[str, str]]] = {path: [] for _, path in hubs}
        top = [*hubs, *((text, self._plain(text)) for text in plain)]
        for purpose in LISTS[1:]:
            if rng.random() < (0.85 if purpose == "news" else 0.35):
                place = top if rng.random() < 0.7 else under[self._any([p for _, p in hubs])]
                place.append(self._list(purpose, self._any(self.wording.menus[purpose])))
        home_leads: list[tuple[str, str]] = []
        for text in self._some(self.wording.menus["events"], 1, 3) if depth else ():
            self._place(self._list("events", text), depth, top, home_leads, under)
        self._decoys(top, under, depth)
        for text, path in hubs:
            self._add(path, text, ("page:hub",), leads=tuple(under[path]))
        rng.shuffle(top)
        cut = max(5, int(len(top) * rng.uniform(0.6, 0.9)))
        site.menu, site.foot = top[:cut], top[cut:]
        self._home(home_leads)
        return site

    def add_mega_menu(self, mega: MegaMenu, rng: np.random.Generator) -> None:
        """Replace the menu by a mega-menu that also links more pages and some links of the hubs."""
        site, self.rng = self.site, rng
        there = {draft.title for draft in site.pages.values()}
        more = self._some([text for text in self.wording.plain if text not in there], 4, 14)
        links = [*site.menu, *((text, self._plain(text)) for text in more)]
        hubs = {link: self._panel_links(link) for link in links if link in self.hubs}
        rest = [link for link in links if link not in hubs]
        site.mega = mega
        site.sections = grouped(rest, hubs, self.wording.headings, rng)
        if rng.random() < 0.3:  # the footer repeats some links
            site.foot += [site.menu[place] for place in rng.permutation(len(site.menu))[:5]]

    def _panel_links(self, hub: tuple[str, str]) -> list[tuple[str, str]]:
        """Return the links of a hub, without event lists and hubs that lead to them."""
        pages = self.site.pages
        kinds = {link: pages[link[1]].labels[0] for link in pages[hub[1]].leads}
        return [link for link, kind in kinds.items() if kind not in ("source:events", "page:hub")]

    def _place(
        self,
        link: tuple[str, str],
        depth: int,
        top: list[tuple[str, str]],
        home: list[tuple[str, str]],
        under: dict[str, list[tuple[str, str]]],
    ) -> None:
        """Add the link to a list so many clicks from the home page."""
        hub = self._any(list(under))
        if depth == 1:
            (top if self.rng.random() < 0.75 else home).append(link)
        elif depth == 2:
            under[hub].append(link)
        else:
            text = self._any(self.wording.plain)
            between = self._path(text)
            self._add(between, text, ("page:hub",), leads=(link,))
            under[hub].append((text, between))

    def _decoys(
        self, top: list[tuple[str, str]], under: dict[str, list[tuple[str, str]]], depth: int
    ) -> None:
        sorts = self._some(list(self.wording.decoys), *self.decoys)
        for sort in sorts:
            text = self._any(self.wording.decoys[sort])
            if not depth and self.rng.random() < 0.1:  # with the same text as a real list of events
                text = self._any(self.wording.menus["events"])
            place = top if self.rng.random() < 0.7 else under[self._any(list(under))]
            place.append((text, self._decoy(sort, text)))

    def _decoy(self, sort: str, text: str) -> str:
        path = self._path(text)
        label = (f"decoy:{sort}",)
        if sort == "single":
            texts = (self._date(), self._any(self.wording.blurbs), self._prose())
            self._add(path, text, label, texts)
        elif sort == "archive":
            self._add(path, text, label, (self._any(self.wording.empty),))
        elif sort == "shop":
            self._add(path, text, label, entries=tuple(self._goods(path)))
        elif sort == "ticker":
            self._add(path, text, label, entries=tuple(self._days(path)))
        else:
            self._add(path, text, label, (self._prose(), self._prose()))
        return path

    def _goods(self, path: str) -> Iterator[Entry]:
        for number, subject in enumerate(self._some(self.wording.subjects, 5, 10)):
            price = f"{int(self.rng.integers(5, 300))}.00"
            yield Entry(f"{subject} {number + 10}", f"{path}/{number}", price, subject)

    def _days(self, path: str) -> Iterator[Entry]:
        for number in range(int(self.rng.integers(5, 10))):
            yield Entry(self._date(), f"{path}/{number}", "", self._any(self.wording.plain))

    def _list(self, purpose: str, text: str) -> tuple[str, str]:
        """Add a list page and the pages of its entries; return the list's text and path."""
        path = self._path(text)
        entries = []
        for number, subject in enumerate(self._some(self.wording.subjects, 5, 10)):
            title = self._any(self.wording.things[purpose]).format(subject)
            entry = Entry(title, f"{path}/{number}", self._date(), self._blurb(purpose))
            entries.append(entry)
            texts = (entry.date, entry.blurb, self._prose())
            self._add(entry.path, title, (f"item:{purpose}",), texts)
        self._add(path, text, (f"source:{purpose}",), entries=tuple(entries))
        return text, path

    def _home(self, leads: list[tuple[str, str]]) -> None:
        lists = [
            d for d in self.site.pages.values() if d.labels[0] in ("source:events", "source:news")
        ]
        teasers: list[Entry] = []
        if lists and self.rng.random() < 0.7:
            shown = lists[int(self.rng.integers(len(lists)))]
            teasers = list(shown.entries[:3])
        self._add(
            "/", self.site.name, ("page:home",), (self._prose(),), tuple(teasers), tuple(leads)
        )

    def _add(
        self,
        path: str,
        title: str,
        labels: tuple[str, ...],
        texts: tuple[str, ...] = (),
        entries: tuple[Entry, ...] = (),
        leads: tuple[tuple[str, str], ...] = (),
    ) -> None:
        texts = texts or (self._any(self.wording.blurbs),)
        labels = (*labels, f"language:{self.wording.language}")
        self.site.pages[path] = Draft(path, title, labels, texts, entries, leads)

    def _plain(self, text: str) -> str:
        path = self._path(text)
        self._add(path, text, ("page:plain",), tuple(self._prose() for _ in range(3)))
        return path

    def _path(self, text: str) -> str:
        if self.opaque or not text.isascii():
            return f"/page/{len(self.site.pages)}-{int(self.rng.integers(1000, 9999))}"
        words = "".join(sign if sign.isalnum() else " " for sign in text.lower()).split()
        path = "/" + "-".join(words)
        return path if path not in self.site.pages else f"{path}-{len(self.site.pages)}"

    def _blurb(self, purpose: str) -> str:
        return self._any(self.wording.blurbs) if purpose in ("events", "courses") else self._prose()

    def _prose(self) -> str:
        """Return a sentence of random words."""
        zh = self.wording.language == "zh"
        words = self._some([*self.wording.plain, *self.wording.subjects], 4, 7)
        stop, between = ("。", "與") if zh else (".", " and ")
        return between.join(words if zh else [word.lower() for word in words]) + stop

    def _date(self) -> str:
        month, day = int(self.rng.integers(11)), int(self.rng.integers(1, 29))
        return self._any(self.wording.dates).format(
            d=day, m=MONTHS[month], n=month + 1, y=2024 + int(self.rng.integers(4)),
            h=int(self.rng.integers(9, 20)), w=self._any(DAYS[self.wording.language]),
        )  # fmt: skip

    def _any(self, things: Sequence[str]) -> str:
        return things[int(self.rng.integers(len(things)))]

    def _some(self, things: Sequence[str], least: int, most: int) -> list[str]:
        """Return `least` to `most` - 1 different things in random order."""
        count = min(len(things), int(self.rng.integers(least, most)))
        return [things[place] for place in self.rng.permutation(len(things))[:count].tolist()]
