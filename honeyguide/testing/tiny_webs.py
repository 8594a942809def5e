"""Small webs written by hand, and one that lies about pages not visited."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np

from honeyguide.contracts import Link, Page, Truth, Verdict, Visit, World
from honeyguide.errors import HoneyguideError
from honeyguide.testing.contract import ContractError

WORDS = ["rocks", "minerals", "geology", "ships", "sailing", "harbour", "poetry", "volcano"]
RELEVANT_WORDS = WORDS[:3]
PAGES = 120
START = "rocks-0"


def url(name: str, host: str = "site") -> str:
    """The address of a page on a host."""
    return f"http://{host}.example/{name}"


class TinyWeb:
    """A web from {name: [names it links to]}; some pages are relevant, some take time."""

    live = False

    def __init__(
        self,
        links: Mapping[str, Sequence[str]],
        relevant: Collection[str] = (),
        seconds: Mapping[str, float] | None = None,
        hosts: Mapping[str, str] | None = None,
        words: Mapping[str, str] | None = None,
        relevance: Mapping[str, float] | None = None,
    ) -> None:
        self.links = links
        self.relevant = set(relevant)
        self.seconds = seconds or {}
        self.hosts = hosts or {}
        self.words = words or {}
        self.relevance = relevance or {}
        self.asked: list[str] = []
        self.asked_now: dict[str, int] = {}
        self.most_at_once: dict[str, int] = {}

    def address(self, name: str) -> str:
        """The URL of a page."""
        return url(name, self.hosts.get(name, "site"))

    def page(self, name: str) -> Page:
        """A page as it is read."""
        links = tuple(Link(self.address(to), anchor=to) for to in self.links[name])
        return Page(self.address(name), name, self.words.get(name, name), links)

    async def visit(self, link: Link) -> Visit:
        """What a link leads to."""
        name = link.url.rsplit("/", 1)[1]
        host = self.hosts.get(name, "site")
        self.asked.append(name)
        self.asked_now[host] = self.asked_now.get(host, 0) + 1
        self.most_at_once[host] = max(self.most_at_once.get(host, 0), self.asked_now[host])
        await asyncio.sleep(self.seconds.get(name, 0))
        self.asked_now[host] -= 1
        if name not in self.links:
            return Visit(link, None, Verdict(0.0, False), failure="not found")
        relevance = self.relevance.get(name, float(name in self.relevant))
        return Visit(link, self.page(name), Verdict(relevance, name in self.relevant))

    def find(self, name: str) -> Link:
        """The link to a page, by its name."""
        if name not in self.links:
            raise HoneyguideError(f"no page named {name!r}")
        return Link(self.address(name))

    def labels(self) -> dict[str, int]:
        """Pages have none."""
        return {}

    def truth(self) -> Truth:
        """The whole web."""
        names = list(self.links)
        numbers = {self.address(name): number for number, name in enumerate(names)}
        targets = [[numbers.get(self.address(to), -1) for to in self.links[n]] for n in names]
        return Truth(
            index=lambda url: numbers.get(url, -1),
            relevant=np.array([name in self.relevant for name in names]),
            offsets=np.cumsum([0, *map(len, targets)]),
            targets=np.array([to for row in targets for to in row], np.int32),
            url=lambda page: self.address(names[page]),
        )

    async def close(self) -> None:
        """Nothing is open."""


def word_web() -> TinyWeb:
    """Pages whose names are words, a third of them relevant, on several hosts."""
    names = [f"{WORDS[n % len(WORDS)]}-{n}" for n in range(PAGES)]
    return TinyWeb(
        {
            name: [names[(n * step + k) % PAGES] for step, k in ((2, 1), (3, 2), (5, 7))]
            for n, name in enumerate(names)
        },
        relevant=[name for name in names if name.split("-")[0] in RELEVANT_WORDS],
        hosts={name: f"h{n % 7}" for n, name in enumerate(names)},
        words={name: f"All about {name.replace('-', ' ')}" for name in names},
    )


def start_of(world: TinyWeb) -> Link:
    """The link to the page from which checks crawl the web of words."""
    return Link(world.address(START))


class Noisy:
    """A web where all but some pages say something else and lead elsewhere."""

    live = False

    def __init__(self, world: World, honest: Collection[str]) -> None:
        self._world = world
        self._honest = set(honest)

    async def visit(self, link: Link) -> Visit:
        """The page, or noise."""
        visit = await self._world.visit(link)
        if link.url in self._honest:
            return visit
        noise = Page(link.url, "noise", "qwerty " * 50, (Link("http://h0.example/noise"),))
        return Visit(link, noise, Verdict(0.5, False))

    def find(self, name: str) -> Link:
        """The same page as elsewhere."""
        return self._world.find(name)

    def labels(self) -> dict[str, int]:
        """None are told."""
        return {}

    def truth(self) -> Truth:
        """Nothing is told."""
        refuse_truth()

    async def close(self) -> None:
        """Let go of the web."""
        await self._world.close()


class Labelled(TinyWeb):
    """The same web with the truth written on its pages, where only judges may read it."""

    def __init__(self, world: TinyWeb) -> None:
        super().__init__(world.links, world.relevant, None, world.hosts, world.words)

    def page(self, name: str) -> Page:
        """A page with a label, all of them the contrary of what is true."""
        label = "other" if name in self.relevant else "geology"
        return replace(super().page(name), labels=(f"topic:{label}",))


def refuse_truth() -> NoReturn:
    """Say that a part asked for what it may not know."""
    raise ContractError(
        "it asked for goal.truth: only upper benchmarks may know the web beforehand."
        " Learn from steps, or check it with sees_truth=True if it is meant to be one"
    )
