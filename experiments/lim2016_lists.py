"""The two loops of Lim (2016, §5.1 and §6.2), whose lists hold a link as often as it is found."""

import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.harness.experiment import Trial
from honeyguide.contracts import Link, World
from honeyguide.engine.loop import run_simulated
from honeyguide.plan import Plan
from honeyguide.urls.spelling import host

SAME = 3  # after so many pages of a host in a row, links of its next page are not pushed
QUEUE, STACK = "breadth_first", "host_limited_depth_first"
LISTS = "experiments.lim2016_lists:run_lists"


def run_lists(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Run one of the two loops and return the figures of §7.3.1."""
    task = trial.task
    return loop_once(
        Plan(topic=task.topic, judge=task.judge, seeds=task.seeds, world=world),
        task.budget,
        trial.entry.agent == STACK,
        random_seed,
    )


def loop_once(plan: Plan, iterations: int, modified: bool, random_seed: int) -> dict[str, Any]:
    """Run one of the two loops; its seconds are those after the web was opened."""
    opened = plan.open()
    rng = np.random.default_rng(random_seed)
    begin, begin_processor = time.perf_counter(), time.process_time()
    figures = run_simulated(iterate(opened.world, opened.seeds, iterations, modified, rng))
    return figures | {
        "seconds": round(time.perf_counter() - begin, 3),
        "processor_seconds": round(time.process_time() - begin_processor, 3),
    }


async def iterate(
    world: World,
    seeds: Sequence[Link],
    iterations: int,
    modified: bool,  # depth-first with the rule of §5.1, else breadth-first
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Visit pages; push links in random order and visit them again when found again."""
    waiting, visited, hosts, most = deque(seeds), set[str](), list[str](), 0
    links, characters = 0, 0  # of the pages visited
    while waiting and len(hosts) < iterations:
        link = waiting.pop() if modified else waiting.popleft()
        page = (await world.visit(link)).page
        visited.add(link.url)
        hosts.append(host(link.url))
        links += len(page.links) if page else 0
        characters += len(page.text) if page else 0
        rests = modified and len(hosts) > SAME and len(set(hosts[-SAME - 1 :])) == 1
        if page is None or rests:
            continue
        found = list({link.url: link for link in page.links}.values())
        shuffled = [found[place] for place in rng.permutation(len(found))]
        waiting.extend(new for new in shuffled if not (modified and new.url in visited))
        most = max(most, len(waiting))
    return {
        "pages": len(hosts),
        "distinct_pages": len(visited),
        "waiting": len(waiting),
        "most_waiting": most,
        "all_hosts": len(set(hosts)),
        "links": links,
        "characters": characters,
    }
