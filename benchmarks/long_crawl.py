"""A long crawl of a generated web over HTTP: memory, speed from block to block, re-scoring.

    python benchmarks/long_crawl.py [--pages 100000] [--json]

The agent is a small linear one that wants all waiting links scored again after every page.
What the budget for that costs in harvest is measured by simulated crawls of the same web.
"""

import argparse
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import served_site

from honeyguide.assemble import LIVE
from honeyguide.contracts import (
    Agent,
    Candidates,
    Goal,
    Matrix,
    MemoryView,
    Outlinks,
    Step,
    Vector,
    Visit,
)
from honeyguide.engine.loop import simulate
from honeyguide.engine.navigator import Navigator
from honeyguide.features.link_text import link_texts
from honeyguide.plan import Plan
from honeyguide.registry import part
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.storage.store import RecordingNavigator

SEED = 1  # of the generated web
TOPICS = ("geology", "astronomy", "botany")
WIDTH = 64
ENCODER = f"wordllama:{WIDTH}"


class LinkVectors:
    """A link's words as a vector."""

    width = WIDTH

    def __init__(self, goal: Goal) -> None:
        self._encoder = goal.encoder

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        """One row a link."""
        if not found.links:
            return np.empty((0, self.width), np.float32)
        return self._encoder(link_texts(found.links))


@part("agent", "benchmark_linear")
class Restless(Agent):
    """Fits rewards by a line, one step at a time, and is never content with old scores."""

    def __init__(self, goal: Goal, rate: float = 0.1) -> None:
        self.features = LinkVectors(goal)
        self._weights: Vector = goal.encoder([goal.topic])[0]
        self._rate = rate

    def score(self, links: Candidates) -> Vector:
        """What it expects."""
        return links.x @ self._weights

    def learn(self, steps: Sequence[Step]) -> None:
        """Move the line towards what came."""
        for step in steps:
            error = step.reward - float(step.x @ self._weights)
            self._weights = self._weights + np.float32(self._rate * error) * step.x

    def stale(self) -> bool:
        """Always."""
        return True

    def state(self) -> dict[str, Any]:
        """Its weights."""
        return {"weights": self._weights}

    def load(self, state: dict[str, Any]) -> None:
        """Go on with saved weights."""
        self._weights = state["weights"]


class Diary:
    """Notes how a crawl goes, every so many pages."""

    def __init__(self, every: int) -> None:
        self.rows: list[dict[str, float]] = []
        self._every = every
        self._rescoring = 0.0
        self._begin = time.perf_counter()
        self._worked = time.process_time()
        original = Navigator._rescore

        def timed(navigator: Navigator) -> None:
            begin = time.perf_counter()
            original(navigator)
            self._rescoring += time.perf_counter() - begin

        Navigator._rescore = timed  # type: ignore[method-assign]

    def note(self, plan: Plan, recorded: RecordingNavigator, visit: Visit) -> None:
        """Called after every visit."""
        pages = recorded.memory.visits
        if pages % self._every:
            return
        self.rows.append(
            {
                "pages": pages,
                "seconds": round(time.perf_counter() - self._begin, 2),
                "processor_seconds": round(time.process_time() - self._worked, 2),
                "rescoring_seconds": round(self._rescoring, 2),
                "megabytes": _resident(),
                "waiting": len(recorded.frontier),
                "relevant": recorded.memory.relevant_found,
                "load": round(os.getloadavg()[0], 1),
            }
        )
        shown = ", ".join(f"{name} {value:,}" for name, value in self.rows[-1].items())
        print(shown, file=sys.stderr, flush=True)


def main() -> None:
    """Crawl, then compare budgets, then say whether the bars are met."""
    given = _arguments()
    web = served_site.served("generated", str(given.web), str(SEED))
    with tempfile.TemporaryDirectory() as folder, web as port:
        diary = _crawl(given, port, Path(folder) / "crawl")
    report = _summary(diary.rows, given.pages // 10)
    for row in report["blocks"]:
        print("  ".join(f"{name} {value:>10,}" for name, value in row.items()))
    report["budget"] = [_budget(topic, given) for topic in TOPICS] if given.simulated else []
    lost = [row["harvest_lost"] for row in report["budget"]]
    report["harvest_lost"] = round(sum(lost) / len(lost), 4) if lost else None
    for name, value in report.items():
        if name not in ("blocks", "budget"):
            print(f"{name:40} {value}")
    for row in report["budget"]:
        print(row)
    if given.json:
        print(json.dumps(report))
    if not report["met"]:
        sys.exit(1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000, help="to crawl")
    parser.add_argument("--web", type=int, default=400_000, help="pages of the generated web")
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--parsers", type=int, default=0, help="processes that only parse")
    parser.add_argument("--agent", default="benchmark_linear")
    parser.add_argument(
        "--simulated", type=int, default=10_000, help="pages of the crawls that compare budgets"
    )
    parser.add_argument("--json", action="store_true", help="end with a line of JSON")
    return parser.parse_args()


def _crawl(given: argparse.Namespace, port: int, folder: Path) -> Diary:
    web = served_site.generated_world(given.web, SEED)
    plan = Plan(
        topic=TOPICS[0],
        agent=given.agent,
        encoder=ENCODER,
        seeds=(web.find(TOPICS[0]).url,),
        world="web",
        parsers=given.parsers,
        budget=given.pages,
        in_flight=given.in_flight,
        delay=0.0,
        patience=0.0,
        contact="benchmark@example.org",
        allow_private=True,
        resolve=f"*={served_site.ADDRESS}:{port}",
    )
    create_crawl(folder, plan)
    diary = Diary(every=max(1, given.pages // 100))
    run_crawl(folder, diary.note)
    return diary


def _summary(rows: Sequence[dict[str, float]], block: int) -> dict[str, Any]:
    """Blocks of a tenth of the crawl each, and what they show."""
    ends = [row for row in rows if row["pages"] % block == 0]
    blocks, before = [], dict.fromkeys(ends[0], 0.0)
    for row in ends:
        took = {
            name: round(row[name] - before[name], 2)
            for name in ("seconds", "processor_seconds", "rescoring_seconds")
        }
        blocks.append({"pages": row["pages"], **took, "megabytes": row["megabytes"]})
        blocks[-1] |= {name: row[name] for name in ("waiting", "relevant", "load")}
        before = row
    slower = {
        name: round(blocks[-1][name] / blocks[1][name], 3)
        for name in ("seconds", "processor_seconds")
    }
    share = ends[-1]["rescoring_seconds"] / ends[-1]["processor_seconds"]
    peak = max(row["megabytes"] for row in rows)
    return {
        "pages": ends[-1]["pages"],
        "pages_per_second": round(ends[-1]["pages"] / ends[-1]["seconds"], 1),
        "peak_megabytes": peak,
        "last_to_second_block": slower["seconds"],
        "last_to_second_block_processor": slower["processor_seconds"],
        "share_of_processor_time_re_scoring": round(share, 4),
        "met": peak < 1000 and min(slower.values()) <= 1.3 and share <= 0.2,
        "blocks": blocks,
    }


def _budget(topic: str, given: argparse.Namespace) -> dict[str, Any]:
    """What a limit to re-scoring costs: relevant pages found with it and without."""
    web = f"synthetic:pages={given.web},seed={SEED}"
    plan = Plan(
        topic=topic,
        agent=given.agent,
        encoder=ENCODER,
        seeds=(topic,),
        world=web,
        budget=given.simulated,
    )
    opened = plan.open()
    found = {}
    for name, rescoring in (("limited", LIVE.rescoring / WIDTH), ("unlimited", math.inf)):
        navigator = opened.navigator()
        navigator.rescoring = rescoring
        begin = time.process_time()
        outcome = simulate(navigator, opened.world, opened.seeds, plan.budget)
        found[name] = outcome.relevant
        took = time.process_time() - begin
        print(f"{topic}: {name} {outcome.relevant} in {took:.0f} s", file=sys.stderr, flush=True)
    lost = 1 - found["limited"] / max(found["unlimited"], 1)
    return {"topic": topic, "pages": given.simulated, **found, "harvest_lost": round(lost, 4)}


def _resident() -> float:
    return int(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]) // 1024


if __name__ == "__main__":
    main()
