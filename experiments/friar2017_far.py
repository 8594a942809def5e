"""Held-out rewards that are hard to reach, as in Friar (2017, §4.1.2)."""

from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.friar2017_walks import FAR, rewards_and_held_out, walk
from experiments.harness.experiment import Trial
from experiments.harness.report_page import Page
from experiments.harness.results import Results
from honeyguide.bench.report import spread
from honeyguide.recorded.graph import Graph
from honeyguide.recorded.writer import write_arrays
from honeyguide.urls.spelling import host

PART, FUNCTION = FAR, "experiments.friar2017_far:far_walk"
KEPT = 0.02  # share of the links from other hosts to held-out ones that is kept
# table 4.3 at 1,000,000 steps, and how many there were (§4.1, §4.1.2)
PAPER = {"random_walk": ("220", "106"), "url_async_dqn": ("306", "200")}
REWARDS, HELD_OUT = 450, 1400


def far_walk(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Walk on a web with few links to held-out hosts; all else is as in part held-out."""
    path = Path(world.removeprefix("graph:"))
    found = walk(trial, f"graph:{thinned(path)}", random_seed)
    rewards, held_out = rewards_and_held_out(len(Graph.open(path)))
    return found | {"rewards_there": len(rewards), "held_out_there": len(held_out)}


def thinned(path: Path) -> Path:
    """A copy of a recorded web without most links from other hosts to held-out ones."""
    out = path.with_name(f"{path.name}-far")
    if not out.exists():
        graph = Graph.open(path)
        offsets, targets = graph.inside()
        kept = _kept_links(graph, offsets, targets)
        counts = np.add.reduceat(np.append(kept, False), offsets[:-1]) * (np.diff(offsets) > 0)
        urls = (graph.url(page) for page in range(len(graph)))
        write_arrays(out, urls, np.append(0, np.cumsum(counts)), targets[kept])
    return out


def _kept_links(
    graph: Graph, offsets: NDArray[np.int64], targets: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Which links stay, by a hash of where they lead from and to."""
    hosts = [host(graph.url(page)) for page in range(len(graph))]
    far = set(rewards_and_held_out(len(graph))[1])
    to_far = np.array([name in far for name in hosts])
    sources = np.repeat(np.arange(len(graph)), np.diff(offsets))
    kept = np.ones(len(targets), bool)
    for link in np.flatnonzero((targets >= 0) & to_far[targets]).tolist():
        source, target = int(sources[link]), int(targets[link])
        kept[link] = hosts[source] == hosts[target] or _draw(source, target) < KEPT
    return kept


def _draw(source: int, target: int) -> float:
    digest = blake2b(f"{source} {target}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def far_table(results: Results, page: Page) -> dict[str, Any]:
    """Write held-out rewards where they are far, beside table 4.3 of the paper."""
    headline: dict[str, Any] = {}
    for task in results.tasks(PART):
        names = results.entries(PART, task)
        base = results.mean(PART, task, names[0], "held_out")
        page.heading(f"Table 4.3, held-out rewards that are far: {task}")
        first = results.runs(PART, task, names[0])[0]
        page.text(
            "In the parts above held-out rewards are as easy as rewarded ones: they are every "
            "second host of the same topics, with as many links from other hosts (medians 1,094 "
            "and 1,111 at 200,000 pages), and the random walk finds the same share of both. "
            f"Friar's were not used to build the web: its random crawler finds 220 of {REWARDS} "
            f"rewards and 106 of {HELD_OUT:,} held-out ones. Here {1 - KEPT:.0%} of the links "
            f"from other hosts to held-out ones are taken out of the web; there are "
            f"{first['rewards_there']} rewards and {first['held_out_there']} held-out ones."
        )
        page.table(
            ["agent", "paper: rewards", "ours", "of all", "paper: held out", "ours (sd)", "of all",
             "times random", "runs"],
            [_row(results, task, name, base) for name in names],
        )  # fmt: skip
        headline |= {
            f"{name} far held out / random": results.mean(PART, task, name, "held_out") / base
            for name in names[1:]
            if base
        }
    return headline


def _row(results: Results, task: str, name: str, base: float) -> list[object]:
    runs = results.runs(PART, task, name)
    held_out = results.found(PART, task, name, "held_out")
    rewards, found = results.mean(PART, task, name), float(np.mean(held_out))
    paper = PAPER.get(name, ("–", "–"))
    return [
        name,
        paper[0],
        rewards,
        f"{rewards / runs[0]['rewards_there']:.0%}",
        paper[1],
        f"{found:.1f} ({spread(held_out):.1f})" if len(held_out) > 1 else f"{found:.1f}",
        f"{found / runs[0]['held_out_there']:.0%}",
        found / base if base else None,
        len(runs),
    ]
