"""Several crawls in processes of their own that train one agent's network (Friar 2017, §3.8)."""

import time
from dataclasses import dataclass, replace
from multiprocessing import parent_process
from queue import Empty
from types import TracebackType
from typing import Any, NamedTuple, Protocol, runtime_checkable

from honeyguide.contracts import Agent, Step, Visit
from honeyguide.engine.loop import run_simulated
from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan

LOOKED_AFTER = 50  # steps between two looks at whether to stop
PATIENCE = 120.0  # seconds for an actor to end
DONE = 1 << 62  # steps of an actor that keeps nobody waiting any more


@runtime_checkable
class SharedAgent(Protocol):
    """An agent that others can train."""

    actors: int

    def share(self) -> Any:
        """Let others train it; what they need for that."""
        ...

    def join(self, shared: Any) -> None:
        """Become one of those who train."""
        ...


@dataclass(frozen=True, slots=True)
class ActorReport:
    """What an actor did."""

    steps: int
    rewards: frozenset[str]  # their URLs
    visited: frozenset[str]  # URLs


class Actors:
    """While it lasts, crawls like a plan's train an agent; on a recorded or generated web.

    They begin where the plan does; `dice` decides on the rest.
    """

    def __init__(self, plan: Plan, agent: Agent, dice: int = 0) -> None:
        self._plan = plan
        self._dice = dice
        self._agent = agent
        self.told: list[ActorReport] = []

    def __enter__(self) -> "Actors":
        if not isinstance(self._agent, SharedAgent) or not self._agent.actors:
            self._processes: list[Any] = []
            return self
        import torch.multiprocessing  # noqa: PLC0415 an extra

        context = torch.multiprocessing.get_context("spawn")
        self._queue, self._stop, go = context.Queue(), context.Event(), context.Event()
        count, shared = self._agent.actors, self._agent.share()
        # one number each: actors that count together, without waiting, lose steps
        self._steps = context.Array("q", count, lock=False)
        signals = _Signals(self._queue, go, self._stop, self._steps)
        self._processes = [
            context.Process(
                target=_act,
                args=(self._plan, self._dice + 100_000 * (number + 1), shared, number, signals),
                daemon=True,
            )
            for number in range(count)
        ]
        for process in self._processes:
            process.start()
        for _ in self._processes:  # nobody begins before all can
            self._hear()
        go.set()
        return self

    def keep_pace(self, steps: int) -> None:
        """Wait until the actors that still act have taken as many steps each, on average."""
        while self._processes and self._is_behind(steps):
            if any(process.exitcode for process in self._processes):
                raise self._failure()
            time.sleep(0.002)

    def _is_behind(self, steps: int) -> bool:
        """Whether those that still act have taken fewer; one that ended says nothing of others."""
        acting: list[int] = [taken for taken in self._steps if taken != DONE]
        return sum(acting) < steps * len(acting)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._processes:
            return
        self._stop.set()
        self.told = [self._hear() for _ in self._processes]
        for process in self._processes:
            process.join(PATIENCE)

    def _hear(self) -> Any:
        """The next word from an actor; one that died says nothing."""
        for _ in range(int(PATIENCE)):
            try:
                return self._queue.get(timeout=1.0)
            except Empty:
                if any(process.exitcode for process in self._processes):
                    break
        raise self._failure()

    def _failure(self) -> HoneyguideError:
        """Nobody goes on when one has failed."""
        for process in self._processes:
            process.terminate()
        self._processes = []
        return HoneyguideError("an actor has failed: what it said stands above")

    @property
    def rewards(self) -> frozenset[str]:
        """URLs of the rewards of all actors together."""
        return frozenset().union(*(told.rewards for told in self.told))

    @property
    def visited(self) -> frozenset[str]:
        """URLs of the pages that any of them has seen."""
        return frozenset().union(*(told.visited for told in self.told))


class _Signals(NamedTuple):
    """What actors and the one they train say to each other."""

    queue: Any
    go: Any
    stop: Any
    steps: Any  # of each actor


def _act(plan: Plan, dice: int, shared: Any, number: int, signals: _Signals) -> None:
    """One actor: the plan's crawl with dice of its own, learning for all."""
    opened = plan.open(remember=True)
    navigator = opened.navigator(replace(opened.plan, random_seed=dice))
    navigator.agent.join(shared)  # type: ignore[attr-defined]
    rewards: set[str] = set()
    visited: set[str] = set()

    def note(visit: Visit, step: Step, now: float) -> None:
        visited.add(visit.link.url)
        if visit.verdict.relevant:
            rewards.add(visit.page.url if visit.page else visit.link.url)
        signals.steps[number] = navigator.memory.visits
        if navigator.memory.visits % LOOKED_AFTER == 0 and not _is_wanted(signals):
            crawl.stop("the others are done")

    crawl = opened.crawl(navigator, note)
    signals.queue.put(number)
    while not signals.go.wait(1.0):
        if not _is_wanted(signals):
            return
    outcome = run_simulated(crawl.run(opened.seeds))
    signals.steps[number] = DONE
    _tell(signals, ActorReport(outcome.pages, frozenset(rewards), frozenset(visited)))


def _tell(signals: _Signals, told: ActorReport) -> None:
    """Say what was found, unless nobody hears it: a process ends only when all it said is read."""
    if _is_heard():
        signals.queue.put(told)


def _is_wanted(signals: _Signals) -> bool:
    """Whether the one that is trained goes on, and is still there."""
    return not signals.stop.is_set() and _is_heard()


def _is_heard() -> bool:
    parent = parent_process()
    return parent is not None and parent.is_alive()
