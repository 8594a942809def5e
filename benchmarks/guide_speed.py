"""What guide costs: pages a second on wikispeedia, and a page's cost by the number that waits.

    python benchmarks/guide_speed.py --data DIR [--waiting 1000000]
    python benchmarks/guide_speed.py --data DIR --against OLD [--runs 5]

With OLD, a folder with the checkout of another version, both versions crawl wikispeedia in turn,
with link vectors cached, in this environment: printed are pages a second of processor time and the
ratio of this version to the other.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import crawl_speed
import numpy as np

from honeyguide.agents.guide import Guide
from honeyguide.assemble import LIVE, frontier_of
from honeyguide.contracts import Goal, Link, Page, Verdict, Visit
from honeyguide.engine.navigator import Navigator
from honeyguide.recorded.importers.jsonl import import_jsonl
from honeyguide.registry import make

WORDS = "rock sea river wine chess opera lamp tree horse glass road ship stone paper bird".split()
LINKS = 30  # of a page
PAGES = 20  # absorbed for one figure


class Flood:
    """Pages of new links without end, from one page that shows as many as are to wait."""

    def __init__(self, rescoring: float) -> None:
        goal = Goal("geology", make("encoder", "wordllama"))
        agent = Guide(goal)
        rng = np.random.default_rng(0)
        frontier = frontier_of(agent, rng)
        self.navigator = Navigator(agent, frontier, rescoring=rescoring)
        self.navigator.seed([Link("http://a.example/")])
        self._links = 0

    def absorb(self, links: int = LINKS) -> None:
        """Visit a page with so many new links."""
        link = self.navigator.choose(0.0)
        assert link is not None
        page = Page(link.url, "A page", "Some text.", tuple(self._link() for _ in range(links)))
        self.navigator.absorb(Visit(link, page, Verdict(0.5, self._links % 2 == 0)), 0.0)

    def fill(self, waiting: int) -> None:
        """Let so many links wait."""
        rescoring, self.navigator.rescoring = self.navigator.rescoring, 0.0
        while (missing := waiting - len(self.navigator.frontier)) > 0:
            self.absorb(min(missing + 1, 5000))
        self.navigator.rescoring = rescoring

    def _link(self) -> Link:
        self._links += 1
        one, other = (WORDS[self._links * k % len(WORDS)] for k in (1, 7))
        return Link(f"http://a.example/{one}/{self._links}", other, f"{one} and {other}")


CACHED = """
import json, sys, time
from honeyguide.engine.loop import simulate
from honeyguide.plan import Plan
opened = Plan(**json.loads(sys.argv[1])).open()
for run in range(1 + int(sys.argv[2])):
    navigator = opened.navigator()
    begin = time.process_time()
    pages = simulate(navigator, opened.world, opened.seeds, opened.plan.budget).pages
    if run:  # the first one fills the cache
        print(pages / (time.process_time() - begin))
"""


def cached_speed(tree: Path, graph: Path, budget: int) -> list[float]:
    """Pages a second of processor time of one version, twice, with link vectors cached."""
    plan = {
        "topic": "geology",
        "seeds": ["Geology"],
        "world": f"graph:{graph}",
        "judge": "keywords",
        "encoder": "wordllama:cache_megabytes=512",
        "agent": "guide",
        "budget": budget,
    }
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    line = [sys.executable, "-c", CACHED, json.dumps(plan), "2"]
    done = subprocess.run(line, cwd=tree, env=environment, check=True, stdout=subprocess.PIPE)
    return [float(speed) for speed in done.stdout.split()]


def compare(old: Path, graph: Path, budget: int, runs: int) -> dict[str, object]:
    """Both versions in turn: medians, and the median and range of the ratios of each turn."""
    trees = old.resolve(), Path(__file__).resolve().parents[1]
    turns = [
        [max(cached_speed(tree, graph, budget)) for tree in trees] for _ in range(runs)
    ]  # the better of two: other programs only make them slower
    before, now = np.median(turns, axis=0).tolist()
    ratios = sorted(new / other for other, new in turns)
    return {
        "pages": budget,
        "old_pages_per_second": round(before),
        "new_pages_per_second": round(now),
        "ratio": round(float(np.median(ratios)), 2),
        "lowest_and_highest": [round(ratios[0], 2), round(ratios[-1], 2)],
    }


def milliseconds(run: Callable[[], object], times: int = PAGES) -> float:
    """The mean processor time of a call."""
    begin = time.process_time()
    for _ in range(times):
        run()
    return round(1000 * (time.process_time() - begin) / times, 3)


def product_alone(waiting: int, width: int) -> float:
    """The matrix product of as many rows with weights, in milliseconds."""
    rows, weights = np.ones((waiting, width), np.float32), np.ones(width, np.float32)
    return milliseconds(lambda: rows @ weights)


def cost(waiting: int) -> dict[str, float]:
    """A page's cost when all that waits is scored after it, within the live budget, and alone."""
    flood = Flood(math.inf)
    flood.fill(waiting)
    width = flood.navigator.agent.features.width
    product = product_alone(waiting, flood.navigator.agent.features.full_width)
    every = milliseconds(flood.absorb)
    flood.navigator.rescoring = LIVE.rescoring / width  # as a plan does
    pages = max(PAGES, math.ceil(2 * waiting * width / LIVE.rescoring))  # all is scored twice
    live = milliseconds(flood.absorb, pages)
    return {"waiting": waiting, "product_ms": product, "page_ms": every, "live_page_ms": live}


def main() -> None:
    """Print the figures as JSON, a line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with wikispeedia/")
    parser.add_argument("--budget", type=int, default=3000)
    parser.add_argument("--waiting", type=int, default=1_000_000, help="the most that wait")
    parser.add_argument("--against", type=Path, help="folder with the checkout of another version")
    parser.add_argument("--runs", type=int, default=5, help="turns of both versions")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        graph = Path(folder) / "wikispeedia"
        import_jsonl(arguments.data / "wikispeedia" / "pages.jsonl.zst", graph)
        if arguments.against is not None:
            turns = compare(arguments.against, graph, arguments.budget, arguments.runs)
            print(json.dumps(turns))
            return
        print(json.dumps(crawl_speed.measure(graph, arguments.budget, "guide")), flush=True)
    for waiting in (1_000, 10_000, 100_000, 1_000_000):
        if waiting <= arguments.waiting:
            print(json.dumps(cost(waiting)), flush=True)


if __name__ == "__main__":
    main()
