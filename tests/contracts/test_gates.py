"""What every registered gate promises."""

import numpy as np
import pytest

from honeyguide.contracts import Link, Page, Verdict
from honeyguide.engine.loop import simulate
from honeyguide.engine.navigator import Navigator
from honeyguide.registry import make

from . import samples
from .test_agents import Noisy, web

every_gate = pytest.mark.parametrize("name", samples.names("gate"))


def navigate(name, encoder, world, agent="breadth_first", seed=0):
    gate = make("gate", name, search=(samples.TOPIC,), encoder=encoder)
    steering = samples.agent(agent, encoder, world.truth, seed)
    frontier = samples.frontier(steering.frontier, steering.features.width, seed)
    return Navigator(steering, frontier, gate=gate)


def trace(name, encoder, world, budget=60, agent="breadth_first", in_flight=1):
    urls = []
    note = lambda visit, step, now: urls.append(visit.link.url)  # noqa: E731
    seeds = [Link(world.address("rocks-0"))]
    simulate(navigate(name, encoder, world, agent), world, seeds, budget, in_flight, note)
    return urls


@every_gate
@pytest.mark.parametrize("agent", ["breadth_first", "best_first", "random"])
def test_no_page_is_fetched_twice_and_no_link_is_lost(name, agent, encoder):
    urls = trace(name, encoder, web(), budget=200, agent=agent)
    bare = trace("none", encoder, web(), budget=200, agent=agent)
    assert len(set(urls)) == len(urls)
    assert sorted(urls) == sorted(bare), "what was skipped comes in the end"


@every_gate
@pytest.mark.parametrize("in_flight", [1, 16])
def test_the_same_crawl_twice(name, in_flight, encoder):
    first = trace(name, encoder, web(), in_flight=in_flight)
    assert trace(name, encoder, web(), in_flight=in_flight) == first


@every_gate
def test_a_saved_gate_goes_on_as_if_nothing_had_happened(name, encoder):
    expected = trace(name, encoder, web(), budget=50)
    world = web()
    half, rest = navigate(name, encoder, world), navigate(name, encoder, world, seed=9)
    simulate(half, world, [Link(world.address("rocks-0"))], 25)
    rest.load(half.state())
    urls = []
    simulate(rest, world, [], 50, observer=lambda visit, step, now: urls.append(visit.link.url))
    assert urls == expected[25:]
    assert rest.gate.policy() == rest.gate.policy()


@every_gate
@pytest.mark.parametrize("steps", [1, 7, 30])
def test_no_gate_can_peek_at_pages_that_were_not_visited(name, steps, encoder):
    honest = trace(name, encoder, web(), budget=steps + 1)
    noisy = trace(name, encoder, Noisy(web(), set(honest[:steps])), budget=steps + 1)
    assert noisy == honest


@every_gate
def test_odd_urls_and_failures_break_nothing(name, encoder):
    from honeyguide.contracts import Visit

    navigator = navigate(name, encoder, web())
    odd = ["http://a.example", "http://[::1]:80/x", "http://ä.example/%ff?%&=", "http://1.2.3.4//"]
    navigator.seed([Link("http://a.example/")])
    page = Page("http://a.example/", links=tuple(map(Link, odd)))
    navigator.absorb(Visit(navigator.choose(0.0), page, Verdict(0.0, False)), 0.0)
    visited = 0
    while (link := navigator.choose(0.0)) is not None:
        navigator.absorb(Visit(link, None, Verdict(0, False), failure="timeout"), 0.0)
        visited += 1
    assert visited == len(odd)
    worths = navigator.gate.worths(navigator.memory, np.arange(3, dtype=np.int32))
    assert worths.shape == (3,)
    assert np.all(np.isfinite(worths))
