"""The asyncio loop that every crawl runs; `simulate` runs it on a simulated clock."""

import asyncio
import math
import selectors
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

from honeyguide.contracts import Frontier, Link, Step, Verdict, Visit, World
from honeyguide.engine.memory import Memory

T = TypeVar("T")
YIELD_EVERY = 16  # visits after which other tasks run, where no visit ever waits
MANY_LINKS = 200  # of a page; absorbing more blocks the event loop for too long
PAUSE = 0.02  # seconds between two looks for orders, while a simulated crawl is paused
LARGE_BODY = 1 << 20  # bytes; writing more blocks it, too
Observer = Callable[[Visit, Step, float], None]  # called after each absorbed visit; float: seconds


class Steering(Protocol):
    """What a crawl needs of a navigator; `storage.RecordingNavigator` offers the same methods."""

    @property
    def memory(self) -> Memory: ...

    @property
    def frontier(self) -> Frontier: ...

    @property
    def stopped(self) -> bool: ...

    @property
    def revises_next(self) -> bool: ...

    def seed(self, links: Sequence[Link]) -> None: ...

    def choose(self, now: float) -> Link | None: ...

    def absorb(self, visit: Visit, now: float) -> Step: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits at which a crawl stops; infinite by default."""

    pages: float = math.inf  # fetched, failures included
    relevant: float = math.inf  # distinct relevant pages
    seconds: float = math.inf  # of this run
    bytes: float = math.inf  # of bodies, in this run
    barren: float = math.inf  # pages in a row without a new relevant one


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a crawl: its counts, and why it stopped."""

    pages: int  # fetched, failures included
    relevant: int  # distinct relevant pages
    seconds: float  # of this run, on the crawl's own clock
    reason: str  # why it stopped


class Crawl:
    """Runs up to `in_flight` visits at once and absorbs them one at a time.

    Live visits are absorbed as they end, others in the order in which they were started.
    """

    def __init__(
        self,
        navigator: Steering,
        world: World,
        limits: Limits,
        in_flight: int = 1,  # visits at once
        observer: Observer | None = None,
        begin: float = 0.0,  # seconds on the crawl's own clock when it starts
    ) -> None:
        self.navigator = navigator
        self.world = world
        self.limits = limits
        self.in_flight = in_flight
        self.observer = observer
        self.begin = begin
        self._running: dict[asyncio.Task[None], Link] = {}
        self._in_order = not world.live  # so that results do not depend on timing
        self._started = self._ended = 0  # numbers of visits
        self._out_of_order: dict[int, Visit | BaseException] = {}  # by number: ended too early
        self._finished: asyncio.Queue[Visit | BaseException | None] = asyncio.Queue()
        self._absorbing: asyncio.Future[Step] | None = None  # a heavy visit, in a thread
        self._bytes = 0
        self._stopped = ""
        self._finishing = ""  # the reason why no more visits are started
        self._paused: set[str] = set()  # by whom
        self._jobs: deque[Callable[[], None]] = deque()  # to do between two decisions
        self._refused: dict[asyncio.Task[None], str] = {}  # visits cancelled by an order, and why
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self, seeds: Sequence[Link]) -> Outcome:
        """Crawl from the seeds until a limit is reached or no link is left."""
        self._loop = asyncio.get_running_loop()
        self._loop_begin = self._loop.time()
        try:
            self.navigator.seed(seeds)
            self._do_jobs()
            await self._visit_one_at_a_time()
            while not (reason := self._start_visits()):
                await self._absorb_next()
                self._do_jobs()
                await self._visit_one_at_a_time()
        finally:
            await self._cancel()
        memory = self.navigator.memory
        return Outcome(memory.visits, memory.relevant_found, self._now() - self.begin, reason)

    def stop(self, reason: str) -> None:
        """Stop the crawl at the next visit; visits in flight are cancelled and stay leased."""
        self._stopped = reason
        self._finished.put_nowait(None)

    def finish(self, reason: str) -> None:
        """Stop the crawl when the visits in flight have been absorbed; start no more."""
        self._finishing = reason
        self._finished.put_nowait(None)

    def pause(self, by: str = "") -> None:
        """Start no visit until all who paused it `unpause`; visits in flight are absorbed."""
        self._paused.add(by)

    def unpause(self, by: str = "") -> None:
        """Start visits again, unless somebody else has paused it."""
        self._paused.discard(by)
        self._finished.put_nowait(None)

    def refuse(self, refusal: Callable[[str], str]) -> None:
        """Cancel the visits in flight that are refused; they count as failed for that reason."""
        for task, link in self._running.items():
            if reason := refusal(link.url):
                self._refused[task] = reason
                asyncio.get_running_loop().call_soon(task.cancel)  # once it has begun

    def call(self, order: Callable[["Crawl"], None]) -> None:
        """Give an order from another thread: it is carried out between two decisions."""
        if self._loop is None:
            order(self)
            return
        with suppress(RuntimeError):  # the loop is closed: the crawl has ended
            self._loop.call_soon_threadsafe(order, self)

    @property
    def is_paused(self) -> bool:
        """Whether somebody has paused it."""
        return bool(self._paused)

    @property
    def running(self) -> int:
        """Visits in flight."""
        return len(self._running)

    def between(self, job: Callable[[], None]) -> None:
        """Do a job between two decisions, when nothing else uses the navigator; from any thread."""
        self._jobs.append(job)
        self.call(lambda crawl: crawl._finished.put_nowait(None))

    def _do_jobs(self) -> None:
        while self._jobs:
            self._jobs.popleft()()

    def now(self) -> float:
        """Seconds on the crawl's own clock."""
        return self._now()

    def _now(self) -> float:
        return self.begin + asyncio.get_running_loop().time() - self._loop_begin

    async def _visit_one_at_a_time(self) -> None:
        """Visit without tasks while at most one visit runs at a time and no timer is needed."""
        alone = self.in_flight == 1 and self._in_order and self.limits.seconds == math.inf
        while alone and not self._running and self._finished.empty() and not self._limit_reached():
            if not self._may_start() or (link := self.navigator.choose(self._now())) is None:
                return
            visit = await self.world.visit(link)
            now = self._now()
            self._notify(visit, self.navigator.absorb(visit, now), now)
            if self.navigator.memory.visits % YIELD_EVERY == 0:
                await asyncio.sleep(0)

    def _start_visits(self) -> str:
        """Start as many visits as the limits allow; return why the crawl is over, or ""."""
        if reason := self._limit_reached():
            return reason
        while self._may_start() and (link := self.navigator.choose(self._now())) is not None:
            self._running[asyncio.create_task(self._visit(link, self._started))] = link
            self._started += 1
        if self._running or not self._finished.empty():
            return ""
        if self._finishing or self._paused:
            return self._finishing
        if not self._may_start():
            return "budget spent"
        if self.navigator.stopped:
            return "nothing left is worth a fetch"
        return "no link left" if self.navigator.frontier.wake(self._now()) is None else ""

    def _limit_reached(self) -> str:
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
        under_way = len(self._running) + len(self._out_of_order) + self._finished.qsize()
        started = self.navigator.memory.visits + under_way
        has_room = under_way < self.in_flight and started < self.limits.pages
        return has_room and not (self._paused or self._finishing)

    async def _visit(self, link: Link, turn: int) -> None:
        finished: Visit | BaseException
        task = cast(asyncio.Task[None], asyncio.current_task())
        try:
            finished = await self.world.visit(link)
        except asyncio.CancelledError:
            if task not in self._refused:
                raise
            finished = Visit(link, None, Verdict(0.0, False), failure=self._refused[task])
        except Exception as bug:  # raised again by _absorb_next, in the task of run()
            finished = bug
        finally:
            self._running.pop(task, None)
            self._refused.pop(task, None)
        if self._in_order:
            self._finish_in_order(finished, turn)
        else:
            self._finished.put_nowait(finished)

    def _finish_in_order(self, finished: Visit | BaseException, turn: int) -> None:
        """Pass visits on in the order in which they were started."""
        self._out_of_order[turn] = finished
        while self._ended in self._out_of_order:
            self._finished.put_nowait(self._out_of_order.pop(self._ended))
            self._ended += 1

    async def _absorb_next(self) -> None:
        """Wait for the next visit to end and absorb it, or for the timer of `_set_timer`."""
        timer = self._set_timer()
        if self._paused and isinstance(self._loop, _SimulatedLoop):
            await self._stand_still()
        finished = await self._finished.get()
        if timer is not None:
            timer.cancel()
        if isinstance(finished, BaseException):
            raise finished
        if finished is not None:
            now = self._now()
            self._notify(finished, await self._absorb(finished, now), now)

    async def _stand_still(self) -> None:
        """Wait in real time while a simulated crawl is paused: no timer would wake it."""
        while not (self._running or self._finished.qsize()):
            time.sleep(PAUSE)  # noqa: ASYNC251 nothing else runs
            await asyncio.sleep(0)  # what other threads have called

    def _set_timer(self) -> asyncio.TimerHandle | None:
        """Wake `_absorb_next` when a host may be asked again or the time limit is reached."""
        wake = self.begin + self.limits.seconds
        if self._may_start() and not self.navigator.stopped:
            ready = self.navigator.frontier.wake(self._now())
            wake = wake if ready is None else min(wake, ready)
        if wake == math.inf:
            return None
        loop = asyncio.get_running_loop()
        return loop.call_at(wake - self.begin + self._loop_begin, self._finished.put_nowait, None)

    async def _absorb(self, visit: Visit, now: float) -> Step:
        """Absorb a visit; a heavy one in a thread, so that the event loop is not blocked.

        The navigator is not called from elsewhere meanwhile: the only caller awaits this method.
        """
        if not self.world.live or not (self.navigator.revises_next or _is_heavy(visit)):
            return self.navigator.absorb(visit, now)
        loop = asyncio.get_running_loop()
        self._absorbing = loop.run_in_executor(None, self.navigator.absorb, visit, now)
        try:
            return await asyncio.shield(self._absorbing)
        finally:
            if self._absorbing.done():
                self._absorbing = None

    def _notify(self, visit: Visit, step: Step, now: float) -> None:
        self._bytes += len(visit.response.body) if visit.response else 0
        if self.observer is not None:
            self.observer(visit, step, now)

    async def _cancel(self) -> None:
        for task in self._running:
            task.cancel()
        last = [] if self._absorbing is None else [self._absorbing]
        await asyncio.gather(*self._running, *last, return_exceptions=True)


def _is_heavy(visit: Visit) -> bool:
    """Whether absorbing a visit takes long: it has many links or a large body to store."""
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
    """Crawl a recorded or generated web for `budget` pages; delays take no real time."""
    crawl = Crawl(navigator, world, Limits(pages=budget), in_flight, observer)
    return run_simulated(crawl.run(seeds))


def run_simulated(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a simulated clock, which jumps to the next timer instead of waiting."""
    if asyncio._get_running_loop() is None:
        with asyncio.Runner(loop_factory=_SimulatedLoop) as runner:
            return runner.run(work)
    return in_thread(lambda: run_simulated(work))  # inside a running loop, as in a notebook


def in_thread(work: Callable[[], T]) -> T:
    """Do something in a thread of its own, because an event loop may run in this one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(work).result()


class _SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock advances only when every task waits."""

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(_SimulatedSelector(self))

    def time(self) -> float:
        return self._now

    def jump(self, seconds: float) -> None:
        self._now += seconds


class _SimulatedSelector(selectors.SelectSelector):
    """Advances the loop's clock by the timeout instead of waiting."""

    def __init__(self, loop: _SimulatedLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise RuntimeError(
                    "a simulated crawl waits, but no timer is set and no I/O is open"
                )
            self._loop.jump(timeout)
        return ready
