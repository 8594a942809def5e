"""The asyncio loop of every crawl; simulate() runs it on a clock that jumps."""

import asyncio
import math
import selectors
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

from honeyguide.contracts import Frontier, Link, Step, Visit, World
from honeyguide.engine.memory import Memory

T = TypeVar("T")
YIELDED_EVERY = 16  # visits between two turns of others, where nothing has to be waited for
MANY_LINKS = 200  # of a page: to absorb more would hold up the event loop,
LARGE_BODY = 1 << 20  # bytes: and so would to keep more
Observer = Callable[
    [Visit, Step, float], None
]  # called after each visit is absorbed, with the time


class Steering(Protocol):
    """What a driver needs of a navigator, or of one whose every event is kept."""

    @property
    def memory(self) -> Memory: ...

    @property
    def frontier(self) -> Frontier: ...

    @property
    def stopped(self) -> bool: ...

    def seed(self, links: Sequence[Link]) -> None: ...

    def choose(self, now: float) -> Link | None: ...

    def absorb(self, visit: Visit, now: float) -> Step: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """When a crawl has done enough; what is not set does not limit."""

    pages: float = math.inf  # fetched, failures included
    relevant: float = math.inf  # distinct relevant pages
    seconds: float = math.inf  # of this run
    bytes: float = math.inf  # of bodies, in this run
    barren: float = math.inf  # pages in a row without a new relevant one


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a crawl ended."""

    pages: int  # fetched, failures included
    relevant: int  # distinct relevant pages
    seconds: float  # of this run, on the crawl's own clock
    reason: str  # why it stopped


class Crawl:
    """Visits many at once; absorbs one at a time, when they end or, if recorded, in their order."""

    def __init__(
        self,
        navigator: Steering,
        world: World,
        limits: Limits,
        in_flight: int = 1,  # visits at once
        observer: Observer | None = None,
        begin: float = 0.0,  # what time it is when the crawl begins
    ) -> None:
        self.navigator = navigator
        self.world = world
        self.limits = limits
        self.in_flight = in_flight
        self.observer = observer
        self.begin = begin
        self._flying: set[asyncio.Task[None]] = set()
        self._in_order = not world.live  # so that nothing depends on who is how fast
        self._started = self._ended = 0  # visits
        self._early: dict[int, Visit | BaseException] = {}  # ended before their turn
        self._landed: asyncio.Queue[Visit | BaseException | None] = asyncio.Queue()
        self._absorbing: asyncio.Future[Step] | None = None  # in a thread
        self._bytes = 0
        self._stopped = ""
        self._is_paused = False
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self, seeds: Sequence[Link]) -> Outcome:
        """Crawl from the seeds until a limit is reached or nothing is left to do."""
        self._loop = asyncio.get_running_loop()
        self._loop_begin = self._loop.time()
        try:
            self.navigator.seed(seeds)
            await self._one_by_one()
            while not (reason := self._take_off()):
                await self._land()
                await self._one_by_one()
        finally:
            await self._cancel()
        memory = self.navigator.memory
        return Outcome(memory.visits, memory.relevant_found, self._now() - self.begin, reason)

    def stop(self, reason: str) -> None:
        """End soon: what is in flight stays leased."""
        self._stopped = reason
        self._landed.put_nowait(None)

    def pause(self) -> None:
        """Start no visit until `unpause`; visits in flight end and are absorbed."""
        self._is_paused = True

    def unpause(self) -> None:
        """Start visits again."""
        self._is_paused = False
        self._landed.put_nowait(None)

    def call(self, order: Callable[["Crawl"], None]) -> None:
        """Give an order from another thread: it is carried out between two decisions."""
        if self._loop is None:
            order(self)
            return
        with suppress(RuntimeError):  # the loop is closed: the crawl has ended
            self._loop.call_soon_threadsafe(order, self)

    def _now(self) -> float:
        return self.begin + asyncio.get_running_loop().time() - self._loop_begin

    async def _one_by_one(self) -> None:
        """Visit without tasks while no two visits are ever under way and nothing is waited for."""
        alone = self.in_flight == 1 and self._in_order and self.limits.seconds == math.inf
        while alone and not self._flying and self._landed.empty() and not self._enough():
            if not self._may_start() or (link := self.navigator.choose(self._now())) is None:
                return
            visit = await self.world.visit(link)
            now = self._now()
            self._note(visit, self.navigator.absorb(visit, now), now)
            if self.navigator.memory.visits % YIELDED_EVERY == 0:
                await asyncio.sleep(0)

    def _take_off(self) -> str:
        """Start as many visits as may be; say why there is nothing left to wait for."""
        if reason := self._enough():
            return reason
        while self._may_start() and (link := self.navigator.choose(self._now())) is not None:
            self._flying.add(asyncio.create_task(self._visit(link, self._started)))
            self._started += 1
        if self._flying or not self._landed.empty() or self._is_paused:
            return ""
        if not self._may_start():
            return "budget spent"
        if self.navigator.stopped:
            return "nothing left is worth a fetch"
        return "no link left" if self.navigator.frontier.wake(self._now()) is None else ""

    def _enough(self) -> str:
        limits, memory = self.limits, self.navigator.memory
        if self._stopped:
            return self._stopped
        if memory.relevant_found >= limits.relevant:
            return "enough relevant pages"
        if self._now() - self.begin >= limits.seconds:
            return "time spent"
        if self._bytes >= limits.bytes:
            return "bytes spent"
        return "nothing relevant any more" if memory.barren >= limits.barren else ""

    def _may_start(self) -> bool:
        under_way = len(self._flying) + len(self._early) + self._landed.qsize()
        started = self.navigator.memory.visits + under_way
        has_room = under_way < self.in_flight and started < self.limits.pages
        return has_room and not self._is_paused

    async def _visit(self, link: Link, turn: int) -> None:
        landed: Visit | BaseException
        try:
            landed = await self.world.visit(link)
        except Exception as bug:  # carried to the one place that may raise it
            landed = bug
        finally:
            self._flying.discard(cast(asyncio.Task[None], asyncio.current_task()))
        if self._in_order:
            self._land_in_order(landed, turn)
        else:
            self._landed.put_nowait(landed)

    def _land_in_order(self, landed: Visit | BaseException, turn: int) -> None:
        """Let visits land as they took off, however soon they ended."""
        self._early[turn] = landed
        while self._ended in self._early:
            self._landed.put_nowait(self._early.pop(self._ended))
            self._ended += 1

    async def _land(self) -> None:
        """Wait for the next visit to end, or for something to be due, and absorb what came."""
        timer = self._set_timer()
        landed = await self._landed.get()
        if timer is not None:
            timer.cancel()
        if isinstance(landed, BaseException):
            raise landed
        if landed is not None:
            now = self._now()
            self._note(landed, await self._absorb(landed, now), now)

    def _set_timer(self) -> asyncio.TimerHandle | None:
        """Wake up when a host is ready or the time is spent."""
        wake = self.begin + self.limits.seconds
        if self._may_start() and not self.navigator.stopped:
            ready = self.navigator.frontier.wake(self._now())
            wake = wake if ready is None else min(wake, ready)
        if wake == math.inf:
            return None
        loop = asyncio.get_running_loop()
        return loop.call_at(wake - self.begin + self._loop_begin, self._landed.put_nowait, None)

    async def _absorb(self, visit: Visit, now: float) -> Step:
        """Absorb a visit; a heavy one in a thread, while connections are served here.

        Nothing else steers meanwhile: whoever does waits for this.
        """
        if not self.world.live or not _is_heavy(visit):
            return self.navigator.absorb(visit, now)
        loop = asyncio.get_running_loop()
        self._absorbing = loop.run_in_executor(None, self.navigator.absorb, visit, now)
        try:
            return await asyncio.shield(self._absorbing)
        finally:
            if self._absorbing.done():
                self._absorbing = None

    def _note(self, visit: Visit, step: Step, now: float) -> None:
        self._bytes += len(visit.response.body) if visit.response else 0
        if self.observer is not None:
            self.observer(visit, step, now)

    async def _cancel(self) -> None:
        for task in self._flying:
            task.cancel()
        last = [] if self._absorbing is None else [self._absorbing]
        await asyncio.gather(*self._flying, *last, return_exceptions=True)


def _is_heavy(visit: Visit) -> bool:
    """Whether a visit brought many links, or a large body, which is packed and written."""
    links = 0 if visit.page is None else len(visit.page.links)
    body = 0 if visit.response is None else len(visit.response.body)
    return links > MANY_LINKS or body > LARGE_BODY


def simulate(
    navigator: Steering,
    world: World,
    seeds: Sequence[Link],
    budget: int,
    in_flight: int = 1,
    observer: Observer | None = None,
) -> Outcome:
    """Crawl a recorded or generated web without waiting for its delays."""
    crawl = Crawl(navigator, world, Limits(pages=budget), in_flight, observer)
    return run_jumping(crawl.run(seeds))


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
