"""Milliseconds a step of the walking agents at 50 links a page, and of a walk in a large graph."""

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import generated_links

from honeyguide.engine.loop import run_simulated
from honeyguide.plan import Plan

# Friar (2017), table 3.4: milliseconds a step
DOCUMENT = {
    "random_walk": 2.0,
    "url_linear_q": 6.3,
    "url_cnn_dqn": 15.8,
    "url_async_dqn:actors=0": 21.8,
    "url_classifier:batches=50": 11.0,
}
WARM_UP = 500  # steps that are not counted


def measure(
    graph: Path, pages: int, agent: str, steps: int, host: int = generated_links.HOST
) -> dict[str, float]:
    """One walk: by the wall clock, and by the processor time of this process."""
    plan = Plan(
        topic="law firms",
        seeds=("1000 random pages",),
        world=f"graph:{graph}",
        judge="targets:" + generated_links.targets(pages, host),
        agent=agent,
        budget=WARM_UP + steps,
    )
    opened = plan.open()
    navigator = opened.navigator()
    begun: list[float] = []
    seen: list[int] = []

    def note(visit: object, step: object, now: float) -> None:
        seen.append(len(step.options))  # type: ignore[attr-defined]
        if len(seen) == WARM_UP:
            begun.extend([time.perf_counter(), time.process_time()])

    run_simulated(opened.crawl(navigator, note).run(opened.seeds))
    wall, processor = time.perf_counter() - begun[0], time.process_time() - begun[1]
    urls = navigator.memory.urls
    return {
        "links": round(sum(seen) / len(seen), 1),
        "new_urls": round(len(urls) / len(seen), 2),  # a step; known ones take half the time
        "new_hosts": round(urls.host_count / len(seen), 2),
        "milliseconds": round(1000 * wall / steps, 3),
        "processor_milliseconds": round(1000 * processor / steps, 3),
    }


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--links", type=float, default=50.0, help="of a page, in the mean")
    parser.add_argument("--agents", default="", help="only these, with commas between")
    parser.add_argument("--sizes", default="", help="instead: so many pages, 10 links each")
    parser.add_argument("--hosts", type=int, default=0, help="of each of these sizes; else grow")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",") if size]
    with TemporaryDirectory() as folder:
        found: dict[str, object] = {}
        for size in sizes:
            graph = Path(folder) / f"g{size}"
            begin = time.perf_counter()
            host = size // arguments.hosts if arguments.hosts else generated_links.HOST
            generated_links.write(graph, size, 10, host)
            written = round(time.perf_counter() - begin, 1)
            walk = measure(graph, size, "random_walk", arguments.steps, host)
            found[f"{size:,} pages"] = {"seconds_to_write": written} | walk
        if not sizes:
            graph = Path(folder) / "graph"
            generated_links.write(graph, arguments.pages, arguments.links)
            for agent, document in DOCUMENT.items():
                if arguments.agents and agent.partition(":")[0] not in arguments.agents.split(","):
                    continue
                mine = measure(graph, arguments.pages, agent, arguments.steps)
                found[agent] = mine | {"document": document, "a_fifth": document / 5}
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
