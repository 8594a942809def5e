"""The optimal value function by breadth-first search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.contracts import Truth
from honeyguide.learning.optimal import hops_to_reward, optimal_values


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
