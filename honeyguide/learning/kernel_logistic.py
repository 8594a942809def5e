"""Logistic regression from few answers: a Gaussian process whose mean is what is known before."""

import numpy as np

from honeyguide.learning.logistic import Numbers, sigmoid

MOST_STEPS = 50
TOLERANCE = 1e-6  # the search ends when no factor changes by more


def fit(kernel: Numbers, prior: Numbers, target: Numbers, weight: Numbers) -> Numbers:
    """The factors `a` with which prior + kernel @ a are the most probable logits, shape (answers,).

    `prior` are the logits before any answer; targets are in [0, 1]; an answer with weight 2 counts
    as two. Newton's method (Rasmussen and
    Williams 2006, algorithm 3.1).
    """
    factors = np.zeros(len(target))
    for _ in range(MOST_STEPS):
        shift = kernel @ factors
        likely = sigmoid(prior + shift)
        curvature = np.maximum(weight * likely * (1 - likely), 1e-9)
        right = curvature * shift + weight * (target - likely)
        root = np.sqrt(curvature)
        system = np.eye(len(target)) + root[:, None] * kernel * root
        better = right - root * np.linalg.solve(system, root * (kernel @ right))
        change, factors = np.abs(better - factors).max(initial=0.0), better
        if change < TOLERANCE:
            break
    return factors
