"""The frontier of pairs of Pertejo (2021)."""

import asyncio

import numpy as np
import pytest

pytest.importorskip("torch")

from experiments.harness.experiment import Entry, Task, Trial
from experiments.pertejo2021_pairs import Pair, _Crawl, _Pairs, rehearsed_on_pairs
from honeyguide.contracts import Goal, Link
from honeyguide.registry import make

from ..webs import TinyWeb

RNG = np.random.default_rng(0)


def pair(id):
    return Pair(id, f"http://x.example/{id}", np.zeros(2, np.float32), 0.0)


def test_the_best_pair_comes_first_and_each_but_once():
    pairs = _Pairs(np.random.default_rng(0))
    for id, score in ((1, 0.5), (2, 0.9), (1, 0.7)):
        pairs.add(pair(id), score)
    assert [pairs.pop(False).id for _ in range(3)] == [2, 1, 1]
    assert pairs.pop(False) is None


def test_pairs_drawn_at_random_are_not_taken_again():
    pairs = _Pairs(np.random.default_rng(0))
    for id in range(20):
        pairs.add(pair(id), float(id))
    taken = [pairs.pop(at_random=bool(n % 2)).id for n in range(20)]
    assert sorted(taken) == list(range(20))
    assert pairs.pop(at_random=True) is None


def test_pages_fetched_on_the_way_weigh_the_words_of_an_encoder_that_listens(encoder):
    class Listening:
        def __init__(self):
            self.heard = []

        def observe(self, text):
            self.heard.append(text)

    words = {name: f"All about {name}" for name in ("a", "b", "c")}
    world = TinyWeb({"a": ["b", "c"], "b": [], "c": []}, words=words)
    agent = make("agent", "dqn_outputs:pages=9", goal=Goal("x", encoder), rng=RNG)
    listening = Listening()
    crawl = _Crawl(agent, world, RNG, listening)
    asyncio.run(crawl.run([Link(world.address("a"))], 5))
    assert len(listening.heard) == 3
    assert all("All about" in text for text in listening.heard)


def test_a_step_to_a_page_visited_meanwhile_counts_as_no_page():
    task = Task(
        name="geology",
        web="synthetic:pages=500",
        topic="geology",
        judge="label:geology",
        seeds=("geology",),
        budget=150,
    )
    entry = Entry(name="pairs", agent="dqn_outputs:pages=500")
    found = rehearsed_on_pairs(Trial(part="network", task=task, entry=entry), task.web, 0)
    assert found["wasted"] > 0
    assert found["pages"] == 150 + 1, "the seed is not a step"
    assert 0 < found["relevant"] <= found["pages"]
    assert len(found["curve"]) > 1
