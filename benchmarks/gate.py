"""What a decision to parse or skip costs."""

import argparse
import time
from dataclasses import replace

import numpy as np

from honeyguide.contracts import Link, Outlinks
from honeyguide.engine.loop import run_simulated
from honeyguide.engine.navigator import Navigator
from honeyguide.plan import Plan


def main() -> None:
    """Time decisions on the links of a generated web."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=600, help="fetched before the timing")
    given = parser.parse_args()
    plan = Plan(
        world="synthetic:pages=20000",
        judge="label:geology",
        seeds=("geology",),
        agent="breadth_first",
        budget=given.pages,
    )
    opened = plan.open()
    for gate in ("none", "parse_or_skip", "parse_or_skip_q", "parse_or_skip_document"):
        navigator = opened.navigator(replace(plan, gate=gate))
        run_simulated(opened.crawl(navigator).run(opened.seeds))
        print(f"{gate:24} {decision(navigator):5.1f} µs a decision,", end="")
        print(f" {preparation(navigator):5.1f} µs to make a new URL ready for it")


def decision(navigator: Navigator) -> float:
    """Microseconds to decide on one of the links found."""
    memory, gate = navigator.memory, navigator.gate
    ids = np.random.default_rng(0).permutation(len(memory))[:5000].tolist()
    links = [Link(memory.urls.url(id), depth=1) for id in ids]
    begin = time.process_time()
    for id, link in zip(ids, links, strict=True):
        gate.opens(memory, id, link, 0.0)
    return (time.process_time() - begin) / len(ids) * 1e6


def preparation(navigator: Navigator) -> float:
    """Microseconds to read a URL when it is found."""
    urls = [navigator.memory.urls.url(id) for id in range(len(navigator.memory))]
    new = tuple(Link(url.replace("example/", "example/x"), depth=1) for url in urls)
    begin = time.process_time()
    navigator.gate.see(Outlinks(None, -1, new, np.empty(0, np.int32)))
    return (time.process_time() - begin) / len(new) * 1e6


if __name__ == "__main__":
    main()
