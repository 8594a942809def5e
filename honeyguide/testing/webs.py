"""A generated web for checks: large enough for tables to grow, with traps and failures."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, cached_property
from hashlib import blake2b

import numpy as np

from honeyguide.contracts import UNASKED, Link, Page, Truth, Verdict, Visit
from honeyguide.errors import HoneyguideError

RELEVANT_WORDS = "geology rocks minerals volcanoes lava strata basalt quartz fossils".split()
OTHER_WORDS = "sailing harbour poetry guitar cheese football railway orchard lantern".split()
HOME_LINKS = 1500  # more than a table's first 1,024 rows


class GrowingWeb:
    """A generated web of many hosts in which a visit depends on its URL alone.

    Every page links mostly to pages that no other has linked to, and to a shared image. Calendars
    never end, session ids give a page many URLs, some pages always fail, some redirect, and some
    hosts ask for a delay.
    """

    live = False
    seeds = (Link("http://home.example/"),)

    def __init__(self, pages: int = 20_000, hosts: int = 300, links: int = 25) -> None:
        self.pages = pages
        self.hosts = hosts
        self.links = links

    async def visit(self, link: Link) -> Visit:
        """Return the visit of a link."""
        dice = _dice(link.url)
        if link.url.endswith(".jpg"):
            return Visit(link, None, Verdict(0.0, False), failure="content type", seconds=0.1)
        if dice[0] < 10:
            return Visit(link, None, Verdict(0.0, False), failure="status 404", seconds=0.1)
        if dice[0] < 16:
            failed = Visit(link, None, Verdict(0.0, False), failure="robots", host_delay=UNASKED)
            return replace(failed, seconds=0.0)
        page = self.page(link.url)
        if dice[0] < 24 and not _is_trap(link.url):
            page = self.page(self.url(int(dice[1]) * 37 % self.pages))  # a redirect
        relevant = RELEVANT_WORDS[0] in page.text
        verdict = Verdict(0.5 + dice[2] / 512 if relevant else dice[2] / 1024, relevant)
        delay = dice[3] / 100 if dice[3] < 128 else None
        return Visit(link, page, verdict, seconds=dice[4] / 256, host_delay=delay)

    def page(self, url: str) -> Page:
        """Return the page at a URL."""
        if "/calendar/" in url:
            return self._calendar(url)
        name = url.partition("?")[0]
        if name == self.seeds[0].url:
            links = [self._link(number) for number in range(HOME_LINKS)]
            return Page(url, "Home", "The home page of geology.", tuple(links))
        return self._article(url, int(name.rpartition("/")[2]))

    def url(self, number: int) -> str:
        """Return the URL of an article."""
        return f"http://h{number * 7 % self.hosts}.example/{_word(number)}/{number}"

    def find(self, name: str) -> Link:
        """Return the link to a page by its URL."""
        if not name.startswith("http://"):
            raise HoneyguideError(f"no page named {name!r}")
        return Link(name)

    def labels(self) -> dict[str, int]:
        """Return no labels."""
        return {}

    def sample(self, count: int, rng: np.random.Generator) -> list[Link]:
        """Return links to random articles."""
        return [Link(self.url(number)) for number in rng.integers(0, self.pages, count).tolist()]

    def truth(self) -> Truth:
        """Return links and relevance of all articles, without calendars and session ids."""
        return self._truth

    async def close(self) -> None:
        """Do nothing: no resource is open."""

    def targets(self, number: int) -> list[int]:
        """Return the numbers of the articles that an article links to."""
        if not number:
            return list(range(1, HOME_LINKS))
        draws = np.frombuffer(_dice(f"links of {number}", 4 * self.links), np.uint32)
        return [int(draw) % self.pages for draw in draws]

    @cached_property
    def _truth(self) -> Truth:
        numbers = {self.url(number): number for number in range(self.pages)}
        targets = [self.targets(number) for number in range(self.pages)]
        return Truth(
            index=lambda url: numbers.get(url, -1),
            relevant=np.array([_is_relevant(number) for number in range(self.pages)]),
            offsets=np.cumsum([0, *map(len, targets)]),
            targets=np.array([target for row in targets for target in row], np.int32),
            url=self.url,
        )

    def _article(self, url: str, number: int) -> Page:
        links = [self._link(target) for target in self.targets(number)]
        links.append(Link(f"http://h{number % 5}.example/images/{number % 400}.jpg", "a map"))
        if number % 3 == 0:
            links += [self._session(number), self._day(number, 1)]
        return Page(url, f"{_word(number)} {number}", _text(number), tuple(links))

    def _calendar(self, url: str) -> Page:
        host, _, date = url.partition("/calendar/")
        year, month, day = map(int, date.split("-"))
        number = (year - 2020) * 336 + (month - 1) * 28 + day - 1
        links = [self._day(int(host[8]), number + step) for step in range(1, 9)]
        return Page(url, "Calendar", f"{RELEVANT_WORDS[1]}: no events today.", tuple(links))

    def _link(self, number: int) -> Link:
        context = f"more about {_word(number)} and {_word(number // 3)}"
        path = f"html/body/{'nav' if number % 5 else 'main/p'}/a"
        return Link(self.url(number), f"{_word(number)} {number}", context, path)

    def _session(self, number: int) -> Link:
        id = _dice(f"session {number}").hex()
        return Link(f"{self.url(number)}?sessionid={id}", _word(number), "log in")

    def _day(self, host: int, day: int) -> Link:
        date = f"{2020 + day // 336}-{day // 28 % 12 + 1:02}-{day % 28 + 1:02}"
        return Link(f"http://h{host % 3}.example/calendar/{date}", "geology events", "next day")


def _is_trap(url: str) -> bool:
    return "/calendar/" in url or url == GrowingWeb.seeds[0].url


def _dice(name: str, count: int = 16) -> bytes:
    """Return pseudo-random bytes that depend on a name alone."""
    if count <= 64:
        return blake2b(name.encode(), digest_size=count).digest()
    return b"".join(_dice(f"{name} {place}", 64) for place in range(-(-count // 64)))[:count]


@cache
def _is_relevant(number: int) -> bool:
    return _dice(f"topic {number}")[0] < 80


@cache
def _word(number: int) -> str:
    return _choice(RELEVANT_WORDS if _is_relevant(number) else OTHER_WORDS, f"name {number}")


def _choice(words: Sequence[str], name: str) -> str:
    return words[_dice(name)[0] % len(words)]


def _text(number: int) -> str:
    words = RELEVANT_WORDS if _is_relevant(number) else OTHER_WORDS
    chosen = [_choice(words, f"{number} {place}") for place in range(80)]
    return " ".join([words[0], *chosen, str(number)])
