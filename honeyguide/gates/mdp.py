"""Policy iteration on a small Markov decision process (Lim 2016, §4.3)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import HoneyguideError

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]  # by state: whether to parse
SKIP, PARSE = 0, 1
FIRST = ("skip", "parse", "random")  # policies to start from
SURELY_BETTER = 1e-9  # a smaller lead of parsing is rounding: ties are skipped


class Solution(NamedTuple):
    """An optimal policy and its values."""

    parses: Mask
    values: Array  # by state
    q_values: Array  # states x actions
    rounds: int = 0  # policies that were evaluated


def first_policy(name: str, states: int, rng: np.random.Generator | None = None) -> Mask:
    """The policy to start from: skip or parse in every state, or either at random (step 1)."""
    if name not in FIRST:
        raise HoneyguideError(f"the first policy is one of {', '.join(FIRST)}, not {name!r}")
    if name != "random":
        return np.full(states, name == "parse")
    if rng is None:
        raise HoneyguideError("a random first policy needs a random generator")
    return rng.integers(2, size=states).astype(np.bool_)


def policy_iteration(
    transitions: Array,  # actions x states x states: probabilities
    rewards: Array,  # states x actions
    gamma: float,  # 1: the mean reward of a step is maximised, since sums would be infinite
    first: Mask | None = None,  # the policy to start from; None skips in every state
) -> Solution:
    """Evaluate a policy exactly and improve it, until it is optimal; ties are skipped."""
    states = len(rewards)
    parses = np.zeros(states, np.bool_) if first is None else first
    each = np.arange(states)
    evaluate = _relative_values if gamma == 1 else _discounted_values
    rounds = 0
    while rounds < 2 * states:  # an upper bound: each round improves the policy
        rounds += 1
        actions = parses.astype(int)
        values, mean = evaluate(transitions[actions, each], rewards[each, actions], gamma)
        q_values = rewards + gamma * np.einsum("ast,t->sa", transitions, values) - mean
        better = q_values[:, PARSE] > q_values[:, SKIP] + SURELY_BETTER
        if np.array_equal(better, parses):
            break
        parses = better
    return Solution(parses, values, q_values, rounds)


def _discounted_values(moves: Array, rewards: Array, gamma: float) -> tuple[Array, float]:
    """Solve V = R + gamma P V."""
    return np.linalg.solve(np.eye(len(rewards)) - gamma * moves, rewards).astype(np.float64), 0.0


def _relative_values(moves: Array, rewards: Array, gamma: float) -> tuple[Array, float]:
    """Solve V + g = R + P V with V = 0 in the last state; g is the mean reward (Howard 1960).

    Without a discount V itself is infinite. The policy must lead from all states into one class of
    states, which it does where one state can follow every other.
    """
    system = np.eye(len(rewards)) - moves
    system[:, -1] = 1.0  # its unknown is g
    solved = np.linalg.solve(system, rewards)
    return np.append(solved[:-1], 0.0), float(solved[-1])
