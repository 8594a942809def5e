"""What every registered agent promises."""

from io import BytesIO

import numpy as np
import pytest

from honeyguide.contracts import Candidates, Link, Page, Verdict, Visit
from honeyguide.disk.serialise import write_state
from honeyguide.engine.loop import simulate
from honeyguide.engine.navigator import Navigator

from ..webs import TinyWeb
from . import samples

WORDS = ["rocks", "minerals", "geology", "ships", "sailing", "harbour", "poetry", "volcano"]
PAGES = 120


def web():
    """Pages whose names are words, a third of them relevant, on several hosts."""
    names = [f"{WORDS[n % len(WORDS)]}-{n}" for n in range(PAGES)]
    return TinyWeb(
        {
            name: [names[(n * step + k) % PAGES] for step, k in ((2, 1), (3, 2), (5, 7))]
            for n, name in enumerate(names)
        },
        relevant=[name for name in names if name.split("-")[0] in WORDS[:3]],
        hosts={name: f"h{n % 7}" for n, name in enumerate(names)},
        words={name: f"All about {name.replace('-', ' ')}" for name in names},
    )


def navigate(name, encoder, world, seed=0):
    agent = samples.agent(name, encoder, world.truth, seed)
    return Navigator(agent, samples.frontier(agent.frontier, agent.features.width, seed))


def trace(name, encoder, world, budget=60, seed=0, in_flight=1):
    urls = []
    navigator = navigate(name, encoder, world, seed)
    seeds = [Link(world.address("rocks-0"))]
    note = lambda visit, step, now: urls.append(visit.link.url)  # noqa: E731
    outcome = simulate(navigator, world, seeds, budget, in_flight, note)
    return urls, outcome


def written(state):
    file = BytesIO()
    write_state(file, state)
    return file.getvalue()


every_agent = pytest.mark.parametrize("name", samples.names("agent"))


@every_agent
def test_scores_are_one_finite_number_a_link_however_many_are_asked_for(name, encoder):
    world = web()
    navigator = navigate(name, encoder, world)
    page = world.page("rocks-0")
    start = Link(page.url)
    navigator.seed([start])
    navigator.absorb(Visit(navigator.choose(0.0), page, Verdict(1.0, True)), 0.0)
    found = navigator.memory.link(0, page)
    links = Candidates(found.ids, navigator.agent.features(navigator.memory, found))
    assert links.x.shape == (3, navigator.agent.features.width)
    assert links.x.dtype == np.float32
    together = navigator.agent.score(links)
    assert together.shape == (3,)
    assert together.dtype == np.float32
    assert np.all(np.isfinite(together))
    alone = [float(navigator.agent.score(links[place : place + 1])[0]) for place in range(3)]
    assert together.tolist() == pytest.approx(alone, abs=1e-5)
    assert navigator.agent.score(links[:0]).shape == (0,)


@every_agent
def test_no_page_is_fetched_twice_and_the_budget_is_kept(name, encoder):
    urls, outcome = trace(name, encoder, web())
    assert len(urls) == outcome.pages == 60
    walks = samples.agent(name, encoder, web().truth).frontier.startswith("walks")
    apart = 50 if walks else 60  # a walk may come back, but not soon
    assert all(url not in urls[max(0, n - apart) : n] for n, url in enumerate(urls))


@every_agent
@pytest.mark.parametrize("in_flight", [1, 16])
def test_the_same_random_seed_gives_the_same_crawl(name, encoder, in_flight):
    first = trace(name, encoder, web(), in_flight=in_flight)
    assert trace(name, encoder, web(), in_flight=in_flight) == first


@every_agent
def test_a_saved_agent_goes_on_as_if_nothing_had_happened(name, encoder):
    expected, _ = trace(name, encoder, web(), budget=50)
    world = web()
    half = navigate(name, encoder, world)
    simulate(half, world, [Link(world.address("rocks-0"))], 25)
    rest = navigate(name, encoder, world, seed=99)
    rest.load(half.state())
    assert written(rest.agent.state()) == written(half.agent.state())
    urls = []
    simulate(rest, world, [], 50, observer=lambda visit, step, now: urls.append(visit.link.url))
    assert urls == expected[25:]


@every_agent
def test_failures_everywhere_break_nothing(name, encoder):
    world = web()
    start = world.address("rocks-0")
    agent = samples.agent(name, encoder, world.truth)
    navigator = Navigator(agent, samples.frontier(agent.frontier, agent.features.width))
    navigator.seed([Link(start)])
    page = world.page("rocks-0")
    navigator.absorb(Visit(navigator.choose(0.0), page, Verdict(0.0, False)), 0.0)
    while (link := navigator.choose(0.0)) is not None:
        navigator.absorb(Visit(link, None, Verdict(0, False), failure="timeout"), 0.0)
    assert navigator.memory.visits == 4


class Noisy:
    """A web like another one in which all but some pages have other texts and links."""

    live = False

    def __init__(self, world, honest):
        self.world, self.honest = world, honest
        self.address = world.address

    async def visit(self, link):
        visit = await self.world.visit(link)
        if link.url in self.honest:
            return visit
        noise = Page(link.url, "noise", "qwerty " * 50, (Link("http://h0.example/noise"),))
        return Visit(link, noise, Verdict(0.5, False))

    def truth(self):
        raise AssertionError("only upper benchmarks may ask for the truth")


@pytest.mark.parametrize(
    "name", [name for name in samples.names("agent") if name not in samples.SEERS]
)
@pytest.mark.parametrize("steps", [1, 7, 30])
def test_no_agent_can_peek_at_pages_it_has_not_visited(name, steps, encoder):
    honest, _ = trace(name, encoder, web(), budget=steps + 1)
    noisy, _ = trace(name, encoder, Noisy(web(), set(honest[:steps])), budget=steps + 1)
    assert noisy == honest
