import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.harness.ratios import bootstrap, geometric_mean, ratio

runs = st.lists(st.integers(0, 500).map(float), min_size=1, max_size=6)


@given(st.lists(st.tuples(runs, runs), min_size=1, max_size=5))
def test_a_ratio_lies_within_its_bounds(pairs):
    found = bootstrap(pairs, np.random.default_rng(0))
    assert found.ratio == pytest.approx(geometric_mean([ratio(*pair) for pair in pairs]))
    lowest = min(max(min(f), 0.5) / max(*b, 0.5) for f, b in pairs)
    highest = max(max(*f, 0.5) / max(min(b), 0.5) for f, b in pairs)
    assert lowest * 0.999 <= found.low <= found.high <= highest * 1.001


def test_without_chance_the_interval_is_the_ratio():
    found = bootstrap([([20.0] * 5, [10.0] * 5)] * 3, np.random.default_rng(0))
    assert found == pytest.approx((2.0, 2.0, 2.0))


def test_more_runs_that_vary_less_make_it_surer():
    generator = np.random.default_rng(1)

    def width(sd):
        pairs = [(generator.normal(100, sd, 5), generator.normal(50, sd, 5)) for _ in range(8)]
        found = bootstrap([(a.tolist(), b.tolist()) for a, b in pairs], np.random.default_rng(0))
        return found.high - found.low

    assert width(1) < width(20)


def test_twice_and_half_as_much_are_as_much():
    assert geometric_mean([2.0, 0.5]) == pytest.approx(1.0)


def test_finding_nothing_has_a_finite_ratio():
    assert ratio([0.0, 0.0], [0.0]) == 1.0
    assert ratio([10.0], [0.0]) == 20.0
