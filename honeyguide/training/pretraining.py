"""An agent trained on recorded or generated webs, one crawl after another, before it is needed."""

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
Report = Callable[[int, int, str], None]  # visits done, of how many, news


@runtime_checkable
class CheckpointedAgent(Protocol):
    """An agent whose training can be interrupted between two crawls and go on exactly."""

    def learnt(self) -> State:
        """All that training needs."""
        ...

    def load_learnt(self, state: State) -> None:
        """Go on from there."""
        ...

    def news(self) -> dict[str, float]:
        """What a training log shows."""
        ...


@dataclass(frozen=True, slots=True)
class Training:
    """What to learn from, how often, and where it is kept."""

    plans: tuple[Plan, ...]  # crawls to learn from, in this order, again and again
    rounds: int
    out: Path
    logs: Path | None = None

    @property
    def checkpoint(self) -> Path:
        """Beside the policy, until training is done."""
        return self.out.with_name(self.out.name + ".checkpoint")

    def run(self, resume: bool, report: Report) -> list[int]:
        """Train; the relevant pages that each crawl found."""
        learnt, found = self._begin(resume)
        self._check(learnt)
        lessons = [plan for _ in range(self.rounds) for plan in self.plans]
        total = sum(plan.budget for plan in lessons)
        agent: Agent | None = None
        with EventLog(self.logs or self.out.with_name(self.out.name + ".logs"), time.time()) as log:
            for number, plan in enumerate(lessons):
                done = sum(p.budget for p in lessons[:number])
                if number < len(found):
                    continue
                told = lambda visits, news, done=done: report(done + visits, total, news)  # noqa: E731
                agent, relevant = _lesson(plan, number, learnt, _Noted(log, done, told))
                learnt = agent.learnt()  # type: ignore[attr-defined]
                found.append(relevant)
                self._keep(learnt, found)
        if agent is None:
            agent = _trained_navigator(self.plans[0].open(), learnt).agent
        save_policy(self.out, self.plans[0].agent, agent)
        self.checkpoint.unlink(missing_ok=True)
        return found

    def _check(self, learnt: State | None) -> None:
        """Open every crawl and look at every place, before hours go into the first crawl."""
        for plan in self.plans:
            opened = plan.open()
            if opened.world.live:
                raise HoneyguideError("an agent is trained on recorded or generated webs only")
            _trained_navigator(opened, learnt)
        if self.out.parent.exists() or self.logs:  # where logs are beside it, they make the folder
            check_writable(self.out)

    def _asked(self) -> list[Any]:
        return [
            [p.topic, list(p.seeds), p.world, p.judge, p.encoder, p.agent, p.budget, p.random_seed]
            for p in self.plans
        ]

    def _keep(self, learnt: State, found: Sequence[int]) -> None:
        state = {"asked": self._asked(), "found": list(found), "learnt": learnt}
        save_state(self.checkpoint, state)

    def _begin(self, resume: bool) -> tuple[State | None, list[int]]:
        if not resume or not self.checkpoint.exists():
            return None, []
        try:
            kept = read_state(self.checkpoint)
            asked, found, learnt = kept["asked"], list(kept["found"]), kept["learnt"]
        except (OSError, DamagedError, ValueError, KeyError, TypeError):
            raise HoneyguideError(
                f"the checkpoint {self.checkpoint} is damaged: train again without --resume"
            ) from None
        if asked != self._asked():
            raise HoneyguideError(f"the checkpoint {self.checkpoint} is of another training")
        return learnt, found


def _lesson(plan: Plan, number: int, learnt: State | None, note: "_Noted") -> tuple[Agent, int]:
    """One crawl that goes on learning."""
    plan = replace(plan, random_seed=plan.random_seed + number)
    opened = plan.open(remember=True)
    navigator = _trained_navigator(opened, learnt)
    with Actors(plan, navigator.agent, plan.random_seed) as actors:

        def observe(visit: Visit, step: Step, now: float) -> None:
            note(navigator, visit, step)
            actors.keep_pace(navigator.memory.visits)

        outcome = run_simulated(opened.crawl(navigator, observe).run(opened.seeds))
    return navigator.agent, outcome.relevant


def _trained_navigator(opened: Assembled, learnt: State | None) -> Navigator:
    navigator = opened.navigator()
    if not isinstance(navigator.agent, CheckpointedAgent):
        raise HoneyguideError(f"agent {opened.plan.agent!r} cannot be trained before a crawl")
    if learnt is not None:
        try:
            navigator.agent.load_learnt(learnt)
        except (HoneyguideError, ValueError, KeyError, TypeError) as error:
            raise HoneyguideError(f"the checkpoint does not fit: {error}") from None
    return navigator


@dataclass(slots=True)
class _Noted:
    """Writes the log and tells how far training is."""

    log: EventLog
    before: int  # visits of earlier crawls
    told: Callable[[int, str], None]

    def __call__(self, navigator: Navigator, visit: Visit, step: Step) -> None:
        memory = navigator.memory
        if memory.visits % LOGGED_EVERY:
            return
        worth = navigator.agent.score(step.options)
        figures = {
            **navigator.agent.news(),  # type: ignore[attr-defined]
            "mean value": float(np.mean(worth)) if len(worth) else 0.0,
            "rewards": float(memory.relevant_found),
        }
        self.log.write(self.before + memory.visits, figures, time.time())
        self.told(memory.visits, f"{memory.relevant_found} relevant")
