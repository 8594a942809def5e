"""A crawl that waits for nothing takes a shorter way, and must not be told apart."""

import asyncio

import numpy as np

from honeyguide.contracts import Verdict
from honeyguide.engine.loop import Crawl, Limits, run_simulated
from honeyguide.engine.navigator import Navigator
from honeyguide.frontiers.block import Hosts
from honeyguide.recorded.graph import Graph
from honeyguide.recorded.writer import write_arrays
from honeyguide.registry import make
from honeyguide.worlds.synthetic import SyntheticWorld


def crawl(seconds, notes):
    world = SyntheticWorld(lambda page: Verdict(0.0, False), pages=1000, seed=1)
    agent = make("agent", "random_walk")
    rng = np.random.default_rng(5)
    frontier = make("frontier", "walks", width=agent.features.width, rng=rng)
    limits = Limits(pages=200, seconds=seconds)
    observer = lambda visit, step, now: notes.append(visit.link.url)  # noqa: E731
    made = Crawl(Navigator(agent, frontier), world, limits, 1, observer)
    return made, world.sample(100, np.random.default_rng(1))


def test_a_limit_of_time_far_away_changes_nothing():
    short, long = [], []
    for seconds, notes in ((float("inf"), short), (1e9, long)):
        made, seeds = crawl(seconds, notes)
        assert run_simulated(made.run(seeds)).reason == "budget spent"
    assert len(short) == 200
    assert short == long


def test_others_have_their_turn_while_it_runs():
    made, seeds = crawl(float("inf"), [])

    async def both():
        running = asyncio.create_task(made.run(seeds))
        turns = 0
        while not running.done():
            await asyncio.sleep(0)
            turns += 1
        return turns

    assert run_simulated(both()) >= 10


def test_it_ends_soon_when_told_to_stop():
    notes = []
    made, seeds = crawl(float("inf"), notes)
    made.observer = lambda visit, step, now: (
        notes.append(1) or (made.stop("enough") if len(notes) == 7 else None)
    )
    assert run_simulated(made.run(seeds)).reason == "enough"
    assert len(notes) == 7


def test_every_page_of_a_large_record_is_found_by_its_url(tmp_path):
    count = 30_000
    urls = [f"http://h{page % 97}.example/{page * 31}" for page in range(count)]
    offsets = np.zeros(count + 1, np.int64)
    write_arrays(tmp_path / "web", urls, offsets, np.empty(0, np.int32))
    graph = Graph.open(tmp_path / "web")
    assert [graph.index(urls[page]) for page in range(0, count, 61)] == list(range(0, count, 61))
    assert graph.index("http://h1.example/nowhere") == -1


def test_a_link_of_the_page_just_read_leads_to_the_same_page(tmp_path):
    urls = [f"http://h.example/{page}" for page in range(9)]
    targets = np.array([3, 5, 8], np.int32)
    offsets = np.array([0, 3, *[3] * 8], np.int64)
    write_arrays(tmp_path / "web", urls, offsets, targets)
    graph = Graph.open(tmp_path / "web")
    before = [graph.index(url) for url in urls]
    graph.page(0)
    assert [graph.index(url) for url in urls] == before == list(range(9))


def test_all_hosts_are_ready_when_each_of_them_may_be_requested():
    hosts = Hosts(delay=2.0)
    hosts.grow(3)
    assert hosts.all_ready(0.0)
    before = hosts.start(1, 0.0)
    assert not hosts.all_ready(10.0)
    hosts.end(1, before, 10.0, None)
    assert not hosts.all_ready(11.0)
    assert hosts.all_ready(12.0)
    again = Hosts(delay=2.0)
    again.load(hosts.state())
    assert not again.all_ready(11.0)
    assert again.all_ready(12.0)
    hosts.start(2, 12.0)
    hosts.cancel(2, before)
    assert hosts.may_ask(np.array([0, 1, 2], np.int32), 12.0).all()
