"""Memories of experiences (Friar 2017, §2.4.2)."""

import numpy as np
import pytest

from honeyguide.learning.replay import Experience, RankedReplay, Replay


def experience(number, options=2):
    return Experience(
        np.full(3, number, np.float32), float(number), np.full((options, 3), number, np.float32)
    )


def filled(kind, count, room):
    memory = kind(np.random.default_rng(1), room)
    for number in range(count):
        memory.add(experience(number, number % 4))
    return memory


@pytest.mark.parametrize("kind", [Replay, RankedReplay])
def test_only_the_last_experiences_are_kept(kind):
    memory = filled(kind, 25, 10)
    assert sorted(memory[place].reward for place in range(len(memory))) == list(range(15, 25))


@pytest.mark.parametrize("kind", [Replay, RankedReplay])
def test_a_saved_memory_draws_the_same(kind):
    one, other = filled(kind, 300, 200), kind(np.random.default_rng(9), 200)
    for _ in range(7):
        drawn = one.draw(10)
        one.set_errors(drawn.places, drawn.places.astype(np.float32))
    other.load(one.state())
    for _ in range(120):
        a, b = one.draw(10), other.draw(10)
        assert a.places.tolist() == b.places.tolist()
        assert a.weights.tolist() == b.weights.tolist()
        for memory, drawn in ((one, a), (other, b)):
            memory.set_errors(drawn.places, np.sin(drawn.places).astype(np.float32))
    assert other[5].options.tolist() == one[5].options.tolist()


def test_uniform_draws_are_uniform():
    memory = filled(Replay, 20, 20)
    counts = np.bincount(memory.draw(20_000).places, minlength=20)
    assert counts.min() > 850
    assert counts.max() < 1150


def test_ranked_draws_follow_equation_2_17_and_weights_equation_2_18():
    memory = filled(RankedReplay, 50, 50)
    memory.set_errors(np.arange(50), np.arange(50, 0, -1).astype(np.float32))  # place n: rank n+1
    drawn = memory.draw(200_000)
    chance = (1 / np.arange(1, 51)) ** 0.5
    chance /= chance.sum()
    shares = np.bincount(drawn.places, minlength=50) / 200_000
    assert shares == pytest.approx(chance, rel=0.1)
    expected = (1 / (50 * chance)) / (1 / (50 * chance)).max()  # beta 1, scaled to at most 1
    by_place = dict(zip(drawn.places.tolist(), drawn.weights.tolist(), strict=True))
    assert [by_place[place] for place in range(50)] == pytest.approx(expected.tolist(), rel=1e-4)


def test_what_was_never_learnt_from_comes_first():
    memory = filled(RankedReplay, 100, 100)
    memory.set_errors(np.arange(100), np.ones(100, np.float32))
    place = memory.add(experience(7))
    for _ in range(50):
        memory.draw(1)
    counts = np.bincount(memory.draw(5000).places, minlength=100)
    assert counts.argmax() == place
