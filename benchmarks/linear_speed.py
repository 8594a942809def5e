"""What scoring all waiting links after every page costs: linear_sync against linear_async.

    python benchmarks/linear_speed.py --data DIR

Han et al. (2018) took 654 seconds against 55 for 10,000 pages: twelve times.
"""

import argparse
import json
import statistics
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from honeyguide.assemble import Assembled
from honeyguide.engine.loop import simulate
from honeyguide.plan import Plan
from honeyguide.recorded.importers.jsonl import import_jsonl

AGENTS = ("linear_async", "linear_sync")


def seconds(opened: Assembled, agent: str) -> tuple[float, float]:
    """One crawl: by the wall clock and by the processor's."""
    navigator = opened.navigator(replace(opened.plan, agent=agent))
    wall, processor = time.perf_counter(), time.process_time()
    simulate(navigator, opened.world, opened.seeds, opened.plan.budget)
    return time.perf_counter() - wall, time.process_time() - processor


def measure(graph: Path, budget: int, runs: int) -> dict[str, object]:
    """Both in turn, after one crawl that fills the caches."""
    plan = Plan(
        topic="WebGL", seeds=("Web",), world=f"graph:{graph}", judge="keywords", budget=budget
    )
    opened = plan.open(remember=True)
    seconds(opened, AGENTS[0])
    taken = [{agent: seconds(opened, agent) for agent in AGENTS} for _ in range(runs)]
    ratios = {
        name: [run["linear_sync"][clock] / run["linear_async"][clock] for run in taken]
        for clock, name in enumerate(("wall", "processor"))
    }
    return {
        "pages": budget,
        "runs": runs,
        **{
            f"seconds_{agent}": round(statistics.mean(run[agent][0] for run in taken), 2)
            for agent in AGENTS
        },
        **{f"ratio_{name}": round(statistics.mean(values), 3) for name, values in ratios.items()},
        "ratio_wall_each": [round(value, 3) for value in ratios["wall"]],
    }


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with mdn/")
    parser.add_argument("--budget", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        graph = Path(folder) / "mdn"
        import_jsonl(arguments.data / "mdn" / "pages.jsonl.zst", graph)
        print(json.dumps(measure(graph, arguments.budget, arguments.runs), indent=1))


if __name__ == "__main__":
    main()
