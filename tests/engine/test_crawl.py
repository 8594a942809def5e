import asyncio
import threading
from dataclasses import replace

import numpy as np
import pytest

from honeyguide.agents.breadth_first import BreadthFirst
from honeyguide.agents.oracle import Oracle
from honeyguide.agents.random import Random
from honeyguide.contracts import Goal, Response
from honeyguide.engine.loop import LARGE_BODY, Crawl, Limits, run_simulated, simulate
from honeyguide.engine.navigator import Navigator
from honeyguide.frontiers.best_first import BestFirst
from tests.webs import TinyWeb

CHAIN = {"a": ["b", "c"], "b": ["d"], "c": ["e", "gone"], "d": [], "e": ["a"]}


def navigator(agent, seed=0, **frontier):
    return Navigator(
        agent, BestFirst(agent.features.width, np.random.default_rng(seed), **frontier)
    )


def crawl(web, agent, budget=100, in_flight=1, seeds=("a",), seed=0, **frontier):
    trace = []
    outcome = simulate(
        navigator(agent, seed, **frontier),
        web,
        [web.find(name) for name in seeds],
        budget,
        in_flight,
        lambda visit, step, now: trace.append((visit.link.url.rsplit("/", 1)[1], now)),
    )
    return outcome, trace


def test_breadth_first_visits_in_the_order_of_discovery():
    outcome, trace = crawl(TinyWeb(CHAIN, relevant="de"), BreadthFirst())
    assert [name for name, _ in trace] == ["a", "b", "c", "d", "e", "gone"]
    assert (outcome.pages, outcome.relevant, outcome.reason) == (6, 2, "no link left")


def test_the_budget_counts_every_fetch():
    web = TinyWeb(CHAIN)
    outcome, _ = crawl(web, BreadthFirst(), budget=3, in_flight=16)
    assert len(web.asked) == outcome.pages == 3
    assert outcome.reason == "budget spent"


def test_a_simulated_day_of_delays_takes_no_waiting():
    web = TinyWeb({str(n): [str(n + 1)] for n in range(100)}, seconds={"7": 86_400.0})
    outcome, trace = crawl(web, BreadthFirst(), budget=20, seeds=("0",), delay=10.0)
    assert outcome.seconds == pytest.approx(86_400 + 19 * 10)
    assert trace[-1][1] == pytest.approx(outcome.seconds)


def test_sixteen_visits_in_flight_never_ask_a_host_twice_at_once():
    hosts = {str(n): f"h{n % 5}" for n in range(200)}
    web = TinyWeb(
        {str(n): [str(2 * n + 1), str(2 * n + 2)] for n in range(200)},
        seconds={str(n): 0.1 + n % 7 for n in range(200)},
        hosts=hosts,
    )
    crawl(web, BreadthFirst(), budget=150, in_flight=16, seeds=("0",))
    assert set(web.most_at_once.values()) == {1}


@pytest.mark.parametrize("in_flight", [1, 16])
def test_the_same_seed_gives_the_same_trace(in_flight):
    def run(seed):
        web = TinyWeb(
            {str(n): [str(3 * n + k) for k in (1, 2, 3)] for n in range(300)},
            seconds={str(n): (n * 7919 % 13) / 10 for n in range(1000)},
            hosts={str(n): f"h{n % 40}" for n in range(1000)},
        )
        return crawl(web, Random(), 200, in_flight, ("0",), seed, delay=0.5)[1]

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_the_oracle_takes_what_is_relevant_else_the_shortest_way_there():
    web = TinyWeb(
        {
            "a": ["x", "b", "r1"],
            "x": ["y"],
            "y": ["z"],
            "z": ["r2"],
            "b": ["c"],
            "c": ["r3"],
            "r1": [],
            "r2": [],
            "r3": [],
        },
        relevant=["r1", "r2", "r3"],
    )
    _, trace = crawl(web, Oracle(Goal("", None, web.truth)))
    assert [name for name, _ in trace] == ["a", "r1", "b", "c", "r3", "x", "y", "z", "r2"]


def test_a_bug_in_a_world_is_not_swallowed():
    class Broken(TinyWeb):
        async def visit(self, link):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        crawl(Broken(CHAIN), BreadthFirst())


def test_simulating_works_inside_a_running_loop_too():
    async def notebook():
        return crawl(TinyWeb(CHAIN), BreadthFirst())[0].pages

    assert asyncio.run(notebook()) == 6


def test_a_simulation_that_waits_for_nothing_says_so():
    async def forever():
        await asyncio.get_running_loop().create_future()

    with pytest.raises(RuntimeError, match="no timer is set"):
        run_simulated(forever())


def test_a_crawl_whose_agent_has_stopped_waits_for_what_is_under_way():
    web = TinyWeb({"a": ["b", "c"], "b": [], "c": []}, seconds={"b": 60.0})

    class Content(BreadthFirst):
        def stops(self, best):
            asked.append(best)
            assert len(asked) < 10, "it is asked over and over"
            return len(web.asked) == 2

    asked = []
    outcome, _ = crawl(web, Content(), in_flight=2)
    assert outcome.pages == 2


class Sent(TinyWeb):
    """A live web whose pages come with bodies of so many bytes."""

    live = True

    def __init__(self, sizes):
        super().__init__({"a": list(sizes)})
        self.sizes = sizes

    async def visit(self, link):
        visit = await super().visit(link)
        body = bytes(self.sizes.get(link.url.rsplit("/", 1)[1], 0))
        return replace(visit, response=Response(link, link.url, 200, {}, body))


class Absorbing(Navigator):
    """Notes which links were absorbed in another thread."""

    def absorb(self, visit, now):
        if threading.current_thread() is not threading.main_thread():
            self.apart.append(visit.link.url.rsplit("/", 1)[1])
        return super().absorb(visit, now)


def test_a_large_body_is_absorbed_apart_from_the_event_loop():
    web, agent = (
        Sent({"small": 1000, "large": LARGE_BODY + 1, "gone": LARGE_BODY + 1}),
        BreadthFirst(),
    )
    steering = Absorbing(agent, BestFirst(agent.features.width, np.random.default_rng(0)))
    steering.apart = []
    outcome = asyncio.run(Crawl(steering, web, Limits()).run([web.find("a")]))
    assert outcome.pages == 4
    assert sorted(steering.apart) == ["gone", "large"]
