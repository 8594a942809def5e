"""A million waiting links: the time to score them again, and the memory that each costs."""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from honeyguide.contracts import Link, Page, Verdict, Visit
from honeyguide.engine.memory import Memory
from honeyguide.frontiers.best_first import BestFirst


def resident_bytes() -> int:
    """Memory of this process that is really there."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def fill(links: int, width: int, per_page: int = 50, hosts: int = 2000) -> tuple[Memory, BestFirst]:
    """A memory and a frontier after pages with fresh links, as a crawl leaves them."""
    rng = np.random.default_rng(1)
    memory, frontier = Memory(), BestFirst(width, rng)
    for page in range(links // per_page):
        url = f"https://www.host-{page % hosts}.example/section/{page}/index.html"
        outlinks = tuple(
            Link(
                f"https://www.host-{number % hosts}.example/articles/topic-{number}/some-page.html"
            )
            for number in range(page * per_page, (page + 1) * per_page)
        )
        whole = Page(url, links=outlinks)
        (id,) = memory.seed([Link(url)]).ids
        found = memory.link(memory.visit(id, Visit(Link(url), whole, Verdict(0.5, False))), whole)
        x = rng.standard_normal((per_page, width), np.float32)
        frontier.put(found.ids, memory.host(found.ids), x, x[:, 0])
    return memory, frontier


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--width", type=int, default=64)
    arguments = parser.parse_args()
    before = resident_bytes()
    begin = time.process_time()
    memory, frontier = fill(arguments.links, arguments.width)
    filled = time.process_time() - begin
    grown = resident_bytes() - before
    weights = np.random.default_rng(2).standard_normal(arguments.width, np.float32)
    times = []
    for _ in range(9):
        begin = time.perf_counter()
        frontier.rescore(lambda links: links.x @ weights)
        times.append(time.perf_counter() - begin)
    begin = time.process_time()
    for turn in range(1000):
        frontier.release(frontier.take(float(turn)).id, float(turn))
    taken = time.process_time() - begin
    print(
        json.dumps(
            {
                "waiting_links": len(frontier) + 1000,
                "width": arguments.width,
                "url_characters": len(memory.urls.url(1000)),
                "bytes_per_waiting_link": round(grown / arguments.links, 1),
                "rescore_ms_median": round(1000 * float(np.median(times)), 1),
                "rescore_ms_worst": round(1000 * max(times), 1),
                "take_cpu_us": round(1e6 * taken / 1000, 1),
                "add_cpu_us_per_link": round(1e6 * filled / arguments.links, 2),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
