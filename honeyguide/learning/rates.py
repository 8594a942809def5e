"""The allowed ranges of the settings that learning agents share."""

import math

from honeyguide.errors import HoneyguideError


def check_rates(
    agent: str,
    gamma: float = 0.0,
    step_size: float = 1.0,
    *,
    epsilon: float = 0.0,
    last_epsilon: float = 0.0,
    epsilon_steps: int = 0,
) -> None:
    """Refuse a discount, step size or share of random steps that no agent can learn with."""
    ranges = (
        ("0 <= gamma < 1", "gamma", gamma, 0 <= gamma < 1),
        ("0 < step_size", "step_size", step_size, 0 < step_size < math.inf),
        ("0 <= epsilon <= 1", "epsilon", epsilon, 0 <= epsilon <= 1),
        ("0 <= last_epsilon <= 1", "last_epsilon", last_epsilon, 0 <= last_epsilon <= 1),
        ("0 <= epsilon_steps", "epsilon_steps", epsilon_steps, epsilon_steps >= 0),
    )
    for allowed, name, value, fits in ranges:
        if not fits:
            raise HoneyguideError(f"{agent} needs {allowed}, not {name}={value}")
