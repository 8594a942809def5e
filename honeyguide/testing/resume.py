"""Check that a crawl resumed from a saved state decides like one that never stopped."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from honeyguide.contracts import Frontier, Link, State, Step, Visit, World
from honeyguide.disk.serialise import read_state, write_state
from honeyguide.engine.loop import run_simulated, simulate
from honeyguide.engine.memory import Memory
from honeyguide.engine.navigator import Navigator
from honeyguide.testing.contract import ContractError
from honeyguide.testing.webs import GrowingWeb

MakeNavigator = Callable[[], Navigator]


class ResumeError(ContractError):
    """A resumed crawl differs: some part does not save or load all of its state."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """An event: a link was chosen, or choosing moved links in the frontier but returned none."""

    now: float
    url: str | None
    score: float

    def repeat(self, navigator: Navigator) -> None:
        link = navigator.choose(self.now)
        again = _chosen(self.now, link, navigator)
        if again != self:
            raise ResumeError(
                f"it chose {_described(again)} where the first chose {_described(self)}"
            )


@dataclass(frozen=True, slots=True)
class _Absorption:
    """An event: a visit was absorbed, with this result."""

    now: float
    visit: Visit
    page: int
    reward: float
    options: int  # number of links

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
    """A saved state and the memory of each part, in bytes."""

    state: State
    measures: dict[str, int]


@dataclass(slots=True)
class _RecordingNavigator:
    """A navigator that records its events, as the journal does, and saves some states."""

    navigator: Navigator
    save_at: Sequence[int]  # numbers of events after which the state is saved
    events: list[_Choice | _Absorption] = field(default_factory=list)
    saved: dict[int, _Save] = field(default_factory=dict)  # by the number of events

    @property
    def memory(self) -> Memory:
        """The memory of the navigator."""
        return self.navigator.memory

    @property
    def frontier(self) -> Frontier:
        """The frontier of the navigator."""
        return self.navigator.frontier

    @property
    def stopped(self) -> bool:
        """Whether the agent has stopped the crawl."""
        return self.navigator.stopped

    @property
    def revises_next(self) -> bool:
        """Whether the next visit may change earlier verdicts."""
        return self.navigator.revises_next

    def seed(self, links: Sequence[Link]) -> None:
        """Add the seeds."""
        self.navigator.seed(links)
        self._save()

    def choose(self, now: float) -> Link | None:
        """Return the next link and record the choice."""
        moved = self.navigator.moved
        link = self.navigator.choose(now)
        if link is not None or self.navigator.moved > moved:
            self._note(_chosen(now, link, self.navigator))
        return link

    def absorb(self, visit: Visit, now: float) -> Step:
        """Absorb a visit and record it."""
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
    pages: int = 300,  # visits
    saves: int = 5,
    in_flight: int = 3,
) -> None:
    """Raise a ResumeError unless a crawl resumes exactly from each of several saved states.

    `make_navigator` and `make_world` must return new objects, as in a new process. One crawl runs
    to its end. Then a new navigator loads each saved state and replays the later events: it must
    take the same decisions and end in the same state. So must a navigator that replays all events
    from the beginning, and a new world must return the same pages.
    """
    places = [round(2 * pages * place / saves) for place in range(saves)]
    first = _RecordingNavigator(make_navigator(), places)
    simulate(first, make_world(), seeds, pages, in_flight)
    end = through_a_file(first.navigator.state())
    replayed = make_navigator()
    replayed.seed(seeds)
    _replay(replayed, first.events, end, "replayed from its beginning")
    for place, save in first.saved.items():
        _check_save(make_navigator(), save, first.events[place:], end, place)
    run_simulated(_check_world(make_world(), first.events))


def through_a_file(state: State) -> State:
    """Return a state after writing it to a file and reading it back."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        with path.open("wb") as file:
            write_state(file, state)
        return read_state(path)


def first_difference(one: Any, other: Any, where: str = "state") -> str:
    """Return where two states first differ, such as "state['rng']"; empty if they are equal."""
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
        raise ResumeError(f"{when}, a crawl saves a different {where}")
    if where := first_difference(save.measures, navigator.measures(), "bytes"):
        raise ResumeError(
            f"{when}, a crawl measures other {where}, which decide when links are shed"
        )
    _replay(navigator, events, end, when)


async def _check_world(world: World, events: Sequence[_Choice | _Absorption]) -> None:
    """Raise a ResumeError unless a new world returns the same visits in the second half."""
    for event in events[len(events) // 2 :]:
        if not isinstance(event, _Absorption):
            continue
        if _comparable(await world.visit(event.visit.link)) != _comparable(event.visit):
            raise ResumeError(f"a new world shows something else at {event.visit.link.url}")
    await world.close()


def _comparable(visit: Visit) -> tuple[Any, ...]:
    """Return all of a visit that decisions may depend on; not the time that it took."""
    return visit.link, visit.page, visit.verdict, visit.failure, visit.host_delay, visit.again


def _replay(
    navigator: Navigator, events: Sequence[_Choice | _Absorption], end: State, when: str
) -> None:
    for number, event in enumerate(events):
        try:
            event.repeat(navigator)
        except ResumeError as error:
            raise ResumeError(f"{when}, a crawl differs {number} events later: {error}") from None
    if where := first_difference(end, through_a_file(navigator.state())):
        raise ResumeError(f"{when}, a crawl ends with a different {where}")


def _chosen(now: float, link: Link | None, navigator: Navigator) -> _Choice:
    if link is None:
        return _Choice(now, None, 0.0)
    return _Choice(now, link.url, float(navigator.leases[link.url].score))


def _absorbed(now: float, visit: Visit, step: Step) -> _Absorption:
    return _Absorption(now, visit, step.id, float(step.reward), len(step.options))


def _described(choice: _Choice) -> str:
    return "nothing" if choice.url is None else f"{choice.url} (score {choice.score:.6g})"


def _same_arrays(one: Any, other: Any) -> bool:
    floats = one.dtype.kind == "f" and other.dtype.kind == "f"
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=floats)
