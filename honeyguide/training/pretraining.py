"""Train an agent on recorded or generated webs, one crawl after another."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from honeyguide.assemble import Assembled
from honeyguide.contracts import Agent, State, Step, Visit
from honeyguide.disk.output_paths import check_writable
from honeyguide.disk.serialise import DamagedError, read_state, save_state
from honeyguide.engine.loop import run_simulated
from honeyguide.engine.navigator import Navigator
from honeyguide.errors import HoneyguideError
from honeyguide.learning.policies import save_policy
from honeyguide.plan import Plan
from honeyguide.training.actors import Actors
from honeyguide.training.tensorboard import EventLog

LOGGED_EVERY = 50  # visits
Report = Callable[[int, int, str], None]  # visits done, total, message


@runtime_checkable
class CheckpointedAgent(Protocol):
    """An agent whose training can be interrupted between two crawls and resumed exactly."""

    def training_state(self) -> State:
        """Return everything that training needs to resume."""
        ...

    def load_training_state(self, state: State) -> None:
        """Resume training from such a state."""
        ...

    def log_figures(self) -> dict[str, float]:
        """Return figures for the training log, by name."""
        ...


@dataclass(frozen=True, slots=True)
class Training:
    """The crawls to train on, and the files to write."""

    plans: tuple[Plan, ...]  # crawls of one round, in this order
    rounds: int
    out: Path  # the file of the trained policy
    logs: Path | None = None  # folder for TensorBoard; None: beside `out`

    @property
    def checkpoint(self) -> Path:
        """The checkpoint file, removed when training is done."""
        return self.out.with_name(self.out.name + ".checkpoint")

    def run(self, resume: bool, report: Report) -> list[int]:
        """Train and return the number of relevant pages that each crawl found."""
        learnt, found = self._begin(resume)
        self._check(learnt)
        crawls = [plan for _ in range(self.rounds) for plan in self.plans]
        total = sum(plan.budget for plan in crawls)
        agent: Agent | None = None
        with EventLog(self.logs or self.out.with_name(self.out.name + ".logs"), time.time()) as log:
            for number, plan in enumerate(crawls):
                done = sum(p.budget for p in crawls[:number])
                if number < len(found):
                    continue
                notify = lambda visits, news, done=done: report(done + visits, total, news)  # noqa: E731
                observer = _Observer(log, done, notify)
                agent, relevant = _train_once(plan, number, learnt, observer)
                learnt = agent.training_state()  # type: ignore[attr-defined]
                found.append(relevant)
                self._save(learnt, found)
        if agent is None:
            agent = _trained_navigator(self.plans[0].open(), learnt).agent
        save_policy(self.out, self.plans[0].agent, agent, self.plans[0].encoder)
        self.checkpoint.unlink(missing_ok=True)
        return found

    def _check(self, learnt: State | None) -> None:
        """Open every world and check that files can be written, before hours of training."""
        for plan in self.plans:
            opened = plan.open()
            if opened.world.live:
                raise HoneyguideError("an agent is trained on recorded or generated webs only")
            _trained_navigator(opened, learnt)
        if self.out.parent.exists() or self.logs:  # else the logs create the folder
            check_writable(self.out)

    def _task(self) -> list[Any]:
        return [
            [p.topic, list(p.seeds), p.world, p.judge, p.encoder, p.agent, p.budget, p.random_seed]
            for p in self.plans
        ]

    def _save(self, learnt: State, found: Sequence[int]) -> None:
        state = {"asked": self._task(), "found": list(found), "learnt": learnt}
        save_state(self.checkpoint, state)

    def _begin(self, resume: bool) -> tuple[State | None, list[int]]:
        if not resume or not self.checkpoint.exists():
            return None, []
        try:
            kept = read_state(self.checkpoint)
            task, found, learnt = kept["asked"], list(kept["found"]), kept["learnt"]
        except (OSError, DamagedError, ValueError, KeyError, TypeError):
            raise HoneyguideError(
                f"the checkpoint {self.checkpoint} is damaged: train again without --resume"
            ) from None
        if task != self._task():
            raise HoneyguideError(f"the checkpoint {self.checkpoint} is of another training")
        return learnt, found


def _train_once(
    plan: Plan, number: int, learnt: State | None, observer: "_Observer"
) -> tuple[Agent, int]:
    """Train in one crawl; return the agent and the number of relevant pages."""
    plan = replace(plan, random_seed=plan.random_seed + number)
    opened = plan.open(remember=True)
    navigator = _trained_navigator(opened, learnt)
    with Actors(plan, navigator.agent, plan.random_seed) as actors:

        def observe(visit: Visit, step: Step, now: float) -> None:
            observer(navigator, step)
            actors.keep_pace(navigator.memory.visits)

        outcome = run_simulated(opened.crawl(navigator, observe).run(opened.seeds))
    return navigator.agent, outcome.relevant


def _trained_navigator(opened: Assembled, learnt: State | None) -> Navigator:
    navigator = opened.navigator()
    if not isinstance(navigator.agent, CheckpointedAgent):
        raise HoneyguideError(f"agent {opened.plan.agent!r} cannot be trained before a crawl")
    if learnt is not None:
        try:
            navigator.agent.load_training_state(learnt)
        except (HoneyguideError, ValueError, KeyError, TypeError) as error:
            raise HoneyguideError(f"the checkpoint does not fit: {error}") from None
    return navigator


@dataclass(slots=True)
class _Observer:
    """Writes the training log and reports progress."""

    log: EventLog
    before: int  # visits of earlier crawls
    notify: Callable[[int, str], None]  # visits of this crawl, message

    def __call__(self, navigator: Navigator, step: Step) -> None:
        memory = navigator.memory
        if memory.visits % LOGGED_EVERY:
            return
        scores = navigator.agent.score(step.options)
        figures = {
            **navigator.agent.log_figures(),  # type: ignore[attr-defined]
            "mean value": float(np.mean(scores)) if len(scores) else 0.0,
            "rewards": float(memory.relevant_found),
        }
        self.log.write(self.before + memory.visits, figures, time.time())
        self.notify(memory.visits, f"{memory.relevant_found} relevant")
