"""The price of a step as a learnt reward, by the measured seconds of its host (§4.2.3)."""

import asyncio
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from experiments.friar2017_prices import AT
from experiments.harness.experiment import Trial
from experiments.harness.report_page import Page
from experiments.harness.results import Results
from honeyguide.agents.priced import Priced
from honeyguide.bench.report import spread
from honeyguide.contracts import Agent, Frontier, Link, Step, Truth, Visit, World
from honeyguide.engine.loop import Crawl, Limits, run_simulated
from honeyguide.engine.navigator import Navigator
from honeyguide.plan import Plan
from honeyguide.registry import make
from honeyguide.urls.spelling import host

PART, FUNCTION = "seconds", "experiments.friar2017_seconds:timed_walk"
FAST, SLOW, SLOW_SHARE = 0.2, 3.0, 0.5  # seconds of a page on average, and the share of slow hosts
NOISE = 0.3  # standard deviation of the logarithm of a page's seconds
MEAN_SECONDS = 0.8  # allowed per page of the budget: walks that ignore seconds need more


def host_seconds(name: str) -> float:
    """The usual seconds of a host's pages: the same on every machine."""
    return SLOW if _draw(name) < SLOW_SHARE else FAST


def page_seconds(url: str) -> float:
    """The seconds of a page: its host's, more or less."""
    first, second = _draw(f"1 {url}"), _draw(f"2 {url}")
    normal = np.sqrt(-2 * np.log(1 - first)) * np.cos(2 * np.pi * second)
    return float(host_seconds(host(url)) * np.exp(NOISE * normal))


def _draw(text: str) -> float:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") / 2**64


@dataclass
class TimedHosts:
    """A world whose hosts differ in how long their pages take."""

    world: World
    live = False

    async def visit(self, link: Link) -> Visit:
        """Visit a page; the simulated clock advances by its seconds."""
        seconds = page_seconds(link.url)
        visit = await self.world.visit(link)
        await asyncio.sleep(seconds)
        return replace(visit, seconds=seconds)

    def find(self, name: str) -> Link:
        """The link to a seed."""
        return self.world.find(name)

    def labels(self) -> dict[str, int]:
        """The labels of the world."""
        return self.world.labels()

    def truth(self) -> Truth:
        """The truth about the world."""
        return self.world.truth()

    async def close(self) -> None:
        """Close the world."""
        await self.world.close()


def timed_walk(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Walk until the seconds or the pages are spent."""
    task = trial.task
    spec, _, known = trial.entry.agent.partition(AT)
    plan = Plan(topic=task.topic, seeds=task.seeds, world=world, judge=task.judge, agent=spec)
    opened = plan.open()
    for_agent, for_frontier = np.random.default_rng(random_seed).spawn(2)
    agent: Agent = make("agent", spec, goal=opened.goal, rng=for_agent)
    if known:
        agent = Priced(agent, lambda url: host_seconds(host(url)), float(known), SLOW)
    width = agent.features.width
    frontier: Frontier = make("frontier", agent.frontier, width=width, rng=for_frontier)
    pages, seconds, unique = [], [], set()

    def note(visit: Visit, step: Step, now: float) -> None:
        pages.append(host_seconds(host(visit.link.url)) == FAST)
        seconds.append(visit.seconds)
        if visit.verdict.relevant:
            unique.add(host(visit.link.url))

    limits = Limits(pages=task.budget, seconds=MEAN_SECONDS * task.budget)
    crawl = Crawl(Navigator(agent, frontier), TimedHosts(opened.world), limits, observer=note)
    run_simulated(crawl.run(opened.seeds))
    return {
        "relevant": len(unique),
        "pages": len(pages),
        "fast_share": float(np.mean(pages)),
        "simulated_seconds": float(np.sum(seconds)),
        "rewards_an_hour": 3600 * len(unique) / float(np.sum(seconds)),
    }


def seconds_table(results: Results, page: Page) -> dict[str, Any]:
    """Write what a learnt price of measured seconds brings."""
    headline: dict[str, Any] = {}
    for task in results.tasks(PART):
        names = results.entries(PART, task)
        page.heading("Section 4.2.3: seconds that are measured, and learnt as negative rewards")
        page.text(
            f"Half of the hosts take {FAST:g} s a page, the others {SLOW:g} s, more or less. No "
            "agent is told: each step's reward is lowered by a price for the mean seconds of the "
            "visits to its host so far (`second_price`), and the linear agent learns that with all "
            'else. "Known" is the wrapper of the section before, which lowers the score of a link '
            "by the price of its host's true seconds: an upper bound. All walk until the same "
            "simulated seconds or the same pages are spent."
        )
        page.table(
            ["", "pages", "on fast hosts, %", "unique rewards", "sd", "an hour", "runs"],
            [_row(results, task, name) for name in names],
        )
        free = results.mean(PART, task, names[0], "rewards_an_hour")
        headline |= {
            f"{name}, rewards an hour / free": results.mean(PART, task, name, "rewards_an_hour")
            / free
            for name in names[1:]
            if free
        }
    return headline


def _row(results: Results, task: str, name: str) -> list[object]:
    found = results.found(PART, task, name)
    return [
        name,
        results.mean(PART, task, name, "pages"),
        100 * results.mean(PART, task, name, "fast_share"),
        results.mean(PART, task, name),
        spread(found),
        results.mean(PART, task, name, "rewards_an_hour"),
        len(found),
    ]
