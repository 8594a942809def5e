"""The asyncio driver of every crawl; simulate() runs it on a clock that jumps."""

import asyncio
import selectors
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from honeyguide.contracts import Link, Step, Visit, World
from honeyguide.navigator import Navigator

T = TypeVar("T")
Observer = Callable[
    [Visit, Step, float], None
]  # called after each visit is absorbed, with the time


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a crawl ended."""

    pages: int  # fetched, failures included
    relevant: int  # distinct relevant pages
    seconds: float  # on the crawl's own clock
    reason: str  # why it stopped


class Crawl:
    """Visits many at once; absorbs one at a time, in the order in which they end."""

    def __init__(
        self,
        navigator: Navigator,
        world: World,
        budget: int,  # pages to fetch
        in_flight: int = 1,  # visits at once
        observer: Observer | None = None,
    ) -> None:
        self.navigator = navigator
        self.world = world
        self.budget = budget
        self.in_flight = in_flight
        self.observer = observer
        self._started = 0
        self._flying: set[asyncio.Task[None]] = set()
        self._landed: asyncio.Queue[Visit | BaseException | None] = asyncio.Queue()

    async def run(self, seeds: Sequence[Link]) -> Outcome:
        """Crawl from the seeds until the budget is spent or nothing is left to do."""
        clock = asyncio.get_running_loop().time
        begin = clock()
        self.navigator.seed(seeds)
        try:
            while not (reason := self._take_off(clock())):
                await self._land()
        finally:
            await self._cancel()
        memory = self.navigator.memory
        return Outcome(memory.visits, memory.relevant_found, clock() - begin, reason)

    def _take_off(self, now: float) -> str:
        """Start as many visits as may be; say why there is nothing left to wait for."""
        while self._started < self.budget and len(self._flying) < self.in_flight:
            link = self.navigator.choose(now)
            if link is None:
                break
            self._started += 1
            task = asyncio.create_task(self._visit(link))
            self._flying.add(task)
        if self._flying:
            return ""
        if self._started >= self.budget:
            return "budget spent"
        if self.navigator.stopped:
            return "nothing left is worth a fetch"
        return "no link left" if self.navigator.frontier.wake(now) is None else ""

    async def _visit(self, link: Link) -> None:
        try:
            self._landed.put_nowait(await self.world.visit(link))
        except Exception as bug:  # carried to the one place that may raise it
            self._landed.put_nowait(bug)
        finally:
            task = asyncio.current_task()
            if task is not None:
                self._flying.discard(task)

    async def _land(self) -> None:
        """Wait for the next visit to end, or for a host to be ready, and absorb what came."""
        loop = asyncio.get_running_loop()
        wake = None
        if self._started < self.budget and len(self._flying) < self.in_flight:
            wake = self.navigator.frontier.wake(loop.time())
        timer = None if wake is None else loop.call_at(wake, self._landed.put_nowait, None)
        landed = await self._landed.get()
        if timer is not None:
            timer.cancel()
        if isinstance(landed, BaseException):
            raise landed
        if landed is not None:
            step = self.navigator.absorb(landed, loop.time())
            if self.observer is not None:
                self.observer(landed, step, loop.time())

    async def _cancel(self) -> None:
        for task in self._flying:
            task.cancel()
        await asyncio.gather(*self._flying, return_exceptions=True)


def simulate(
    navigator: Navigator,
    world: World,
    seeds: Sequence[Link],
    budget: int,
    in_flight: int = 1,
    observer: Observer | None = None,
) -> Outcome:
    """Crawl a recorded or generated web without waiting for its delays."""
    return run_jumping(Crawl(navigator, world, budget, in_flight, observer).run(seeds))


def run_jumping(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a clock that jumps to the next event."""
    if asyncio._get_running_loop() is None:
        with asyncio.Runner(loop_factory=_JumpingLoop) as runner:
            return runner.run(work)
    answer: list[T] = []  # a notebook runs a loop of its own: use another thread
    thread = threading.Thread(target=lambda: answer.append(run_jumping(work)))
    thread.start()
    thread.join()
    return answer[0]


class _JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only when nothing is left to do."""

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        return self._now

    def jump(self, seconds: float) -> None:
        self._now += seconds


class _JumpingSelector(selectors.SelectSelector):
    """Never waits: lets the loop's clock jump instead."""

    def __init__(self, loop: _JumpingLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise RuntimeError("a simulated crawl waits for something that never comes")
            self._loop.jump(timeout)
        return ready
