"""Resume equivalence: a crawl that was saved and loaded decides like one that never stopped."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from honeyguide.contracts import Frontier, Link, State, Step, Visit, World
from honeyguide.disk.serialise import read_state, write_state
from honeyguide.engine.loop import run_jumping, simulate
from honeyguide.engine.memory import Memory
from honeyguide.engine.navigator import Navigator
from honeyguide.testing.contract import ContractError
from honeyguide.testing.webs import GrowingWeb

MakeNavigator = Callable[[], Navigator]


class ResumeError(ContractError):
    """A crawl would not go on as it was: a part does not save, or load, all that it knows."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """A link was chosen, or links were moved on the way to none."""

    now: float
    url: str | None
    score: float

    def repeat(self, navigator: Navigator) -> None:
        link = navigator.choose(self.now)
        again = _chosen(self.now, link, navigator)
        if again != self:
            raise ResumeError(f"it chose {_said(again)} where the first chose {_said(self)}")


@dataclass(frozen=True, slots=True)
class _Absorption:
    """A visit was absorbed, and taught this."""

    now: float
    visit: Visit
    page: int
    reward: float
    options: int

    def repeat(self, navigator: Navigator) -> None:
        again = _absorbed(self.now, self.visit, navigator.absorb(self.visit, self.now))
        if again != self:
            raise ResumeError(
                f"{self.visit.link.url} led to page {again.page} with reward {again.reward} and"
                f" {again.options} links, at first to page {self.page} with reward {self.reward}"
                f" and {self.options} links"
            )


@dataclass(frozen=True, slots=True)
class _Save:
    """A state, and the bytes of each part that was in it."""

    state: State
    measures: dict[str, int]


@dataclass(slots=True)
class _Taped:
    """Steers a crawl like its navigator does, and notes every event that a journal would keep."""

    navigator: Navigator
    save_at: Sequence[int]  # events before which the state is saved
    events: list[_Choice | _Absorption] = field(default_factory=list)
    saved: dict[int, _Save] = field(default_factory=dict)  # by the number of events before

    @property
    def memory(self) -> Memory:
        """The crawled graph so far."""
        return self.navigator.memory

    @property
    def frontier(self) -> Frontier:
        """The links that wait."""
        return self.navigator.frontier

    @property
    def stopped(self) -> bool:
        """Whether the agent found nothing worth a fetch."""
        return self.navigator.stopped

    def seed(self, links: Sequence[Link]) -> None:
        """Start from these pages."""
        self.navigator.seed(links)
        self._save()

    def choose(self, now: float) -> Link | None:
        """The next link to visit."""
        moved = self.navigator.moved
        link = self.navigator.choose(now)
        if link is not None or self.navigator.moved > moved:
            self._note(_chosen(now, link, self.navigator))
        return link

    def absorb(self, visit: Visit, now: float) -> Step:
        """Take in what came of a link."""
        step = self.navigator.absorb(visit, now)
        self._note(_absorbed(now, visit, step))
        return step

    def _note(self, event: _Choice | _Absorption) -> None:
        self.events.append(event)
        self._save()

    def _save(self) -> None:
        if len(self.events) in self.save_at:
            state = through_a_file(self.navigator.state())
            self.saved[len(self.events)] = _Save(state, self.navigator.measures())


def check_resume(
    make_navigator: MakeNavigator,
    make_world: Callable[[], World] = GrowingWeb,
    seeds: Sequence[Link] = GrowingWeb.seeds,
    pages: int = 300,  # to visit
    saves: int = 5,
    in_flight: int = 3,
) -> None:
    """Raise a ResumeError unless a crawl goes on as it was, whenever it is saved and loaded.

    `make_navigator` and `make_world` make fresh ones each time, as a new process would. A crawl
    is driven to its end once; then a fresh navigator loads each state that was saved on the way,
    is told the same events, and must take every later decision alike and end in the same state.
    One that loads nothing and is told all events must do so too, and a fresh world must show the
    same pages.
    """
    places = [round(2 * pages * place / saves) for place in range(saves)]
    first = _Taped(make_navigator(), places)
    simulate(first, make_world(), seeds, pages, in_flight)
    end = through_a_file(first.navigator.state())
    replayed = make_navigator()
    replayed.seed(seeds)
    _go_on(replayed, first.events, end, "replayed from its beginning")
    for place, save in first.saved.items():
        _check_save(make_navigator(), save, first.events[place:], end, place)
    run_jumping(_check_world(make_world(), first.events))


def through_a_file(state: State) -> State:
    """A state as it comes back from a disk."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        with path.open("wb") as file:
            write_state(file, state)
        return read_state(path)


def first_difference(one: Any, other: Any, where: str = "state") -> str:
    """The place of the first difference between two states; empty when they are equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return where
        pairs = [(f"{where}[{key!r}]", one[key], other[key]) for key in one]
        return next((found for at, a, b in pairs if (found := first_difference(a, b, at))), "")
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) != len(other):
            return where
        items = enumerate(zip(one, other, strict=True))
        places = (first_difference(a, b, f"{where}[{n}]") for n, (a, b) in items)
        return next(filter(None, places), "")
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return "" if _same_arrays(np.asarray(one), np.asarray(other)) else where
    return "" if one == other or (one != one and other != other) else where  # noqa: PLR0124 NaN


def _check_save(
    navigator: Navigator,
    save: _Save,
    events: Sequence[_Choice | _Absorption],
    end: State,
    place: int,
) -> None:
    navigator.load(save.state)
    when = f"loaded from a state that was saved after {place} events"
    if where := first_difference(save.state, through_a_file(navigator.state())):
        raise ResumeError(f"{when}, a crawl does not know again {where}")
    if where := first_difference(save.measures, navigator.measures(), "bytes"):
        raise ResumeError(f"{when}, a crawl measures other {where}, by which it sheds links")
    _go_on(navigator, events, end, when)


async def _check_world(world: World, events: Sequence[_Choice | _Absorption]) -> None:
    """Whether a fresh world shows the later half of a crawl what the first one showed."""
    for event in events[len(events) // 2 :]:
        if not isinstance(event, _Absorption):
            continue
        if _shown(await world.visit(event.visit.link)) != _shown(event.visit):
            raise ResumeError(f"a fresh world shows something else at {event.visit.link.url}")
    await world.close()


def _shown(visit: Visit) -> tuple[Any, ...]:
    """What decisions may depend on: all but the time that a visit took."""
    return visit.link, visit.page, visit.verdict, visit.failure, visit.host_delay, visit.again


def _go_on(
    navigator: Navigator, events: Sequence[_Choice | _Absorption], end: State, when: str
) -> None:
    for number, event in enumerate(events):
        try:
            event.repeat(navigator)
        except ResumeError as error:
            raise ResumeError(f"{when}, a crawl differs {number} events later: {error}") from None
    if where := first_difference(end, through_a_file(navigator.state())):
        raise ResumeError(f"{when}, a crawl ends with another {where}")


def _chosen(now: float, link: Link | None, navigator: Navigator) -> _Choice:
    if link is None:
        return _Choice(now, None, 0.0)
    return _Choice(now, link.url, float(navigator.leases[link.url].score))


def _absorbed(now: float, visit: Visit, step: Step) -> _Absorption:
    return _Absorption(now, visit, step.id, float(step.reward), len(step.options))


def _said(choice: _Choice) -> str:
    return "nothing" if choice.url is None else f"{choice.url} (score {choice.score:.6g})"


def _same_arrays(one: Any, other: Any) -> bool:
    floats = one.dtype.kind == "f" and other.dtype.kind == "f"
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=floats)
