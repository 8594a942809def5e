"""The Markov decision process of Lim (2016): its reward, and transitions that Lim does not print.

The transitions are computed from a few probabilities, to show which of them lead to Lim's result,
"skip" in every state. The reward is the number of true features: it does not contain relevance,
and skipping keeps feature 1 true.
"""

from itertools import product

import numpy as np

from honeyguide.gates.mdp import PARSE, SKIP, Array

FEATURES = list(product((0, 1), repeat=4))  # state 8 f1 + 4 f2 + 2 f3 + f4


def lim2016_model(
    relevant: float = 0.01,  # chance that a parsed page's relevance is at least 2/3
    nothing: float = 0.5,  # chance that it is exactly 0
    same: float = 0.7,  # chance that the next link is of the same host
    fresh: float = 0.5,  # chance that another host has not been parsed yet
    promising: float = 0.1,  # chance that the next URL looks relevant
    tips: float = 0.5,  # chance that one more skip makes feature 1 of its host true
    penalty: float = 0.0,  # subtracted from the reward for skipping
) -> tuple[Array, Array]:
    """Transitions (actions x states x states) and rewards (states x actions)."""
    moves, rewards = np.zeros((2, 16, 16)), np.zeros((16, 2))
    for state, features in enumerate(FEATURES):
        rewards[state] = sum(features)
        rewards[state, SKIP] -= penalty
        for action in (SKIP, PARSE):
            before = _previous(features, action, relevant, nothing)
            here = _same_host(features, action, relevant, nothing, tips)
            there = (fresh, fresh + (1 - fresh) * (relevant + nothing))
            for chance, (little, good) in ((same, here), (1 - same, there)):
                moves[action, state] += chance * _joint(little, before, good, promising)
    return moves, rewards


def _same_host(
    features: tuple[int, ...], action: int, relevant: float, nothing: float, tips: float
) -> tuple[float, float]:
    """Chances of features 1 and 3 for the next link of the same host."""
    little, _, good, _ = features
    if action == SKIP:
        return (1.0 if little else tips), float(good)
    return (
        0.0,
        relevant + nothing * good,
    )  # parsed: feature 1 turns false; a relevance of 0 leaves feature 3 as it is


def _previous(features: tuple[int, ...], action: int, relevant: float, nothing: float) -> float:
    """Chance of feature 2 for the next link: that this link's host has a mean of at least 2/3."""
    if action == PARSE:
        return relevant
    little, _, good, _ = features
    return relevant / (relevant + nothing) if good and not little else 0.0


def _joint(*chances: float) -> Array:
    """The chance of each of 16 states, from independent chances of the features."""
    return np.array(
        [
            np.prod([chance if bit else 1 - chance for bit, chance in zip(f, chances, strict=True)])
            for f in FEATURES
        ]
    )
