"""Every registered part takes the same decisions in a resumed crawl."""

import numpy as np
import pytest

from honeyguide.contracts import Vocabulary
from honeyguide.engine.navigator import Navigator
from honeyguide.guards.bounds import Bounds
from honeyguide.guards.few_hosts import FewHosts
from honeyguide.guards.lists import Lists
from honeyguide.guards.live import LiveGuard
from honeyguide.plan import Plan
from honeyguide.registry import make
from honeyguide.testing import GrowingWeb, ResumeError, check_resume

from . import samples

PAGES = {"source_finder": 12, "dqn": 60}  # fewer for what is slow
WEB = GrowingWeb()  # its truth is made once


def navigator(encoder, agent="best_first", guard="watch", frontier="", **settings):
    steering = samples.agent(agent, encoder, WEB.truth)
    return Navigator(
        steering,
        make(
            "frontier",
            frontier or steering.frontier,
            width=steering.features.width,
            rng=np.random.default_rng(0),
            delay=0.2,
            patience=0.4,
        ),
        guard=make("guard", guard, year=2026),
        retries=2,
        vocabulary=encoder if isinstance(encoder, Vocabulary) else None,
        **settings,
    )


@pytest.mark.parametrize("name", samples.names("agent"))
def test_a_crawl_goes_on_as_it_was_with_every_agent(name, encoder):
    check_resume(lambda: navigator(encoder, name), pages=PAGES.get(name, 90), saves=4)


@pytest.mark.parametrize("agent", ["best_first", "random"])
@pytest.mark.parametrize("name", [*samples.names("frontier"), "walks:anywhere=true,longest=9"])
def test_a_crawl_goes_on_as_it_was_with_every_frontier(name, agent, encoder):
    check_resume(lambda: navigator(encoder, agent, frontier=name), pages=120, in_flight=5)
    check_resume(lambda: navigator(encoder, agent, frontier=name, max_waiting=900), pages=60)


@pytest.mark.parametrize("agent", ["linear_sync", "linear_async"])
def test_a_crawl_goes_on_as_it_was_with_categories_that_it_finds(agent, encoder):
    check_resume(lambda: navigator(encoder, f"{agent}:categories=auto"), pages=120, saves=4)


@pytest.mark.parametrize("agent", ["linear_sync", "linear_async"])
def test_a_crawl_goes_on_as_it_was_with_the_frontier_of_han_and_pertejo(agent, encoder):
    fresh = f"{agent}:frontier=fresh_pairs"
    check_resume(lambda: navigator(encoder, fresh), pages=120, in_flight=5)
    check_resume(lambda: navigator(encoder, fresh, max_waiting=900), pages=60)


@pytest.mark.parametrize("agent", ["breadth_first", "depth_first"])
@pytest.mark.parametrize("name", samples.names("guard"))
def test_a_crawl_goes_on_as_it_was_with_every_guard(name, agent, encoder):
    check_resume(lambda: navigator(encoder, agent, name), pages=350)


def test_a_crawl_goes_on_as_it_was_with_lists_bounds_and_few_hosts(encoder):
    def listed():
        steering = navigator(encoder)
        lists = Lists(LiveGuard(), deny=["h1.example", "*/cheese/*"])
        bounds = Bounds(lists, max_depth=6, max_per_host=20, languages=("en",))
        steering.guard = FewHosts(bounds, 40)
        return steering

    check_resume(listed, pages=150)


@pytest.mark.parametrize("name", samples.names("gate"))
def test_a_crawl_goes_on_as_it_was_with_every_gate(name, encoder):
    def gated():
        gate = make("gate", name, search=(samples.TOPIC,), encoder=encoder)
        return navigator(encoder, gate=gate)

    check_resume(gated, pages=90, saves=3)


@pytest.mark.parametrize("name", samples.names("encoder"))
def test_a_crawl_goes_on_as_it_was_with_every_encoder(name):
    made = make("encoder", name)

    def encoded():
        if isinstance(made, Vocabulary):
            made.forget()
        return navigator(made, "guide")

    check_resume(encoded, pages=60, saves=3)


@pytest.mark.parametrize("name", [n for n in samples.names("world") if n not in samples.LIVE])
def test_a_crawl_goes_on_as_it_was_in_every_world(name, small_graph, small_archive):
    specs = {"graph": f"graph:{small_graph}", "archive": f"archive:{small_archive}"}
    spec = specs.get(name) or samples.SPECS.get(("world", name), name)
    names = {"graph": "Page_0", "archive": "http://rocks.example/0", "organisations": "0"}
    seeds = names.get(name, "1 random page")
    plan = Plan(topic=samples.TOPIC, world=spec, seeds=(seeds,), guard="watch")
    opened = plan.open()
    check_resume(opened.navigator, lambda: plan.open().world, opened.seeds, pages=100, saves=3)


@pytest.mark.parametrize(
    ("agent", "frontier", "kilobytes", "sheds"),
    [
        ("linear_sync", "best_first", 300, True),
        ("linear_sync:frontier=fresh_pairs", "pairs", 300, True),
        ("guide", "best_first", 900, True),
        ("best_first", "best_first", 500, False),  # rows of few bytes: others fill its memory
        ("best_first", "walks", 500, False),  # it has the links of one page only
    ],
)
def test_a_crawl_goes_on_as_it_was_with_little_memory(agent, frontier, kilobytes, sheds, encoder):
    made = []

    def bounded():
        steering = navigator(encoder, agent, frontier=frontier)
        steering.limit_bytes(kilobytes << 10)
        made.append(steering)
        return steering

    check_resume(bounded, pages=130, saves=4)
    assert made[0].shed_links.unnoted > 0
    assert (made[0].shed_links.for_memory > 0) == sheds


class Forgetful(LiveGuard):
    """A guard that loads only a part of its state."""

    def load(self, state):
        super().load(state)
        self._tally.clear()


class Careless(LiveGuard):
    """A guard that does not save its counter."""

    visits = 0

    def note(self, memory, id, visit):
        self.visits += 1
        return super().note(memory, id, visit)

    def admit(self, memory, found):
        return super().admit(memory, found) & (self.visits % 7 > 0)


class Shrinking(LiveGuard):
    """A guard that reports fewer bytes after loading."""

    extra = 8

    @property
    def nbytes(self):
        return super().nbytes + self.extra

    def load(self, state):
        super().load(state)
        self.extra = 0


def test_a_part_that_forgets_something_is_named(encoder):
    def forgetful(guard):
        steering = navigator(encoder)
        steering.guard = guard()
        return steering

    with pytest.raises(ResumeError, match=r"saves a different state\['guard'\]\['tally'\]"):
        check_resume(lambda: forgetful(Forgetful))
    with pytest.raises(ResumeError, match="events later"):
        check_resume(lambda: forgetful(Careless))
    with pytest.raises(ResumeError, match=r"measures other bytes\['guard'\]"):
        check_resume(lambda: forgetful(Shrinking))


class Changing(GrowingWeb):
    """A web whose pages differ with each instance."""

    worlds = 0

    def __init__(self):
        super().__init__()
        Changing.worlds += 1
        self.pages += Changing.worlds


def test_a_world_that_changes_is_named(encoder):
    with pytest.raises(ResumeError, match="a new world shows something else"):
        check_resume(lambda: navigator(encoder), Changing, pages=50, saves=1)
