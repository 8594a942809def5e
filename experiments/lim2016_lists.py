"""Document 002's own two loops (5.1, 6.2), whose lists hold a link each time that it is found."""

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.harness.experiment import Trial
from honeyguide.contracts import Link, World
from honeyguide.engine.loop import run_jumping
from honeyguide.plan import Plan
from honeyguide.urls.spelling import host

SAME = 3  # pages of a host in a row, after which links of one more are not pushed
QUEUE, STACK = "breadth_first", "host_limited_depth_first"


def document_lists(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """One of the two for so many iterations, with the numbers of section 7.3.1."""
    task = trial.task
    plan = Plan(topic=task.topic, judge=task.judge, seeds=task.seeds, world=world)
    opened = plan.open()
    rng = np.random.default_rng(random_seed)
    work = iterate(opened.world, opened.seeds, task.budget, trial.entry.agent == STACK, rng)
    return run_jumping(work)


async def iterate(
    world: World,
    seeds: Sequence[Link],
    iterations: int,
    modified: bool,  # depth-first with the rule of section 5.1, else breadth-first
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Links of a page are a set there: pushed in any order, and fetched again when found again."""
    waiting, visited, hosts, most = deque(seeds), set[str](), list[str](), 0
    while waiting and len(hosts) < iterations:
        link = waiting.pop() if modified else waiting.popleft()
        page = (await world.visit(link)).page
        visited.add(link.url)
        hosts.append(host(link.url))
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
    }
