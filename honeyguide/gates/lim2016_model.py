"""Lim's (2016) decision process: its reward, and transitions that it does not print.

The transitions are stated here by chances, so that anyone can see which of them lead to its
result, "skip" in every state. The reward is the number of true features: relevance found is not
in it, and skipping keeps feature 1 true.
"""

from itertools import product

import numpy as np

from honeyguide.gates.mdp import PARSE, SKIP, Array

FEATURES = list(product((0, 1), repeat=4))  # state 8 f1 + 4 f2 + 2 f3 + f4


def document_model(
    relevant: float = 0.01,  # chance that a parsed page's relevance is at least 2/3
    nothing: float = 0.5,  # chance that it is exactly 0
    same: float = 0.7,  # chance that the next link is of the same host
    fresh: float = 0.5,  # chance that another host has not been parsed yet
    promising: float = 0.1,  # chance that the next URL looks relevant
    tips: float = 0.5,  # chance that one more skip makes a host a mostly skipped one
    penalty: float = 0.0,  # taken off the reward for skipping
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
    return 0.0, relevant + nothing * good  # parsed: no longer little; 0 leaves a record as it is


def _previous(features: tuple[int, ...], action: int, relevant: float, nothing: float) -> float:
    """The chance that this host, which is the previous one then, has a mean of 2/3."""
    if action == PARSE:
        return relevant
    little, _, good, _ = features
    return relevant / (relevant + nothing) if good and not little else 0.0


def _joint(*chances: float) -> Array:
    """The chance of each state when its features are independent."""
    return np.array(
        [
            np.prod([chance if bit else 1 - chance for bit, chance in zip(f, chances, strict=True)])
            for f in FEATURES
        ]
    )
