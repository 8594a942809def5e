"""Policy iteration on a small Markov decision process (Lim 2016, §4.3)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SKIP, PARSE = 0, 1


class Solution(NamedTuple):
    """The best policy there is."""

    parses: NDArray[np.bool_]  # by state
    values: Array  # by state
    worths: Array  # states x actions


def policy_iteration(
    transitions: Array,  # actions x states x states: probabilities
    rewards: Array,  # states x actions
    gamma: float,
) -> Solution:
    """Evaluate a policy exactly, improve it, until it stays; skips where both are the same."""
    states = len(rewards)
    parses = np.zeros(states, np.bool_)
    each = np.arange(states)
    for _ in range(2 * states):  # it ends long before: each round is strictly better
        actions = parses.astype(int)
        moves = transitions[actions, each]
        values = np.linalg.solve(np.eye(states) - gamma * moves, rewards[each, actions])
        worths = rewards + gamma * np.einsum("ast,t->sa", transitions, values)
        better = worths[:, PARSE] > worths[:, SKIP] + 1e-9
        if np.array_equal(better, parses):
            break
        parses = better
    return Solution(parses, values, worths)
