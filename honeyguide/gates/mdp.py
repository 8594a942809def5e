"""Policy iteration on a small Markov decision process (Lim 2016, §4.3)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SKIP, PARSE = 0, 1


class Solution(NamedTuple):
    """An optimal policy and its values."""

    parses: NDArray[np.bool_]  # by state: whether to parse
    values: Array  # by state
    q_values: Array  # states x actions


def policy_iteration(
    transitions: Array,  # actions x states x states: probabilities
    rewards: Array,  # states x actions
    gamma: float,
) -> Solution:
    """Evaluate a policy exactly and improve it, until it is optimal; ties are skipped."""
    states = len(rewards)
    parses = np.zeros(states, np.bool_)
    each = np.arange(states)
    for _ in range(2 * states):  # an upper bound: each round improves the policy
        actions = parses.astype(int)
        moves = transitions[actions, each]
        values = np.linalg.solve(np.eye(states) - gamma * moves, rewards[each, actions])
        q_values = rewards + gamma * np.einsum("ast,t->sa", transitions, values)
        better = q_values[:, PARSE] > q_values[:, SKIP] + 1e-9
        if np.array_equal(better, parses):
            break
        parses = better
    return Solution(parses, values, q_values)
