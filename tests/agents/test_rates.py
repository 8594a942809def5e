"""Settings that no agent can learn with are refused in one sentence."""

import inspect
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.contracts import Goal
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make, parts

ALLOWED = {
    "gamma": ("0 <= gamma < 1", lambda v: 0 <= v < 1),
    "step_size": ("0 < step_size", lambda v: 0 < v < math.inf),
    "epsilon": ("0 <= epsilon <= 1", lambda v: 0 <= v <= 1),
    "last_epsilon": ("0 <= last_epsilon <= 1", lambda v: 0 <= v <= 1),
    "epsilon_steps": ("0 <= epsilon_steps", lambda v: v >= 0),
}
CHECKED = [
    (agent, name)
    for agent, part in parts("agent").items()
    for name in inspect.signature(part.make).parameters
    if name in ALLOWED
]


def values(name):
    return st.integers() if name == "epsilon_steps" else st.floats() | st.floats(-2, 2)


def test_agents_of_each_family_have_such_settings():
    agents = {agent for agent, _ in CHECKED}
    assert {"dqn", "guide", "linear_sync", "url_cnn_dqn", "url_classifier"} <= agents
    assert {name for _, name in CHECKED} == set(ALLOWED)


@pytest.mark.parametrize(("agent", "name"), CHECKED)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_every_agent_refuses_what_is_outside_the_range_and_names_it(agent, name, data, encoder):
    said, fits = ALLOWED[name]
    value = data.draw(values(name).filter(lambda v: not fits(v)))
    with pytest.raises(HoneyguideError) as refused:
        goal = Goal("geology", encoder)
        make("agent", f"{agent}:{name}={value}", goal=goal, rng=np.random.default_rng(0))
    assert said in str(refused.value)
    assert f"{name}={value}" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "spec",
    [
        "dqn:gamma=0,epsilon=1",
        "guide:gamma=0.99",
        "url_linear_q:gamma=0,step_size=5,epsilon_steps=0",
    ],
)
def test_the_ends_of_the_ranges_are_allowed(spec, encoder):
    assert make("agent", spec, goal=Goal("geology", encoder), rng=np.random.default_rng(0))
