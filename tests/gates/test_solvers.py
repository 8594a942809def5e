"""Policies of parsing and skipping: the document's result, why it came, and what works instead."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.errors import HoneyguideError
from honeyguide.gates.lim2016_model import FEATURES, lim2016_model
from honeyguide.gates.mdp import PARSE, first_policy, policy_iteration
from honeyguide.gates.solvers import EstimatedPolicy, Lim2016Policy, QLearning


def parsed_states(gamma=0.9, **assumptions):
    return int(policy_iteration(*lim2016_model(**assumptions), gamma).parses.sum())


def test_transitions_are_probabilities():
    moves, rewards = lim2016_model()
    assert moves.shape == (2, 16, 16)
    assert np.allclose(moves.sum(axis=2), 1)
    assert moves.min() >= 0
    assert rewards[:, PARSE].tolist() == [sum(features) for features in FEATURES]


def test_the_documents_reward_gives_its_result_skip_in_every_state():
    assert parsed_states() == 0
    assert not any(Lim2016Policy().parses(state) for state in range(16))


def test_neither_a_penalty_nor_a_discount_near_one_changes_it_as_the_document_says():
    assert parsed_states(gamma=0.999) == 0
    assert parsed_states(gamma=0.999, penalty=0.5) == 0


def test_it_needs_relevant_pages_to_be_common_before_parsing_pays_at_all():
    # by the document's own score hardly any page reaches 2/3; docs/use/gates.md has the shares
    assert [parsed_states(relevant=p) for p in (0.0, 0.01, 0.05, 0.1)] == [0, 0, 0, 0]
    assert parsed_states(relevant=0.3) > 0


def test_it_comes_of_feature_one_which_skipping_keeps_true():
    """Where the next link is never of the same host, skipping gains nothing there."""
    assert parsed_states(same=0.0) > 0
    assert parsed_states(same=0.1) == 0


def test_skip_everywhere_does_not_come_of_the_solver():
    """With a price on a fetch and relevance in the reward, the same transitions give a policy."""
    moves, _ = lim2016_model()
    chance = np.array([0.6 if features[3] else 0.05 for features in FEATURES])
    rewards = np.stack([np.zeros(16), chance - 0.2], axis=1)
    parses = policy_iteration(moves, rewards, 0.5).parses
    assert parses.tolist() == [bool(features[3]) for features in FEATURES]


@settings(max_examples=30)
@given(
    st.integers(0, 2**32 - 1),
    st.floats(0, 0.95),
)
def test_policy_iteration_finds_a_policy_that_no_single_change_improves(seed, gamma):
    rng = np.random.default_rng(seed)
    moves = rng.dirichlet(np.ones(6), size=(2, 6))
    rewards = rng.normal(size=(6, 2))
    solution = policy_iteration(moves, rewards, gamma)
    chosen = solution.q_values[np.arange(6), solution.parses.astype(int)]
    assert np.allclose(chosen, solution.values)
    assert np.all(solution.q_values.max(axis=1) <= solution.values + 1e-6)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_without_a_discount_the_policy_is_that_of_a_discount_next_to_one(seed):
    rng = np.random.default_rng(seed)
    moves = rng.dirichlet(np.ones(6), size=(2, 6))
    rewards = rng.normal(size=(6, 2))
    undiscounted = policy_iteration(moves, rewards, 1.0)
    assert np.array_equal(undiscounted.parses, policy_iteration(moves, rewards, 1 - 1e-6).parses)
    assert np.all(np.isfinite(undiscounted.values))


def test_without_a_discount_the_mean_reward_of_a_step_decides():
    """Parsing pays once and leads to a poor state for good; skipping pays a little for ever."""
    rich, poor = [1.0, 0.0], [0.0, 1.0]
    moves = np.array([[rich, [0.01, 0.99]], [poor, [0.01, 0.99]]])
    rewards = np.array([[0.1, 5.0], [0.0, 0.0]])
    assert policy_iteration(moves, rewards, 0.5).parses[0]
    assert not policy_iteration(moves, rewards, 1.0).parses[0]


@pytest.mark.parametrize("penalty", [0.0, 0.25, 0.5, 1.0, 1.5])
def test_the_documents_gamma_of_one_gives_the_policy_of_a_discount_next_to_one(penalty):
    model = lim2016_model(penalty=penalty)
    expected = policy_iteration(*model, 0.99999).parses
    assert np.array_equal(policy_iteration(*model, 1.0).parses, expected)
    parsed = int(expected.sum())
    assert parsed == 0 if penalty <= 0.5 else parsed >= 8, "only a large penalty changes it"


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.9, 0.99, 1.0]), st.floats(0, 2))
def test_the_policy_does_not_depend_on_the_random_one_it_starts_from(seed, gamma, penalty):
    model = lim2016_model(penalty=penalty)
    first = first_policy("random", 16, np.random.default_rng(seed))
    begun, usual = policy_iteration(*model, gamma, first), policy_iteration(*model, gamma)
    assert np.array_equal(begun.parses, usual.parses)
    assert begun.rounds >= 1 + (not np.array_equal(first, usual.parses))


def test_the_first_policy_can_be_chosen():
    assert not first_policy("skip", 16).any()
    assert first_policy("parse", 16).all()
    drawn = [first_policy("random", 16, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    with pytest.raises(HoneyguideError, match="one of skip, parse, random, not 'any'"):
        first_policy("any", 16)
    with pytest.raises(HoneyguideError, match="needs a random generator"):
        first_policy("random", 16)


@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.99])
def test_values_stay_finite_where_every_page_leads_to_many(gamma):
    """Two children a page at a discount of a half are as much as the page itself, for ever."""
    one = EstimatedPolicy(gamma=gamma, every=1)
    for _ in range(200):
        one.learn(3, True, 0.5)
        for _ in range(4):
            one.learn_child(3, 3)
    value = one.q_values()[3, PARSE]
    assert 0 < value < 100
    assert one.parses(3)


def teach(solver, chance, steps=3000, seed=0):
    """Offer states at random; a parse in state s brings a relevant page with chance[s]."""
    rng = np.random.default_rng(seed)
    relevant = parsed = 0
    for state in rng.integers(16, size=steps).tolist():
        if solver.parses(state):
            found = bool(rng.random() < chance[state])
            relevant, parsed = relevant + found, parsed + 1
            solver.learn(state, found, (relevant + 1) / (parsed + 1))
    return relevant / max(parsed, 1)


@pytest.mark.parametrize("solver", [EstimatedPolicy, QLearning])
def test_states_that_bring_little_are_skipped_and_those_that_bring_much_are_parsed(solver):
    chance = np.where(np.arange(16) % 2, 0.5, 0.01)
    one = solver()
    share = teach(one, chance)
    assert sum(one.parses(state) for state in range(0, 16, 2)) <= 2, "forgotten, and tried again"
    assert sum(one.parses(state) for state in range(1, 16, 2)) >= 6
    assert share > 0.38, "against 0.255 without a gate"


@pytest.mark.parametrize("solver", [EstimatedPolicy, QLearning])
def test_a_state_that_brings_nothing_but_leads_to_what_does_is_parsed(solver):
    leads, alone, good = 0, 1, 2
    ahead, blind = solver(gamma=0.5), solver(gamma=0.0)
    for one in (ahead, blind):
        for _ in range(200):
            for state in (leads, alone, good):
                one.learn(state, state == good, 1 / 3)
            one.learn_child(leads, good)
    assert [ahead.parses(state) for state in (leads, alone, good)] == [True, False, True]
    assert [blind.parses(state) for state in (leads, alone, good)] == [False, False, True]


def test_a_state_is_measured_against_what_other_pages_brought_at_the_same_time():
    """Half as good as others in a rich hour is skipped, as good as others in a poor one is not."""
    one = EstimatedPolicy()
    rich, poor = 0, 1
    for number in range(60):
        one.learn(rich, number % 5 == 0, 0.6)
    for number in range(60):
        one.learn(poor, number % 10 == 0, 0.1)
    assert [one.parses(state) for state in (rich, poor)] == [False, True]


@pytest.mark.parametrize("solver", [EstimatedPolicy, QLearning])
def test_where_all_states_are_alike_some_are_parsed_and_nothing_is_lost(solver):
    one = solver()
    share = teach(one, np.full(16, 0.3))
    assert any(one.parses(state) for state in range(16))
    assert share == pytest.approx(0.3, abs=0.06)


@pytest.mark.parametrize("solver", [EstimatedPolicy, QLearning, Lim2016Policy])
def test_a_saved_solver_goes_on_as_if_nothing_had_happened(solver):
    chance = np.linspace(0, 0.5, 16)
    one, other = solver(), solver()
    for state in range(16):
        one.learn(state, state % 3 == 0, 0.3)
        one.learn_child(state, (state * 7) % 16)
    other.load(one.state())
    teach(one, chance, 300, seed=5)
    teach(other, chance, 300, seed=5)
    assert np.array_equal(one.q_values(), other.q_values())
