"""Pages a second of a simulated best_first crawl, from cold caches and with link vectors cached."""

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from honeyguide.assemble import Assembled
from honeyguide.engine.loop import simulate
from honeyguide.plan import Plan
from honeyguide.recorded.importers.jsonl import import_jsonl


def pages_per_second(opened: Assembled) -> dict[str, float]:
    """Crawl once; by the wall clock, and by the processor time that the crawl itself took."""
    navigator = opened.navigator()
    wall, processor = time.perf_counter(), time.process_time()
    outcome = simulate(navigator, opened.world, opened.seeds, opened.plan.budget)
    return {
        "wall": round(outcome.pages / (time.perf_counter() - wall)),
        "processor": round(outcome.pages / (time.process_time() - processor)),
    }


def measure(graph: Path, budget: int, agent: str) -> dict[str, object]:
    """A cold run, then two warm ones."""
    plan = Plan(
        topic="geology",
        seeds=("Geology",),
        world=f"graph:{graph}",
        judge="keywords",
        encoder="wordllama:cache_megabytes=512",  # room for all link texts of the graph
        agent=agent,
        budget=budget,
    )
    opened = plan.open()
    cold = pages_per_second(opened)
    warm = [pages_per_second(opened) for _ in range(2)][-1]
    return {"agent": agent, "pages": budget, "pages_per_second": {"cold": cold, "cached": warm}}


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with wikispeedia/")
    parser.add_argument("--budget", type=int, default=3000)
    parser.add_argument("--agent", default="best_first")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        graph = Path(folder) / "wikispeedia"
        import_jsonl(arguments.data / "wikispeedia" / "pages.jsonl.zst", graph)
        print(json.dumps(measure(graph, arguments.budget, arguments.agent), indent=1))


if __name__ == "__main__":
    main()
