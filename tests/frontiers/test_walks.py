"""Walks: episodes over pages, driven by the same loop as any other crawl."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.agents.random_walk import RandomWalk
from honeyguide.contracts import Link
from honeyguide.engine.loop import simulate
from honeyguide.engine.navigator import Navigator
from honeyguide.errors import HoneyguideError
from honeyguide.frontiers.pool import Pool
from honeyguide.frontiers.walks import Walks

from ..webs import TinyWeb


def walk(web, starts, budget, seed=0, **settings):
    frontier = Walks(1, np.random.default_rng(seed), **settings)
    navigator = Navigator(RandomWalk(), frontier)
    names = []
    simulate(
        navigator,
        web,
        [Link(web.address(name)) for name in starts],
        budget,
        observer=lambda visit, step, now: names.append(visit.link.url.rsplit("/", 1)[1]),
    )
    return names, navigator


def ring(size, **more):
    """Pages in a circle, each with links to the next two."""
    names = [f"p{n}" for n in range(size)]
    return TinyWeb(
        {n: [names[(i + k) % size] for k in (1, 2)] for i, n in enumerate(names)}, **more
    )


def test_each_page_is_a_link_of_the_one_before_until_the_episode_ends():
    web = ring(200)
    names, _ = walk(web, ["p0"], 150, longest=200)
    assert all(after in web.links[before] for before, after in itertools.pairwise(names))


def test_a_walk_comes_back_but_never_to_the_last_pages():
    names, _ = walk(ring(20), ["p0"], 100, ignored=5, longest=200)
    assert len(set(names)) < len(names) == 100
    assert all(name not in names[max(0, n - 5) : n] for n, name in enumerate(names))


def test_a_reward_ends_an_episode_and_the_next_begins_at_a_start_page():
    web = ring(100, relevant=["p3", "p4"])
    starts = ["p0", "p50", "p70"]
    names, _ = walk(web, starts, 300, ignored=2)
    after = [names[n + 1] for n, name in enumerate(names[:-1]) if name in ("p3", "p4")]
    assert after
    assert set(after) <= set(starts)


def test_a_walk_that_finds_nothing_begins_again_after_a_while():
    names, _ = walk(ring(500), ["p0", "p100", "p200", "p300"], 100, ignored=2, longest=10)
    assert set(names[::10]) <= {"p0", "p100", "p200", "p300"}


def test_a_dead_end_ends_an_episode_too():
    web = TinyWeb({"a": ["end"], "b": ["end"], "c": ["end"], "end": []})
    names, _ = walk(web, ["a", "b", "c"], 40, ignored=1)
    assert names[1::2] == ["end"] * 20
    assert set(names[::2]) == {"a", "b", "c"}


def test_a_rewarded_page_counts_once_however_often_it_is_reached():
    web = TinyWeb({"a": ["prize"], "b": ["prize"], "prize": []}, relevant=["prize"])
    names, navigator = walk(web, ["a", "b"], 50, ignored=1)
    assert names.count("prize") == 25
    assert navigator.memory.relevant_found == 1
    assert navigator.memory.visits == 50


def test_without_a_start_page_left_a_walk_begins_at_a_page_it_has_seen():
    web = TinyWeb({"a": ["x", "y"], "x": [], "y": []})
    names, _ = walk(web, ["a"], 10)
    assert sorted(names) == ["a", "x", "y"]


def test_anywhere_means_any_page_seen():
    links = {"a": ["b", "c"], "b": ["a"], "c": ["end"], "end": []}
    names, _ = walk(TinyWeb(links), ["a"], 200, ignored=1, anywhere=True)
    after = {names[n + 1] for n, name in enumerate(names[:-1]) if name == "end"}
    assert len(after) > 1


def test_a_page_that_cannot_be_fetched_is_a_dead_end():
    web = TinyWeb({"a": ["gone"], "b": ["gone"]})
    names, _ = walk(web, ["a", "b"], 20, ignored=1)
    assert names[1::2] == ["gone"] * 10


def test_looking_in_vain_throws_no_dice():
    frontier = Walks(1, np.random.default_rng(3))
    frontier.put(*rows([0, 1]), np.full(2, np.inf, np.float32))
    first, second = frontier.take(0.0), frontier.take(0.0)
    before = frontier.rng.bit_generator.state
    assert {first.id, second.id} == {0, 1}
    assert frontier.take(0.0) is None
    assert frontier.wake(0.0) is None
    assert frontier.rng.bit_generator.state == before


def rows(ids):
    ids = np.array(ids, np.int32)
    return ids, ids, np.zeros((len(ids), 1), np.float32)


def test_with_a_temperature_links_are_drawn_by_a_softmax_of_their_scores():
    scores = np.array([0.5, 0.45, 0.3], np.float32)
    frontier = Walks(1, np.random.default_rng(0), temperature=0.1, ignored=1)
    drawn = np.zeros(3)
    for _ in range(20_000):
        frontier.put(*rows([0, 1, 2]), scores)
        taken = frontier.take(0.0)
        frontier.release(taken.id, 0.0)
        drawn[taken.id] += 1
    chances = np.exp(scores / 0.1)
    assert drawn / drawn.sum() == pytest.approx(chances / chances.sum(), abs=0.01)


@pytest.mark.parametrize("temperature", [-0.1, np.inf, np.nan])
def test_a_temperature_that_makes_no_sense_is_refused(temperature):
    with pytest.raises(HoneyguideError, match="zero or more"):
        Walks(1, np.random.default_rng(0), temperature=temperature)


def test_a_link_put_back_joins_those_that_wait():
    frontier = Walks(1, np.random.default_rng(0))
    frontier.put(*rows([0, 1, 2]), np.array([3, 2, 1], np.float32))
    taken = frontier.take(0.0)
    frontier.release(taken.id, 0.0)
    frontier.put(*rows([taken.id]), np.array([taken.score], np.float32))
    assert len(frontier) == 3
    assert frontier.take(0.0).id == 0


@given(st.integers(1, 20), st.integers(1, 80), st.integers(0, 5))
def test_a_pool_keeps_to_its_room(room, count, seed):
    pool, rng = Pool(1, room), np.random.default_rng(seed)
    for n in range(0, count, 3):
        pool.add(*rows(range(n, min(n + 3, count))), rng)
    assert len(pool) == min(room, count)
    assert len(set(pool.ids.tolist())) == len(pool)


def test_a_pool_is_a_fair_sample():
    kept = np.zeros(40)
    for seed in range(600):
        pool, rng = Pool(1, 10), np.random.default_rng(seed)
        for n in range(0, 40, 7):
            pool.add(*rows(range(n, min(n + 7, 40))), rng)
        kept[pool.ids] += 1
    assert kept.sum() == 6000
    assert kept.min() > 105  # 150 expected, standard deviation 10.6
    assert kept.max() < 195


def test_a_start_page_that_failed_is_tried_again_and_waits_but_once():
    frontier = Walks(1, np.random.default_rng(0))
    ids, hosts = np.array([0], np.int32), np.array([0], np.int32)
    x, first = np.zeros((1, 1), np.float32), np.array([np.inf], np.float32)
    frontier.put(ids, hosts, x, first)
    for _ in range(5):
        taken = frontier.take(0.0)
        assert taken is not None
        assert taken.id == 0
        frontier.release(0, 0.0)
        frontier.put(ids, hosts, x, first)  # as after a failure that may pass
    assert len(frontier._starts) == 1


def test_walks_are_counted_by_how_often_they_begin_not_by_the_pages_they_come_through():
    names, navigator = walk(ring(20), ["p0", "p1", "p2", "p3"], 60, ignored=3, longest=15)
    assert len(names) == 60
    assert navigator.frontier.begun == 4
