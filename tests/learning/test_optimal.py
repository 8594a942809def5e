"""The optimal value function by breadth-first search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.contracts import Truth
from honeyguide.learning.optimal import histograms, hops_to_reward, optimal_values, separation


def truth_of(links, rewards):
    offsets = np.cumsum([0, *map(len, links)])
    targets = np.array([to for row in links for to in row], np.int32)
    relevant = np.isin(np.arange(len(links)), rewards)
    return Truth(lambda url: -1, relevant, offsets, targets)


def test_a_page_is_worth_gamma_to_the_power_of_its_hops():
    truth = truth_of([[1], [2], [], [0, -1], []], [2])
    assert optimal_values(truth, 0.75).tolist() == pytest.approx([0.5625, 0.75, 1, 0.421875, 0])


webs = st.integers(1, 12).flatmap(
    lambda size: st.tuples(
        st.lists(st.lists(st.integers(-1, size - 1), max_size=4), min_size=size, max_size=size),
        st.lists(st.integers(0, size - 1), max_size=3),
    )
)


@given(webs)
def test_values_are_those_of_the_best_link_one_step_on(web):
    links, rewards = web
    truth = truth_of(links, rewards)
    values, hops = optimal_values(truth, 0.5), hops_to_reward(truth, truth.relevant)
    for page, row in enumerate(links):
        best = max((values[to] for to in row if to >= 0), default=0.0)
        assert values[page] == (1.0 if page in rewards else 0.5 * best)
        assert (hops[page] < 0) == (values[page] == 0)


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
