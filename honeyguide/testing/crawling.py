"""Small crawls of the web of words, for checks."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from honeyguide.assemble import bare_navigator, frontier_of
from honeyguide.contracts import Agent, Gate, Goal, Guard, Link, Page, State, Step, Verdict, Visit
from honeyguide.contracts import World as AnyWorld
from honeyguide.engine.loop import simulate
from honeyguide.engine.navigator import Navigator
from honeyguide.registry import make
from honeyguide.testing.contract import (
    TOPIC,
    check_same,
    check_written,
    default_encoder,
    promised,
    require,
)
from honeyguide.testing.resume import first_difference, through_a_file
from honeyguide.testing.tiny_webs import Labelled, Noisy, word_web

HALF = 25  # visits after which a crawl is saved
ENOUGH = 50  # visits up to which a loaded crawl is compared
PEEKS = (1, 7, 30)  # visits after which the rest of the web becomes noise
LABELLED = 20  # visits of a web with labels
SAVING = "state() must hold, and load() bring back, all that decisions depend on"


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


def check_goes_on(
    rest: Navigator, first: Trace, world: AnyWorld, part: str, mend: str = SAVING
) -> None:
    """Raise a ContractError unless a fresh crawl that loads what the first saved goes on alike."""
    with promised("load() could not read what state() gave, as it comes back from a file"):
        rest.load(first.saved)
    state = getattr(rest, part).state()
    where = first_difference(first.saved[part], through_a_file(state))
    require(not where, f"it does not load what it saved: {where}. {mend}")
    again = crawl(rest, world, (), ENOUGH).urls
    promise = "after a save and a load, the crawl went on differently"
    check_same(first.urls[HALF:ENOUGH], again, promise, mend, HALF)


def check_no_peeking(
    crawl_from_start: Callable[[AnyWorld, int], Trace], first: Trace, who: str, mend: str
) -> None:
    """Raise a ContractError if pages not visited, or labels, change what a crawl does."""
    for steps in PEEKS:
        noisy = crawl_from_start(Noisy(word_web(), first.urls[:steps]), steps + 1).urls
        promise = f"the {who} looked at a page that had not been visited"
        check_same(first.urls[: steps + 1], noisy, promise, mend)
    labelled = crawl_from_start(Labelled(word_web()), LABELLED).urls
    promise = f"the {who} looked at page.labels, the ground truth that only judges may see"
    check_same(first.urls[:LABELLED], labelled, promise, mend)
