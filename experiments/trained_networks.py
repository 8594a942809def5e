"""Train networks before they are measured: on the same task, or on other topics."""

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.harness.experiment import Entry, Task, Trial
from experiments.harness.ratios import Interval, bootstrap
from experiments.harness.report_page import Page
from experiments.harness.results import Results
from experiments.harness.trials import Found, crawl_once, points
from honeyguide.assemble import Assembled
from honeyguide.contracts import Agent, State, Trainable
from honeyguide.plan import Plan

REHEARSED = "experiments.trained_networks:rehearsed"
AFTER_OTHERS = "experiments.trained_networks:after_others"
FROM_NOTHING = "dqn from nothing"
DQN = (Entry(name="dqn", agent="dqn"),)
ABLATION = (
    Entry(name="dqn without dueling", agent="dqn:dueling=false"),
    Entry(name="dqn without double", agent="dqn:double=false"),
    Entry(name="dqn without replay", agent="dqn:replay=false"),
    Entry(name="dqn without target", agent="dqn:target=false"),
)
LESSON = 500  # pages of a crawl for training
ROUNDS = 2  # how often each task is crawled for training


def rehearsed(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Train on the task, then crawl it again without learning (Pertejo 2021, §4.4)."""
    opened = opened_task(trial.task, world, trial.entry.encoder, trial.entry.judge(trial.task))
    learnt, before = _crawl(opened, trial.entry.agent, random_seed)
    assert isinstance(learnt, Trainable)  # noqa: S101 for the type checker
    _, found = _crawl(opened, in_test(trial.entry.agent), random_seed + 1, learnt.policy())
    return _said(found) | {"training": int(before.curve[-1])}


def in_test(agent: str) -> str:
    """Return the settings of a trained network in test (Pertejo 2021, §4.3)."""
    return f"{agent},epsilon=0.1,learns=false"


def after_others(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Train on other topics of the same web, then crawl while learning."""
    policy = None
    if trial.entry.name != FROM_NOTHING:
        policy = taught(trial.entry.agent, lessons(trial.task), world)
    opened = opened_task(trial.task, world, trial.entry.encoder, trial.entry.judge(trial.task))
    return _said(_crawl(opened, trial.entry.agent, random_seed, policy)[1])


def lessons(task: Task) -> tuple[Task, ...]:
    """List the development tasks on the same web, except the task itself."""
    from experiments.honeyguide_v1 import DEVELOPMENT  # noqa: PLC0415 it imports this

    return tuple(
        replace(lesson, budget=min(LESSON, task.budget))
        for lesson in DEVELOPMENT
        if lesson.web == task.web and lesson.name != task.name
    )


@functools.lru_cache(maxsize=16)
def taught(agent: str, tasks: tuple[Task, ...], world: str) -> State:
    """Return the policy of an agent that has crawled these tasks ROUNDS times in turn."""
    policy: State | None = None
    for number, task in enumerate(tasks * ROUNDS):
        opened = opened_task(task, world, "wordllama", task.judge)
        trained, _ = _crawl(opened, agent, number, policy)
        assert isinstance(trained, Trainable)  # noqa: S101 for the type checker
        policy = trained.policy()
    assert policy is not None  # noqa: S101 for the type checker
    return policy


def _crawl(
    opened: Assembled, agent: str, random_seed: int, policy: State | None = None
) -> tuple[Agent, Found]:
    plan = replace(opened.plan, agent=agent, random_seed=random_seed)
    navigator = opened.navigator(plan)
    if policy is not None and isinstance(navigator.agent, Trainable):
        navigator.agent.load_policy(policy)
    return navigator.agent, crawl_once(opened, navigator, plan.budget)


@functools.lru_cache(maxsize=2)
def opened_task(task: Task, world: str, encoder: str, judge: str) -> Assembled:
    """Open a web once for all agents of a task."""
    return Plan(
        topic=task.topic,
        seeds=task.seeds,
        world=world,
        judge=judge,
        encoder=encoder,
        budget=task.budget,
    ).open(remember=True)


def _said(found: Found) -> dict[str, Any]:
    kept = np.array(points(len(found.curve))) - 1
    return {
        "relevant": int(found.curve[-1]),
        "area": round(float(found.curve.mean()), 3),
        "hosts": len(found.hosts),
        "pages": found.pages,
        "curve": found.curve[kept].tolist(),
    }


# --------------------------------------------------------------------------- dqn in honeyguide-v1


def dqn_trials(tasks: Sequence[Task], ablated: Sequence[Task], runs: int) -> list[Trial]:
    """List trials of dqn on every task, and of its variants on some."""
    trials: list[Trial] = []
    for task in tasks:
        more = [Entry(name=FROM_NOTHING, agent="dqn"), *ABLATION] if task in ablated else []
        for entry in (*DQN, *more):
            count = runs if entry in DQN else 1
            trials += [
                Trial(part="dqn", task=task, entry=entry, number=n, function=AFTER_OTHERS)
                for n in range(count)
            ]
    return trials


def report_dqn(
    results: Results, page: Page, parts: Sequence[str], rivals: Sequence[str]
) -> dict[str, Any]:
    """Write who finds most on each task, and what each component adds."""
    page.heading("dqn, trained on other topics")
    page.text(
        "The network of (page, link) was trained on the development topics of the same web "
        f"({ROUNDS} times each), and goes on learning. The others' figures are those of the parts "
        "above."
    )
    rows, pairs = [], {rival: list[tuple[list[float], list[float]]]() for rival in rivals}
    for task in results.tasks("dqn"):
        own = results.found("dqn", task, "dqn")
        theirs = {rival: _elsewhere(results, parts, task, rival) for rival in rivals}
        means = {"dqn": float(np.mean(own)) if own else np.nan} | {
            rival: float(np.mean(found)) for rival, found in theirs.items() if found
        }
        for rival, found in theirs.items():
            if found and own:
                pairs[rival].append((own, found))
        best = max(means, key=lambda name: means[name])
        rows.append([task, *(means.get(name) for name in ("dqn", *rivals)), best])
    page.table(["task", "dqn", *rivals, "most found by"], rows)
    against: dict[str, Interval] = {
        rival: bootstrap(some, np.random.default_rng(0)) for rival, some in pairs.items() if some
    }
    if against:
        page.table(["dqn against", "ratio (95 % interval)"], [[r, i] for r, i in against.items()])
    _report_ablation(results, page)
    return {f"dqn/{rival}": interval for rival, interval in against.items()}


def _elsewhere(results: Results, parts: Sequence[str], task: str, entry: str) -> list[float]:
    found = (results.found(part, task, entry) for part in parts)
    return next((runs for runs in found if runs), [])


def _report_ablation(results: Results, page: Page) -> None:
    names = [FROM_NOTHING, *(entry.name for entry in ABLATION)]
    there = [t for t in results.tasks("dqn") if any(results.runs("dqn", t, n) for n in names)]
    if there:
        page.text("One run each, with lessons taken the same way:")
        page.table(
            ["task", "dqn", *names],
            [[t, *(results.mean("dqn", t, n) for n in ("dqn", *names))] for t in there],
        )
