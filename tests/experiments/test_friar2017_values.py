"""Learnt values against optimal ones."""

import numpy as np
import pytest

from experiments.friar2017_values import histograms, separation


def test_histograms_count_every_page_once():
    optimal = np.array([1, 0.75, 0.75, 0], np.float32)
    rows = histograms(np.array([0.9, 0.5, 0.7, -0.1], np.float32), optimal, bins=10)
    assert [row["optimal"] for row in rows] == [1.0, 0.75, 0.0]
    assert [sum(row["counts"]) for row in rows] == [1, 2, 1]
    assert rows[1]["mean"] == pytest.approx(0.6)


def test_separation_is_one_for_values_in_the_right_order():
    optimal = np.array([1, 0.75, 0.5, 0], np.float32)
    assert separation(np.array([9, 5, 2, 1], np.float32), optimal) == pytest.approx(1.0)
    assert separation(np.array([1, 2, 5, 9], np.float32), optimal) == pytest.approx(-1.0)
