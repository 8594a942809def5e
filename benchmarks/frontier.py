"""Millions of waiting links of guide: the memory that each costs, and the time to use them.

    python benchmarks/frontier.py [--links 1000000] [--hosts 2000]

A navigator with guide and its frontier absorbs pages of new links until so many wait; word vectors
are random. Absorbing a page (which puts its links) and choosing a link are timed with 100,000
waiting links and again with all of them. Bytes of a waiting link are those by which the process
grows from the first to the last, everything included but the guard's tables, which are measured
apart.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from honeyguide.agents.guide import Guide
from honeyguide.assemble import LIVE, frontier_of
from honeyguide.contracts import Goal, Link, Matrix, Page, Verdict, Visit
from honeyguide.engine.navigator import Navigator
from honeyguide.guards.live import LiveGuard

FEW = 100_000  # links that wait at the first measurement
PER_PAGE = 50  # links of a page
TURNS = 1000  # pages that are absorbed, and links that are chosen, for one figure
WORDS = "rock sea river wine chess opera lamp tree horse glass road ship stone paper bird".split()


class RandomVectors:
    """An encoder that costs next to nothing, so that 10,000,000 links are made in minutes."""

    width = 256

    def __init__(self) -> None:
        vectors = np.random.default_rng(0).standard_normal((4096, self.width), np.float32)
        self._vectors: Matrix = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        self._next = 0

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """The next vectors, whatever the texts are."""
        places = np.arange(self._next, self._next + len(texts)) % len(self._vectors)
        self._next += len(texts)
        return self._vectors[places]

    def knows(self, text: str) -> bool:
        """All words are known."""
        return True


class Flood:
    """A crawl that finds new links without end."""

    def __init__(self, hosts: int) -> None:
        agent = Guide(Goal("geology", RandomVectors()))
        frontier = frontier_of(agent, np.random.default_rng(0))
        self.navigator = Navigator(agent, frontier, rescoring=0.0)
        self.navigator.seed([Link("https://www.host-0.example/")])
        self._hosts, self._links = hosts, 0
        self._now = 0.0
        self.paths = 0  # characters of all URLs after their hosts

    def fill(self, waiting: int) -> None:
        """Let so many links wait."""
        while (missing := waiting - len(self.navigator.frontier)) > 0:
            self.absorb(self.choose(), min(missing + 1, 500))

    def choose(self) -> Link:
        """Choose the best link."""
        self._now += 1.0
        link = self.navigator.choose(self._now)
        assert link is not None
        return link

    def absorb(self, link: Link, links: int = PER_PAGE) -> None:
        """Absorb the visit of a page with so many new links."""
        page = Page(link.url, "A page", "Some text.", tuple(self._link() for _ in range(links)))
        verdict = Verdict(0.5, self._links % 3 == 0)
        self.navigator.absorb(Visit(link, page, verdict, host_delay=0.0), self._now)

    def _link(self) -> Link:
        self._links = number = self._links + 1
        one, other = (WORDS[number * k % len(WORDS)] for k in (1, 7))
        path = f"/articles/{one}-{other}/some-page-{number}.html"
        self.paths += len(path)
        host = number * 2_654_435_761 % self._hosts
        return Link(f"https://www.host-{host}.example{path}", other, one, "html/body/div/p/a")


def resident_bytes() -> int:
    """Memory of this process that is really there."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def turns(flood: Flood) -> dict[str, float]:
    """Microseconds of processor time to choose a link, and to absorb a page with its links."""
    choosing = absorbing = 0.0
    for _ in range(TURNS):
        begin = time.process_time()
        link = flood.choose()
        middle = time.process_time()
        flood.absorb(link)
        choosing += middle - begin
        absorbing += time.process_time() - middle
    return {
        "take_us": round(1e6 * choosing / TURNS, 1),
        "put_us_per_link": round(1e6 * absorbing / TURNS / PER_PAGE, 2),
    }


def rescoring(flood: Flood) -> dict[str, float]:
    """The time to score all waiting links again, in all and for each visit of a live crawl."""
    navigator, times = flood.navigator, []
    waiting = len(navigator.frontier)
    for _ in range(3):
        begin = time.process_time()
        navigator.frontier.rescore(navigator.agent.score)
        times.append(time.process_time() - begin)
    seconds = float(np.median(times))
    every = waiting * navigator.agent.features.width / LIVE.rescoring  # visits, as a plan does
    return {
        "rescore_ms": round(1e3 * seconds, 1),
        "rescore_ns_per_link": round(1e9 * seconds / waiting, 1),
        "rescored_every_visits": round(every, 1),
        "rescore_ms_per_visit": round(1e3 * seconds / max(every, 1), 3),
    }


def guard_bytes(links: int = 20_000) -> float:
    """What the guard of live crawls keeps of a URL."""
    flood, guard = Flood(100), LiveGuard()
    memory = flood.navigator.memory
    page = Page("https://start.example/", links=tuple(flood._link() for _ in range(links)))
    (id,) = memory.seed([Link(page.url)]).ids
    found = memory.link(memory.visit(int(id), Visit(Link(page.url), page, Verdict(0, False))), page)
    before = guard.nbytes
    guard.admit(memory, found)
    return round((guard.nbytes - before) / links, 1)


def measure(links: int, hosts: int) -> dict[str, Any]:
    """All figures of one run."""
    flood = Flood(hosts)
    navigator = flood.navigator
    flood.fill(FEW)
    turns(flood)  # once, so that the lists of hosts are there
    few = {**turns(flood), **rescoring(flood)}
    before, waited = resident_bytes(), len(navigator.frontier)
    begin = time.process_time()
    flood.fill(links - 2 * TURNS * PER_PAGE)
    filled = time.process_time() - begin
    turns(flood)
    many = {**turns(flood), **rescoring(flood)}
    resident, waiting = resident_bytes(), len(navigator.frontier)
    sizes = {name: round(size / waiting, 1) for name, size in navigator.measures().items()}
    navigator.frontier.drop(np.arange(len(navigator.memory), dtype=np.int32))
    navigator.frontier.compact()
    seen = (sum(navigator.measures().values()) - flood.paths) / len(navigator.memory)
    return {
        "waiting_links": waiting,
        "hosts": hosts,
        "url_characters_after_host": round(flood.paths / flood._links, 1),
        "bytes_per_waiting_link": round((resident - before) / (waiting - waited), 1),
        "bytes_by_table": sizes,
        "guard_bytes_per_url": guard_bytes(),
        "bytes_per_page_seen_beyond_url": round(seen, 1),
        "resident_gigabytes": round(resident / 1e9, 2),
        "fill_seconds": round(filled, 1),
        f"with_{FEW}": few,
        "with_all": many,
        "take_ratio": round(many["take_us"] / few["take_us"], 2),
        "put_ratio": round(many["put_us_per_link"] / few["put_us_per_link"], 2),
    }


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=2000)
    flags = parser.parse_args()
    print(json.dumps(measure(flags.links, flags.hosts), indent=1))


if __name__ == "__main__":
    main()
