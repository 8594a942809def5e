"""The source finder on webkb: trained on three universities, tested on the fourth.

python benchmarks/source_finder_webkb.py --graph FOLDER --out FILE [--epochs N]
FOLDER is webkb as 'honeyguide import jsonl' makes it; links there have no tag paths.
"""

import argparse
import asyncio
import json
from pathlib import Path

import numpy as np

from honeyguide.graphs import Graph
from honeyguide.plan import Plan
from honeyguide.registry import make
from honeyguide.sources.learning import PolicyGradient
from honeyguide.training.sources import Manner, PreTraining, Sites, collect

UNIVERSITIES = ("cornell", "texas", "washington", "wisconsin")
BUDGETS = (20, 50)


def starts(graph):
    """The departments' home pages, by university."""
    departments = set(graph.pages_with_label("class:department").tolist())
    return {
        name: [
            graph.url(page)
            for page in graph.pages_with_label(f"univ:{name}").tolist()
            if page in departments
        ]
        for name in UNIVERSITIES
    }


def crawled(path, kind, seeds, agent, budget):
    """Pages of a kind that another agent finds with so many clicks."""
    plan = Plan(
        topic=kind,
        seeds=seeds,
        world=f"graph:{path}",
        judge=f"label:class:{kind}",
        agent=agent,
        budget=budget + len(seeds),
    )
    return plan.simulate().relevant


async def found(path, kind, homes, test, epochs, random_seed):
    """Pages of a kind that the source finder finds from the test homes, by budget."""
    world = make("world", f"graph:{path}", judge=make("judge", f"label:class:{kind}"))
    encoder = make("encoder", "wordllama")
    everywhere = lambda url, home: True  # noqa: E731 - departments have several hosts
    sites = Sites(world, homes, encoder, within=everywhere)
    learner = PolicyGradient(encoder.width, random_seed)
    rng = np.random.default_rng(random_seed)
    pre = PreTraining(epochs=epochs, steps=30)
    await pre.run(sites, learner, rng, lambda *news: None)
    manner = Manner(steps=max(BUDGETS), threshold=-1.0)
    other = Sites(world, test, encoder, within=everywhere)
    walk = await collect(other, test[0], learner.policy(), manner, rng)
    return {budget: sum(walk.found[:budget]) for budget in BUDGETS}


def main():
    """Every university held out in turn, for courses and for faculty."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--graph", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=40)
    said = parser.parse_args()
    by_university = starts(Graph.open(said.graph))
    rows = []
    for kind in ("course", "faculty"):
        for test in UNIVERSITIES:
            homes = [
                url for name in UNIVERSITIES if name != test for url in by_university[name][:1]
            ]
            seeds = by_university[test][:1]
            ours = asyncio.run(found(said.graph, kind, homes, seeds, said.epochs, 0))
            for budget in BUDGETS:
                best = crawled(said.graph, kind, seeds, "best_first", budget)
                oracle = crawled(said.graph, kind, seeds, "oracle", budget)
                gap = (ours[budget] - best) / (oracle - best) if oracle > best else None
                rows.append([kind, test, budget, best, ours[budget], oracle, gap])
                print(*rows[-1], flush=True)
    said.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
