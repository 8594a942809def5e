"""What a decision to parse or skip costs."""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from honeyguide.contracts import Link, Outlinks
from honeyguide.crawl import run_jumping
from honeyguide.plan import Plan


EMPTY = np.empty(0, np.int32)


def main() -> None:
    """Time decisions on the links of a generated web, and what is made ready when they are found."""
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
        run_jumping(opened.crawl(navigator).run(opened.seeds))
        memory = navigator.memory
        ids = np.random.default_rng(0).permutation(len(memory))[:5000].tolist()
        links = [Link(memory.urls.url(id), depth=1) for id in ids]
        new = [Link(link.url.replace("example/", "example/x"), depth=1) for link in links]
        ready = timed(lambda: navigator.gate.see(Outlinks(None, -1, tuple(new), EMPTY)))
        decided = timed(
            lambda: [navigator.gate.opens(memory, *one) for one in zip(ids, links, strict=True)]
        )
        print(
            f"{gate:24} {decided / len(ids) * 1e6:5.1f} µs a decision,"
            f" {ready / len(ids) * 1e6:5.1f} µs to make a new URL ready for it"
        )


def timed(job: Callable[[], object]) -> float:
    """Seconds of processor time."""
    begin = time.process_time()
    job()
    return time.process_time() - begin


if __name__ == "__main__":
    main()
