"""The gate acts only while it knows more than the agent that wears it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.gates.hindsight import Hindsight
from honeyguide.learning.ranking import roc_auc
from honeyguide.plan import Plan
from tests.gates.test_parse_or_skip import crawl


def looked_back(agent, gate, pages=300, every=3):
    """After pages of which some are relevant; each knows, or guesses."""
    rng = np.random.default_rng(1)
    hindsight = Hindsight()
    for id in range(pages):
        relevant = id % every == 0
        thoughts = [float(relevant) if knows else rng.random() for knows in (agent, gate)]
        hindsight.expect(id, *thoughts)
        hindsight.learn(id, relevant)
    return hindsight


def test_the_gate_acts_when_it_knows_and_the_agent_guesses():
    assert looked_back(agent=False, gate=True).gate_ranks_better


def test_one_page_in_many_may_be_luck_and_proves_nothing():
    assert not looked_back(agent=False, gate=True, every=150).gate_ranks_better


@pytest.mark.parametrize("gate", [True, False])
def test_it_stands_aside_for_an_agent_that_knows(gate):
    assert not looked_back(agent=True, gate=gate).gate_ranks_better


def test_it_goes_on_from_a_saved_state():
    half, whole = looked_back(False, True, 105), looked_back(False, True, 105)
    again = Hindsight()
    again.load(half.state())
    for hindsight in (whole, again):
        for id in range(200, 350):
            hindsight.expect(id, float(id % 2), 0.0)
            hindsight.learn(id, bool(id % 2))
    assert again.gate_ranks_better is whole.gate_ranks_better is False
    np.testing.assert_array_equal(again.state()["pages"], whole.state()["pages"])


def test_an_oracle_is_not_held_up_by_the_gate():
    plan = {"world": "synthetic:pages=3000", "judge": "label:geology", "seeds": ("geology",)}
    bare = Plan(agent="oracle", budget=200, **plan)
    worn = Plan(agent="oracle", budget=200, gate="parse_or_skip", **plan)
    opened = bare.open(remember=True)
    alone, behind = crawl(opened, bare)[0], crawl(opened, worn)[0]
    assert behind[-1] >= 0.98 * alone[-1]


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=40))
def test_roc_auc_counts_pairs_and_halves_of_ties(rows):
    above = [a for a, yes in rows if yes]
    below = [b for b, yes in rows if not yes]
    pairs = [(a > b) + 0.5 * (a == b) for a in above for b in below]
    expected = np.mean(pairs) if pairs else 0.5
    assert roc_auc(*zip(*rows, strict=True)) == pytest.approx(expected)
