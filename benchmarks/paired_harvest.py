"""Relevant pages that guide finds in two versions, on the same crawls in pairs.

    honeyguide import jsonl DATA/wikispeedia/pages.jsonl.zst GRAPH
    python benchmarks/paired_harvest.py OLD NEW --graph GRAPH [--budget 1000] [--seeds 4]

OLD and NEW are folders with a checkout each; both run in this environment. A pair is one topic and
one set of three random start pages. Printed as JSON: a line for each pair, then the geometric mean
of new to old with its 95 % interval, for the pages found and for the area under the curve of pages
found (which also counts how early they were found).
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

SUBJECTS = {  # of wikispeedia, with a topic as a person types it
    "birds": "Science.Biology.Birds",
    "chemical elements": "Science.Chemistry.Chemical_elements",
    "astronomy and space": "Science.Physics.Space_Astronomy",
    "railway transport": "Design_and_Technology.Railway_transport",
    "geology": "Geography.Geology_and_geophysics",
    "writers and critics": "People.Writers_and_critics",
}
CRAWL = """
import json, sys
from honeyguide.plan import Plan
plan, found = json.loads(sys.argv[1]), [0]
Plan(**plan).simulate(lambda visit, step, now: found.append(found[-1] + step.verdict.relevant))
print(json.dumps([found[-1], sum(found) / len(found)]))
"""


def harvest(tree: Path, plan: dict[str, object]) -> list[float]:
    """Relevant pages found by one version, and the mean over the crawl of those found so far."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    line = [sys.executable, "-c", CRAWL, json.dumps(plan)]
    done = subprocess.run(line, cwd=tree, env=environment, check=True, capture_output=True)
    found: list[float] = json.loads(done.stdout)
    return found


def interval(ratios: list[float], rng: np.random.Generator) -> dict[str, float]:
    """The geometric mean of ratios, and where 95 % of its bootstrap samples lie."""
    logs = np.log(ratios)
    samples = rng.choice(logs, (10_000, len(logs))).mean(axis=1)
    low, high = np.exp(np.quantile(samples, [0.025, 0.975])).tolist()
    mean = float(np.exp(logs.mean()))
    return {"mean": round(mean, 3), "from": round(low, 3), "to": round(high, 3)}


def main() -> None:
    """Print a line of JSON for each pair, and one for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--graph", type=Path, required=True, help="wikispeedia, imported")
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=4, help="sets of start pages of each topic")
    parser.add_argument("--agent", default="guide")
    flags = parser.parse_args()
    trees = flags.old.resolve(), flags.new.resolve()
    pairs: list[tuple[list[float], list[float]]] = []
    for seed in range(flags.seeds):
        for topic, subject in SUBJECTS.items():
            plan = {
                "topic": topic,
                "judge": f"label:subject.{subject}",
                "world": f"graph:{flags.graph.resolve()}",
                "seeds": ["3 random pages"],
                "random_seed": seed,
                "agent": flags.agent,
                "budget": flags.budget,
            }
            old, new = (harvest(tree, plan) for tree in trees)
            pairs.append((old, new))
            row = {"topic": topic, "seed": seed, "old": old[0], "new": new[0]}
            print(json.dumps({**row, "area_ratio": round(new[1] / old[1], 3)}), flush=True)
    rng = np.random.default_rng(0)
    both = [interval([(new[at] + 1) / (old[at] + 1) for old, new in pairs], rng) for at in (0, 1)]
    print(json.dumps({"pairs": len(pairs), "found": both[0], "area": both[1]}))


if __name__ == "__main__":
    main()
