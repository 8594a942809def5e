"""Small crawls of the web of words, for checks."""

from dataclasses import dataclass, field

import numpy as np

from honeyguide.assemble import bare_navigator, frontier_of
from honeyguide.contracts import Agent, Gate, Goal, Guard, Link, Page, State, Step, Verdict, Visit
from honeyguide.contracts import World as AnyWorld
from honeyguide.engine.loop import simulate
from honeyguide.engine.navigator import Navigator
from honeyguide.registry import make
from honeyguide.testing.contract import TOPIC, check_written, default_encoder
from honeyguide.testing.resume import through_a_file

HALF = 25  # visits after which a crawl is saved
ENOUGH = 50  # visits up to which a loaded crawl is compared


@dataclass(slots=True)
class Trace:
    """What a crawl did."""

    urls: list[str] = field(default_factory=list)  # visited
    steps: list[Step] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    saved: State = field(default_factory=dict)  # after HALF visits, if it was saved


def crawl(
    navigator: Navigator,
    world: AnyWorld,
    seeds: tuple[Link, ...],
    budget: int,
    in_flight: int = 1,
    saves: bool = False,
) -> Trace:
    """Crawl a small web and note what was done."""
    trace = Trace()

    def note(visit: Visit, step: Step, now: float) -> None:
        trace.urls.append(visit.link.url)
        trace.steps.append(step)
        trace.visits.append(visit)
        if saves and len(trace.urls) == HALF:
            trace.saved = _saved(navigator)

    simulate(navigator, world, seeds, budget, in_flight, note)
    return trace


def _saved(navigator: Navigator) -> State:
    state = navigator.state()
    for name in ("agent", "guard", "gate"):
        check_written(state[name])
    return through_a_file(state)


def steer(
    agent: Agent | str = "breadth_first",
    seed: int = 0,
    guard: Guard | None = None,
    gate: Gate | None = None,
) -> Navigator:
    """A navigator for parts that are checked, beside others that are known to be sound."""
    if isinstance(agent, str):
        made: Agent = make(
            "agent", agent, goal=Goal(TOPIC, default_encoder()), rng=np.random.default_rng(seed)
        )
    else:
        made = agent
    return bare_navigator(made, frontier_of(made, np.random.default_rng(seed)), guard, gate)


def fail_everywhere(navigator: Navigator, page: Page) -> int:
    """Read one page, then fail at each of its links: how many were tried."""
    navigator.seed([Link(page.url)])
    first = navigator.choose(0.0)
    if first is None:
        return 0
    navigator.absorb(Visit(first, page, Verdict(0.0, False)), 0.0)
    tried = 0
    while (link := navigator.choose(0.0)) is not None:
        navigator.absorb(Visit(link, None, Verdict(0.0, False), failure="timeout"), 0.0)
        tried += 1
    return tried
