"""Generate sites as varied as real ones: twelve languages, deep lists, calendars, many decoys."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from honeyguide.source_finder.organisations.megamenus import MEGAS, SHARE, Named, grouped
from honeyguide.source_finder.organisations.sites import Draft, Entry, Site
from honeyguide.source_finder.organisations.templates import TEMPLATES
from honeyguide.source_finder.organisations.tongues import LANGUAGES, Tongue, tongue
from honeyguide.source_finder.organisations.words import Wording
from honeyguide.text.unaccented import unaccented

OTHER_LISTS = {"news": 0.8, "jobs": 0.3, "people": 0.5, "publications": 0.3}  # share of sites
DECOYS = ("venue", "policy", "shop", "api", "archive", "single")
ON_HOME = 5  # depth of a one-page site: its home page has the list
# words of addresses on sites that are not in English; test sites have their own
SLUGS = {
    "events": (("events", "event", "calendar", "agenda", "schedule"), ("whats-on", "programme")),
    "news": (("news", "blog", "updates"), ("newsroom", "stories")),
    "jobs": (("jobs", "careers"), ("vacancies",)),
    "people": (("people", "team", "members"), ("staff",)),
    "publications": (("publications", "papers"), ("articles",)),
}


@dataclass(frozen=True, slots=True)
class WideProfile:
    """Properties of the sites of a set."""

    test: bool
    depths: tuple[float, float, float, float, float, float]  # none, 1 to 4 clicks, on the home page
    kind: str = "events"  # what the depths are about
    languages: tuple[str, ...] = LANGUAGES
    decoys: tuple[int, int] = (1, 5)


def make_wide_site(host: str, profile: WideProfile, rng: np.random.Generator) -> Site:
    """Return a random site."""
    return _Builder(host, profile, rng).build()


class _Builder:
    """Generates one site page by page."""

    def __init__(self, host: str, profile: WideProfile, rng: np.random.Generator) -> None:
        self.rng, self.profile, self.kind = rng, profile, profile.kind
        english = rng.random() < 0.25
        language = "en" if english and "en" in profile.languages else self._any(profile.languages)
        self.words: Tongue = tongue(language, profile.test)
        name = self._any(self.words["names"]).format(self._any(self.words["towns"]))
        self.look = "test" if profile.test else self._any(("train", "more"))
        self.opaque = bool(rng.random() < 0.25)
        wording = _wording(self.words)
        self.site = Site(host, name, wording, TEMPLATES[self.look].pick(rng), rng.random() < 0.1)

    def build(self) -> Site:
        """Return the site."""
        depth = int(self.rng.choice(6, p=self.profile.depths))
        self.hubs = [(text, self._path(text)) for text in self._some("hubs", 1, 4)]
        self.under: dict[str, list[Named]] = {path: [] for _, path in self.hubs}
        self.top: list[Named] = [*self.hubs, *map(self._plain, self._some("plain", 5, 14))]
        self.leads: list[Named] = []
        self._other_lists()
        if 0 < depth < ON_HOME:
            self._place(self._list(self.kind), depth)
            if self.rng.random() < 0.25:
                self._place(self._list(self.kind), depth)
        for sort in self._different(DECOYS, *self.profile.decoys):
            self._somewhere().append(self._decoy(sort, depth))
        for text, path in self.hubs:
            self._fill_hub(text, path)
        self._menus()
        self._home(depth)
        return self.site

    def _other_lists(self) -> None:
        shares = {"events": 0.6, **OTHER_LISTS} if self.kind != "events" else OTHER_LISTS
        for purpose, share in shares.items():
            if purpose != self.kind and self.rng.random() < share:
                self._somewhere().append(self._list(purpose))

    def _somewhere(self) -> list[Named]:
        return self.top if self.rng.random() < 0.7 else self.under[self._any(list(self.under))]

    def _place(self, link: Named, depth: int) -> None:
        """Add a link to a list so many clicks from the home page."""
        if depth == 1:
            (self.top if self.rng.random() < 0.75 else self.leads).append(link)
            return
        for _ in range(depth - 2):
            text = self._any([*self.words["plain"], *self.words["hubs"]])
            between = self._path(text)
            self._add(between, text, "page:hub", leads=(link, *self._few_plain()))
            link = (text, between)
        self.under[self._any(list(self.under))].append(link)

    def _fill_hub(self, text: str, path: str) -> None:
        links = [*self.under[path], *self._few_plain()]
        self.rng.shuffle(links)
        self._add(path, text, "page:hub", leads=tuple(links))

    def _few_plain(self) -> list[Named]:
        return [self._plain(text) for text in self._some("plain", 0, 4)]

    def _menus(self) -> None:
        site, rng = self.site, self.rng
        rng.shuffle(self.top)
        cut = max(5, int(len(self.top) * rng.uniform(0.6, 0.95)))
        site.menu, site.foot = self.top[:cut], self.top[cut:]
        if rng.random() < SHARE:
            site.mega = MEGAS[self.look][int(rng.integers(len(MEGAS[self.look])))]
            headings = [*self.words["hubs"], *self.words["plain"]]
            hubs: dict[Named, list[Named]] = {link: [] for link in self.hubs if link in site.menu}
            rest = [link for link in site.menu if link not in hubs]
            site.sections = grouped(rest, hubs, headings, rng)

    def _home(self, depth: int) -> None:
        lists = [d for d in self.site.pages.values() if d.labels[0].startswith("source:")]
        teasers: list[Entry] = []
        if lists and self.rng.random() < 0.6:
            teasers = list(lists[int(self.rng.integers(len(lists)))].entries[:3])
        label, extra, head = "page:home", "", ""
        if depth == ON_HOME:
            teasers, (extra, head) = self._entries("/", self.kind), self._dressing("/", self.kind)
            extra = f"<h2>{escape(self._text(self.kind))}</h2>" + extra
            label = f"source:{self.kind}"
        self._add("/", self.site.name, label, (self._prose(),), tuple(teasers), tuple(self.leads),
                  extra, head)  # fmt: skip

    def _list(self, purpose: str) -> Named:
        """Add a list page and the pages of its entries; return the list's text and path."""
        text = self._text(purpose)
        path = self._path(text, purpose)
        entries = self._entries(path, purpose)
        extra, head = self._dressing(path, purpose)
        shown = entries
        if purpose == "events" and self.rng.random() < 0.15:
            extra, shown = self._calendar(entries), []
        elif purpose == "events" and self.rng.random() < 0.08:
            extra, shown = self._frame(), []
        self._add(path, text, f"source:{purpose}", (), tuple(shown), (), extra, head)
        return text, path

    def _entries(self, path: str, purpose: str) -> list[Entry]:
        entries = []
        for number, subject in enumerate(self._some("subjects", 3, 9)):
            title = self._title(purpose, subject)
            own = f"{path.rstrip('/')}/{number + 1}"
            entry = Entry(title, own, self._when(purpose), self._blurb(purpose))
            entries.append(entry)
            self._add(own, title, f"item:{purpose}", (entry.date, entry.blurb, self._prose()))
        return entries

    def _title(self, purpose: str, subject: str) -> str:
        if purpose == "people":
            return f"{self._any(self.words['towns'])} {self._any(self.words['subjects'])}".title()
        if purpose == "jobs":
            return f"{subject} ({self._any(self.words['places'])})"
        row = "things" if purpose == "events" else "stories"
        return self._any(self.words[row]).format(subject)

    def _when(self, purpose: str) -> str:
        if purpose in ("people", "jobs"):
            return ""
        if purpose == "publications":
            return str(int(self.rng.integers(2005, 2027)))
        return self._date()

    def _blurb(self, purpose: str) -> str:
        if purpose == "events":
            return f"{self._any(self.words['blurbs'])}. {self._any(self.words['places'])}"
        return self._prose()

    def _dressing(self, path: str, purpose: str) -> tuple[str, str]:
        """Return what a list page also has: calendar links and marked events."""
        if purpose != "events":
            return "", ""
        extra = "<p><a href='/calendar.ics'>iCal</a></p>" if self.rng.random() < 0.2 else ""
        if self.rng.random() >= 0.15:
            return extra, ""
        day = f"2026-{int(self.rng.integers(1, 13)):02}-{int(self.rng.integers(1, 29)):02}"
        marked = {"@context": "https://schema.org", "@type": "Event", "startDate": day, "url": path}
        return extra, f'<script type="application/ld+json">{json.dumps(marked)}</script>'

    def _calendar(self, entries: Sequence[Entry]) -> str:
        """Return a month as a table, with some events in its cells."""
        at = dict(zip(self.rng.permutation(28)[: len(entries)].tolist(), entries, strict=False))
        cells = [f"<td>{day + 1}{_anchor(at[day]) if day in at else ''}</td>" for day in range(30)]
        rows = "".join(f"<tr>{''.join(cells[k : k + 7])}</tr>" for k in range(0, 30, 7))
        month = self._any(self.words["months"])
        return f"<h3>{escape(month)} 2026</h3><table class='month'>{rows}</table>"

    def _frame(self) -> str:
        return "<iframe src='https://calendar.google.com/calendar/embed?src=x'></iframe>"

    def _decoy(self, sort: str, depth: int) -> Named:
        row = self.kind if self.kind != "events" and sort == "venue" else sort
        text = self._any(self.words[sort if row == sort else "plain"])
        if not depth and self.rng.random() < 0.06:  # with the same text as a real list
            text = self._text(self.kind)
        path = self._path(text)
        label = f"decoy:{sort}"
        if sort == "archive":
            self._add(path, text, label, (), tuple(self._past(path)))
        elif sort == "shop":
            self._add(path, text, label, (), tuple(self._goods(path)))
        elif sort == "single":
            self._add(path, text, label, (self._date(), self._blurb("events"), self._prose()))
        else:
            self._add(path, text, label, (self._prose(), self._prose(), self._prose()))
        return text, path

    def _past(self, path: str) -> list[Entry]:
        return [
            Entry(self._title("events", subject), f"{path}/{at}", self._date(2009, 2016), "")
            for at, subject in enumerate(self._some("subjects", 3, 9))
        ]

    def _goods(self, path: str) -> list[Entry]:
        return [
            Entry(subject, f"{path}/{at}", f"{int(self.rng.integers(5, 300))}.00", self._prose())
            for at, subject in enumerate(self._some("subjects", 3, 9))
        ]

    def _plain(self, text: str) -> Named:
        path = self._path(text)
        self._add(path, text, "page:plain", tuple(self._prose() for _ in range(3)))
        return text, path

    def _add(
        self,
        path: str,
        title: str,
        label: str,
        texts: tuple[str, ...] = (),
        entries: tuple[Entry, ...] = (),
        leads: tuple[Named, ...] = (),
        extra: str = "",
        head: str = "",
    ) -> None:
        labels = (label, f"language:{self.words.language}")
        texts = texts or ((self._prose(),) if self.rng.random() < 0.5 else ())
        self.site.pages[path] = Draft(path, title, labels, texts, entries, leads, extra, head)

    def _text(self, purpose: str) -> str:
        """Return the text of a link to a list of this purpose."""
        if purpose == "events" and self.rng.random() < 0.35:
            return self._any(self.words["special"])
        return self._any(self.words[purpose])

    def _path(self, text: str, purpose: str = "") -> str:
        path = f"/page/{len(self.site.pages)}-{int(self.rng.integers(1000, 9999))}"
        if not self.opaque:
            said = "-".join(re.findall(r"[a-z0-9]+", unaccented(text)))
            if not said and purpose and self.rng.random() < 0.6:
                said = self._any(SLUGS[purpose][self.profile.test])
            path = f"/{said}{self._any(('', '/', '.html'))}" if said else path
        known = {self.site.pages[known].path.rstrip("/") for known in self.site.pages}
        return path if path.rstrip("/") not in known else f"/p{len(known)}{path}"

    def _date(self, first: int = 2024, last: int = 2027) -> str:
        month, day = int(self.rng.integers(12)), int(self.rng.integers(1, 29))
        year, hour = int(self.rng.integers(first, last)), int(self.rng.integers(9, 20))
        name = self.words["months"][month]
        return self._any(self.words["dates"]).format(
            d=day, m=name, n=month + 1, y=year, h=hour, dd=f"{day:02}", nn=f"{month + 1:02}"
        )

    def _prose(self) -> str:
        """Return some words as if they were a sentence."""
        rows = [*self.words["plain"], *self.words["subjects"], *self.words["places"]]
        chosen = [rows[at] for at in self.rng.permutation(len(rows))[:8].tolist()]
        return " ".join(chosen) + "."

    def _any(self, things: Sequence[str]) -> str:
        return things[int(self.rng.integers(len(things)))]

    def _some(self, row: str, least: int, most: int) -> list[str]:
        return self._different(self.words[row], least, most)

    def _different(self, things: Sequence[str], least: int, most: int) -> list[str]:
        """Return `least` to `most` - 1 different things in random order."""
        count = min(len(things), int(self.rng.integers(least, most)))
        return [things[place] for place in self.rng.permutation(len(things))[:count].tolist()]


def _anchor(entry: Entry) -> str:
    return f" <a href='{escape(entry.path)}'>{escape(entry.title)}</a>"


def _wording(words: Tongue) -> Wording:
    """Return what rendering needs of a language."""
    none: dict[str, Sequence[str]] = {}
    return Wording(words.language, none, (), none, none, (), none, (), none, (), (),
                   words["more"], (), ())  # fmt: skip
