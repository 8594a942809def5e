"""Walks that pay for pages in seconds: recorded pages are cheap (Friar 2017, §4.2.3)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from experiments.friar2017_walks import surveyed
from experiments.harness.experiment import Trial
from honeyguide.agents.priced import Priced
from honeyguide.contracts import Agent, Frontier, Step, Visit
from honeyguide.engine.loop import Crawl, Limits, run_simulated
from honeyguide.engine.navigator import Navigator
from honeyguide.plan import Plan
from honeyguide.registry import make
from honeyguide.urls.spelling import host
from honeyguide.worlds.recorded_first import RecordedFirst

RECORDED_SHARE = 0.5  # share of hosts that are recorded
SECONDS_A_STEP = 0.125  # allowed per page of the budget: walks that ignore prices need more
AT = " at "  # "url_linear_q at 0.1": an agent and the price of a second


@dataclass
class _Paid:
    """What a walk has found and spent."""

    has: Callable[[str], bool]
    unique: set[str] = field(default_factory=set)
    pages: int = 0
    recorded: int = 0
    seconds: float = 0.0

    def note(self, visit: Visit, step: Step, now: float) -> None:
        self.pages += 1
        self.recorded += self.has(visit.link.url)
        self.seconds += visit.seconds
        if visit.verdict.relevant:
            self.unique.add(host(visit.link.url))


def is_recorded(url: str) -> bool:
    """Return whether a URL's host is recorded; the same on every machine."""
    digest = blake2b(host(url).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") < RECORDED_SHARE * 2**64


def priced_walk(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Walk with a price per second until time or pages are spent."""
    task = trial.task
    spec, _, price = trial.entry.agent.partition(AT)
    plan = Plan(topic=task.topic, seeds=task.seeds, world=world, judge=task.judge, agent=spec)
    opened = surveyed(plan.open())
    both = RecordedFirst(opened.world, opened.world, is_recorded)
    for_agent, for_frontier = np.random.default_rng(random_seed).spawn(2)
    inner: Agent = make("agent", spec, goal=opened.goal, rng=for_agent)
    agent = Priced(inner, both.seconds, float(price))
    frontier: Frontier = make(
        "frontier", agent.frontier, width=agent.features.width, rng=for_frontier
    )
    paid = _Paid(is_recorded)
    limits = Limits(pages=task.budget, seconds=SECONDS_A_STEP * task.budget)
    crawl = Crawl(Navigator(agent, frontier), both, limits, observer=paid.note)
    run_simulated(crawl.run(opened.seeds))
    return {
        "relevant": len(paid.unique),
        "pages": paid.pages,
        "recorded_share": paid.recorded / paid.pages,
        "simulated_seconds": paid.seconds,
        "rewards_an_hour": 3600 * len(paid.unique) / paid.seconds,
    }
