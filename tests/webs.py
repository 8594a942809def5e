"""Small webs written by hand, for tests."""

import asyncio

import numpy as np

from honeyguide.contracts import Link, Page, Truth, Verdict, Visit
from honeyguide.errors import HoneyguideError


def url(name: str, host: str = "site") -> str:
    return f"http://{host}.example/{name}"


class TinyWeb:
    """A world made from {page name: [names of linked pages]}, which records its visits."""

    live = False

    def __init__(self, links, relevant=(), seconds=None, hosts=None, words=None, relevance=None):
        self.links = links
        self.relevant = set(relevant)
        self.seconds = seconds or {}
        self.hosts = hosts or {}
        self.words = words or {}
        self.relevance = relevance or {}
        self.asked: list[str] = []
        self.asked_now: dict[str, int] = {}
        self.most_at_once: dict[str, int] = {}

    def address(self, name):
        return url(name, self.hosts.get(name, "site"))

    def page(self, name):
        links = tuple(Link(self.address(to), anchor=to) for to in self.links[name])
        return Page(self.address(name), name, self.words.get(name, name), links)

    async def visit(self, link):
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

    def find(self, name):
        if name not in self.links:
            raise HoneyguideError(f"no page named {name!r}")
        return Link(self.address(name))

    def truth(self):
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
