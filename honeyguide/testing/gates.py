"""What a gate promises."""

from typing import Any

import numpy as np

from honeyguide.contracts import (
    Encoder,
    Gate,
    GateRow,
    Ids,
    Link,
    MemoryView,
    Outlinks,
    Page,
    State,
    Vector,
    Visit,
)
from honeyguide.contracts import World as AnyWorld
from honeyguide.engine.navigator import Navigator
from honeyguide.testing.contract import (
    ODD_URLS,
    TOPIC,
    PartLike,
    check_same,
    default_encoder,
    make_part,
    promised,
    require,
    require_bool,
    require_dtype,
)
from honeyguide.testing.crawling import (
    HALF,
    Trace,
    check_goes_on,
    check_no_peeking,
    crawl,
    fail_everywhere,
    steer,
)
from honeyguide.testing.tiny_webs import start_of, word_web

MEMBERS = ("see", "opens", "worths", "note", "policy", "state", "load")
AGENTS = ("breadth_first", "best_first", "random")
PAGES = 60
ALL = 200  # more than there are


def check_gate(gate: PartLike, *, encoder: Encoder | None = None) -> None:
    """Raise a ContractError unless a gate keeps its promises; it gets `search`, `encoder`, `rng`.

    - `opens` answers True or False, also when the agent foresees nothing (None).
    - No link is lost: what was skipped is visited in the end, and nothing twice, with any agent.
    - The same crawl twice, with one visit at a time and with many.
    - What it does depends on pages visited alone, not on pages yet unseen nor on labels.
    - `worths` gives one finite float32 number a link, also for none; `note` gives page numbers.
    - `policy` gives rows of texts and numbers, the same after a save and a load.
    - `state` can be written, `load` brings all of it back, and the crawl goes on as it was.
    - Failures and odd URLs break nothing.
    """
    trial = _Trial(gate, encoder or default_encoder())
    with promised("failures and odd URLs must break nothing, but the gate raised an error"):
        _check_odd(trial)
    first = trial.crawl(word_web(), PAGES, saves=True)
    _check_same(trial, first)
    mend = "Decide by what was seen before: links found, and visits noted"
    check_no_peeking(trial.crawl, first, "gate", mend)
    check_goes_on(trial.navigator(seed=9), first, word_web(), "gate")
    _check_policy(trial, first)
    for agent in AGENTS:
        _check_nothing_lost(trial, agent)


class _Checked:
    """A gate whose every answer is checked."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def see(self, found: Outlinks) -> None:
        self._inner.see(found)

    def opens(self, memory: MemoryView, id: int, link: Link, foreseen: float | None) -> bool:
        answer = self._inner.opens(memory, id, link, foreseen)
        require_bool(answer, "opens()")
        return bool(answer)

    def worths(self, memory: MemoryView, ids: Ids) -> Vector:
        worths: Vector = self._inner.worths(memory, ids)
        require(
            np.shape(worths) == (len(ids),),
            f"worths() returned shape {np.shape(worths)} for {len(ids)} links:"
            f" return one number for each, shape ({len(ids)},)",
        )
        require_dtype(worths, "worths()")
        require(np.all(np.isfinite(worths)), "worths() returned a number that is not finite")
        return worths

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Ids:
        ids: Ids = self._inner.note(memory, id, visit)
        kind = getattr(getattr(ids, "dtype", None), "kind", "")
        require(
            kind in "iu" and kind and np.ndim(ids) == 1,
            f"note() returned {ids!r}: return an array of page numbers, perhaps empty",
        )
        return ids

    def policy(self) -> list[GateRow]:
        rows: list[GateRow] = self._inner.policy()
        plain = isinstance(rows, list) and all(
            isinstance(key, str) and isinstance(value, str | int | float | bool)
            for row in rows
            for key, value in row.items()
        )
        require(plain, f"policy() returned {rows!r}: return a list of {{column: value}}")
        return rows

    def state(self) -> State:
        state: State = self._inner.state()
        return state

    def load(self, state: State) -> None:
        self._inner.load(state)


class _Trial:
    """A gate that can be made any number of times."""

    def __init__(self, part: PartLike, encoder: Encoder) -> None:
        self._part = part
        self._encoder = encoder

    def navigator(self, agent: str = "breadth_first", seed: int = 0) -> Navigator:
        offers = {"encoder": self._encoder, "rng": np.random.default_rng(seed)}
        inner = make_part("gate", self._part, MEMBERS, search=(TOPIC,), **offers)
        gate: Gate = _Checked(inner)
        return steer(agent, seed, gate=gate)

    def crawl(
        self,
        world: AnyWorld,
        budget: int,
        agent: str = "breadth_first",
        in_flight: int = 1,
        saves: bool = False,
    ) -> Trace:
        seeds = (start_of(word_web()),)
        return crawl(self.navigator(agent), world, seeds, budget, in_flight, saves)


def _check_odd(trial: _Trial) -> None:
    navigator = trial.navigator()
    page = Page("http://a.example/", links=tuple(map(Link, ODD_URLS)))
    tried = fail_everywhere(navigator, page)
    require(tried == len(ODD_URLS), f"of {len(ODD_URLS)} odd links, {tried} were visited")
    for count in (3, 0):
        navigator.gate.worths(navigator.memory, np.arange(count, dtype=np.int32))
    link = Link(ODD_URLS[0])
    navigator.gate.opens(navigator.memory, 0, link, None)


def _check_same(trial: _Trial, first: Trace) -> None:
    promise = "the same crawl went differently the second time"
    mend = "A gate may use neither chance nor a clock, and keep nothing on the class or module"
    check_same(first.urls, trial.crawl(word_web(), PAGES).urls, promise, mend)
    one, other = (trial.crawl(word_web(), PAGES, in_flight=16).urls for _ in range(2))
    check_same(one, other, f"{promise}, with 16 visits at once", mend)


def _check_policy(trial: _Trial, first: Trace) -> None:
    loaded, straight = trial.navigator(), trial.navigator()
    loaded.load(first.saved)
    crawl(straight, word_web(), (start_of(word_web()),), HALF)
    require(
        straight.gate.policy() == loaded.gate.policy(),
        "policy() says something else after a save and a load: save what it is made of",
    )


def _check_nothing_lost(trial: _Trial, agent: str) -> None:
    world = word_web()
    urls = trial.crawl(world, ALL, agent).urls
    require(len(set(urls)) == len(urls), f"with agent {agent!r}, a page was visited twice")
    reached, waiting = set[str](), ["rocks-0"]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += world.links[name]
    require(
        set(urls) == set(map(world.address, reached)),
        f"with agent {agent!r}, {len(urls)} of {len(reached)} pages were visited: what a gate"
        " skips must come back in the end",
    )
