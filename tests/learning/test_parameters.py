"""Adam on numbers that several processes share."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from honeyguide.learning.parameters import Parameters  # noqa: E402


def test_a_step_is_adams():
    ours = Parameters({"w": (3, 2)}, np.random.default_rng(0), step_size=0.01)
    theirs = torch.nn.Parameter(ours.copy().view(3, 2))
    adam = torch.optim.Adam([theirs], lr=0.01)
    for number in range(50):
        gradient = torch.from_numpy(np.random.default_rng(number).normal(size=(3, 2)))
        theirs.grad = gradient.float() * 10.0 ** (number % 4)
        ours.descend(theirs.grad.ravel())
        adam.step()
    assert ours.copy().numpy() == pytest.approx(theirs.detach().numpy().ravel(), abs=1e-5)


def test_no_step_is_long_because_another_process_was_in_between():
    shared = Parameters({"w": (4, 1)}, np.random.default_rng(0), step_size=0.001)
    before = shared.copy()
    shared.block[1] = 1.0  # the mean of another's gradient, whose square was lost
    shared.descend(torch.zeros(4))
    assert float((shared.copy() - before).abs().max()) < 0.011
