"""One crawl of field-v1: an agent from one start page, with prior variances slightly changed."""

import functools
import re
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.harness.experiment import Task, Trial
from honeyguide.assemble import Assembled
from honeyguide.contracts import Judge, Link, Step, Visit, World
from honeyguide.engine.loop import Crawl, run_simulated
from honeyguide.plan import USUAL_JUDGE, Plan
from honeyguide.registry import make

RIDGES = (0.98, 1.02)  # prior variances are divided by them
BUDGETS = (500, 2000)
JUDGED = "judge"  # in the name of a part: its agents see verdicts of the default judge
ENCODER = "wordllama:cache_megabytes=512"  # room for the link texts of all crawls of a task


class Revisited:
    """A world that visits each page once, however many crawls do."""

    live = False

    def __init__(self, world: World) -> None:
        self._world, self._visits = world, dict[str, Visit]()

    async def visit(self, link: Link) -> Visit:
        """The visit of an earlier crawl, or a first one."""
        known = self._visits.get(link.url)
        if known is None:
            known = self._visits[link.url] = await self._world.visit(link)
        return replace(known, link=link)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)


def start_and_ridge(trial: Trial) -> tuple[int, float]:
    """The number of the start page and the ridge of a perturbation."""
    ridge, start = divmod(trial.number, len(trial.task.seeds))
    return start, RIDGES[ridge % len(RIDGES)]


def crawl(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Crawl, and count pages that are relevant by their labels, whatever the agent was told."""
    start, ridge = start_and_ridge(trial)
    judge = USUAL_JUDGE if JUDGED in trial.part else trial.task.judge
    opened, truth = _open(trial.task, judge, world)
    agent = trial.entry.agent
    if "guide" in agent:
        agent += ("," if re.search(r":\w+=", agent) else ":") + f"ridge={ridge}"
    plan = replace(opened.plan, agent=agent, budget=trial.task.budget, random_seed=random_seed)
    navigator = opened.navigator(plan)
    hits, told, seen = list[int](), list[int](), set[str]()

    def note(visit: Visit, step: Step, now: float) -> None:
        told.append(navigator.memory.relevant_found)
        if visit.page is not None and visit.page.url not in seen:
            seen.add(visit.page.url)
            if truth(visit.page).relevant:
                hits.append(len(told))

    run = Crawl(navigator, opened.world, plan.limits, observer=note)
    outcome = run_simulated(run.run([opened.seeds[start]]))
    return _figures(hits, told, trial.task.budget) | {"ended": outcome.reason}


def _figures(hits: list[int], told: list[int], budget: int) -> dict[str, Any]:
    counts = np.cumsum(np.bincount(hits, minlength=budget + 1)[1:])
    some = np.unique(np.linspace(1, budget, 100).astype(int)) - 1
    within = {f"relevant_{pages}": int(counts[min(pages, budget) - 1]) for pages in BUDGETS}
    return within | {
        "relevant": int(counts[-1]),
        "told_relevant": told[-1] if told else 0,  # by the judge that the agent had
        "pages": len(told),
        "first": hits[0] if hits else None,
        "curve": counts[some].tolist(),
        "hits": hits,
    }


@functools.lru_cache(maxsize=1)  # trials come task by task
def _open(task: Task, judge: str, world: str) -> tuple[Assembled, Judge]:
    plan = Plan(topic=task.topic, seeds=task.seeds, world=world, judge=judge, encoder=ENCODER)
    opened = plan.open(remember=True)
    by_label: Judge = make("judge", task.judge)
    return replace(opened, world=Revisited(opened.world)), by_label
