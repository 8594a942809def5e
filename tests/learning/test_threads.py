"""Small networks use one thread, unless somebody says otherwise."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from honeyguide.contracts import Goal  # noqa: E402
from honeyguide.registry import make  # noqa: E402

DEEP = ("dqn", "dqn_outputs", "url_cnn_dqn", "url_async_dqn")


def threads_of(agent, encoder):
    """Those that torch uses after an agent was made, where there were two before."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        make("agent", agent, goal=Goal("geology", encoder), rng=np.random.default_rng(0))
        return torch.get_num_threads()
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("agent", DEEP)
def test_deep_agents_use_one_thread_by_default(agent, encoder, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert threads_of(agent, encoder) == 1


def test_whoever_sets_the_usual_variable_decides_on_threads(encoder, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert threads_of("url_cnn_dqn", encoder) == 2
