"""Chance in what is chosen."""

import numpy as np
import pytest

from honeyguide.networks.exploring import Softmax


def test_the_best_score_is_a_draw_from_a_softmax_of_the_values():
    values = np.array([0.5, 0.45, 0.3], np.float32)
    softmax = Softmax(np.random.default_rng(0), temperature=0.1)
    drawn = np.bincount([softmax(values).argmax() for _ in range(20_000)], minlength=3) / 20_000
    chances = np.exp(values / 0.1)
    assert drawn == pytest.approx(chances / chances.sum(), abs=0.01)


def test_without_temperature_values_are_scores():
    values = np.array([0.5, 0.45], np.float32)
    assert Softmax(np.random.default_rng(0), temperature=0.0)(values).tolist() == values.tolist()


def test_a_saved_draw_is_repeated():
    values = np.zeros(5, np.float32)
    softmax = Softmax(np.random.default_rng(0), temperature=0.1)
    state = softmax.state()
    first = softmax(values)
    other = Softmax(np.random.default_rng(9), temperature=0.1)
    other.load(state)
    assert other(values).tolist() == first.tolist()
