"""Train the network of one agent with parallel crawls, one process each (Friar 2017, §3.8)."""

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

CHECKED_EVERY = 50  # steps between two checks whether to stop
PATIENCE = 120.0  # seconds to wait for an actor
DONE = 1 << 62  # step count of an actor that has finished


@runtime_checkable
class SharedAgent(Protocol):
    """An agent whose network several processes can train."""

    actors: int  # processes to start; 0: none

    def share(self) -> Any:
        """Move the network to shared memory and return a handle to it."""
        ...

    def join(self, shared: Any) -> None:
        """Train the network behind a handle that another process shared."""
        ...


@dataclass(frozen=True, slots=True)
class ActorReport:
    """The result of an actor's crawl."""

    steps: int
    rewards: frozenset[str]  # URLs of relevant pages
    visited: frozenset[str]  # URLs of visited links


class Actors:
    """A context in which parallel crawls of a plan's recorded or generated web train an agent.

    Each crawl starts from the plan's seeds, with a random seed derived from `random_seed`.
    """

    def __init__(self, plan: Plan, agent: Agent, random_seed: int = 0) -> None:
        self._plan = plan
        self._random_seed = random_seed
        self._agent = agent
        self.reports: list[ActorReport] = []

    def __enter__(self) -> "Actors":
        if not isinstance(self._agent, SharedAgent) or not self._agent.actors:
            self._processes: list[Any] = []
            return self
        import torch.multiprocessing  # noqa: PLC0415 an extra

        context = torch.multiprocessing.get_context("spawn")
        self._queue, self._stop, go = context.Queue(), context.Event(), context.Event()
        count, shared = self._agent.actors, self._agent.share()
        # one counter per actor: increments of a shared one without a lock would be lost
        self._steps = context.Array("q", count, lock=False)
        signals = _Signals(self._queue, go, self._stop, self._steps)
        self._processes = [
            context.Process(
                target=_act,
                args=(
                    self._plan,
                    self._random_seed + 100_000 * (number + 1),
                    shared,
                    number,
                    signals,
                ),
                daemon=True,
            )
            for number in range(count)
        ]
        for process in self._processes:
            process.start()
        for _ in self._processes:  # all are ready before any begins
            self._receive()
        go.set()
        return self

    def keep_pace(self, steps: int) -> None:
        """Wait until the running actors have taken so many steps each, on average."""
        while self._processes and self._is_behind(steps):
            if any(process.exitcode for process in self._processes):
                raise self._failure()
            time.sleep(0.002)

    def _is_behind(self, steps: int) -> bool:
        """Return whether the running actors have taken fewer steps on average."""
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
        self.reports = [self._receive() for _ in self._processes]
        for process in self._processes:
            process.join(PATIENCE)

    def _receive(self) -> Any:
        """Return the next message of an actor; raise an error when one has died."""
        for _ in range(int(PATIENCE)):
            try:
                return self._queue.get(timeout=1.0)
            except Empty:
                if any(process.exitcode for process in self._processes):
                    break
        raise self._failure()

    def _failure(self) -> HoneyguideError:
        """Terminate all actors and return the error to raise."""
        for process in self._processes:
            process.terminate()
        self._processes = []
        return HoneyguideError("an actor has failed: its error is shown above")

    @property
    def rewards(self) -> frozenset[str]:
        """URLs of relevant pages that any actor found."""
        return frozenset().union(*(report.rewards for report in self.reports))

    @property
    def visited(self) -> frozenset[str]:
        """URLs of links that any actor visited."""
        return frozenset().union(*(report.visited for report in self.reports))


class _Signals(NamedTuple):
    """Queue, events and counters shared by the actors and the parent process."""

    queue: Any
    go: Any
    stop: Any
    steps: Any  # taken by each actor


def _act(plan: Plan, random_seed: int, shared: Any, number: int, signals: _Signals) -> None:
    """Run one actor: crawl as the plan says, with its own random seed, and train the network."""
    opened = plan.open(remember=True)
    navigator = opened.navigator(replace(opened.plan, random_seed=random_seed))
    navigator.agent.join(shared)  # type: ignore[attr-defined]
    rewards: set[str] = set()
    visited: set[str] = set()

    def note(visit: Visit, step: Step, now: float) -> None:
        visited.add(visit.link.url)
        if visit.verdict.relevant:
            rewards.add(visit.page.url if visit.page else visit.link.url)
        signals.steps[number] = navigator.memory.visits
        if navigator.memory.visits % CHECKED_EVERY == 0 and not _is_wanted(signals):
            crawl.stop("the parent is done")

    crawl = opened.crawl(navigator, note)
    signals.queue.put(number)
    while not signals.go.wait(1.0):
        if not _is_wanted(signals):
            return
    outcome = run_simulated(crawl.run(opened.seeds))
    signals.steps[number] = DONE
    _send(signals, ActorReport(outcome.pages, frozenset(rewards), frozenset(visited)))


def _send(signals: _Signals, report: ActorReport) -> None:
    """Send a report if the parent is alive: a process cannot exit before its queue is read."""
    if _parent_is_alive():
        signals.queue.put(report)


def _is_wanted(signals: _Signals) -> bool:
    """Return whether the parent is alive and has not asked to stop."""
    return not signals.stop.is_set() and _parent_is_alive()


def _parent_is_alive() -> bool:
    parent = parent_process()
    return parent is not None and parent.is_alive()
