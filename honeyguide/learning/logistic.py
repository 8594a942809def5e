"""Logistic regression on rows that are partly dense and partly sparse, by L-BFGS."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Matrix

Numbers = NDArray[np.float64]
Places = NDArray[np.intp]
Loss = Callable[[Numbers], tuple[float, Numbers]]  # parameters -> loss, gradient

MEMORY = 10  # earlier steps from which the curvature is estimated
MOST_STEPS = 200
TOLERANCE = 3e-5  # the search ends when no component of the gradient is larger


@dataclass(frozen=True, slots=True)
class Rows:
    """One row a page: dense features, then sparse ones in `buckets` columns."""

    dense: Matrix
    row: Places  # of each sparse value, ascending
    bucket: NDArray[np.int32]  # of each sparse value
    value: NDArray[np.float32]
    buckets: int

    def __len__(self) -> int:
        return int(self.dense.shape[0])

    @property
    def width(self) -> int:
        """Number of columns, dense and sparse."""
        return int(self.dense.shape[1]) + self.buckets

    def times(self, weights: Numbers) -> Numbers:
        """rows @ weights."""
        split = self.dense.shape[1]
        sparse = self.value * weights[split:][self.bucket]
        return self.dense @ weights[:split] + np.bincount(self.row, sparse, len(self))

    def transposed_times(self, factors: Numbers) -> Numbers:
        """rows.T @ factors."""
        sparse = np.bincount(self.bucket, self.value * factors[self.row], self.buckets)
        return np.concatenate([factors @ self.dense, sparse])

    def select(self, chosen: NDArray[np.bool_]) -> "Rows":
        """The rows where the mask is true."""
        kept = chosen[self.row]
        row = (np.cumsum(chosen) - 1)[self.row[kept]]
        return Rows(self.dense[chosen], row, self.bucket[kept], self.value[kept], self.buckets)

    def with_buckets(self, used: Places) -> "Rows":
        """The same rows with these buckets only, renumbered from 0."""
        number = np.zeros(self.buckets, np.int32)
        number[used] = np.arange(len(used))
        return Rows(self.dense, self.row, number[self.bucket], self.value, len(used))


def sigmoid(logit: Numbers) -> Numbers:
    """1 / (1 + exp(-logit))."""
    return 0.5 * (1 + np.tanh(0.5 * logit))


def fit(rows: Rows, target: Numbers, penalty: float) -> tuple[Numbers, float]:
    """Weights and bias that minimise mean log loss + penalty / 2 * |weights|^2."""
    # the weights of unused buckets stay 0
    used = np.flatnonzero(np.bincount(rows.bucket, minlength=rows.buckets))
    few = rows.with_buckets(used)
    x = _minimise(*_problem(few, target, penalty))
    dense = rows.dense.shape[1]
    weights = np.zeros(rows.width)
    weights[:dense] = x[:dense]
    weights[dense + used] = x[dense:-1]
    return weights, float(x[-1])


def _problem(rows: Rows, target: Numbers, penalty: float) -> tuple[Loss, Numbers]:
    """The loss to minimise and its start; the last parameter is the bias."""
    share = float(np.clip(target.mean(), 1e-6, 1 - 1e-6))
    start = np.zeros(rows.width + 1)
    start[-1] = np.log(share / (1 - share))

    def loss(x: Numbers) -> tuple[float, Numbers]:
        weights, logit = x[:-1], rows.times(x[:-1]) + x[-1]
        value = np.logaddexp(0, logit).sum() - target @ logit
        factors = (sigmoid(logit) - target) / len(rows)
        gradient = np.append(rows.transposed_times(factors) + penalty * weights, factors.sum())
        return float(value / len(rows) + penalty / 2 * _dot(weights, weights)), gradient

    return loss, start


def _minimise(loss: Loss, x: Numbers) -> Numbers:
    """L-BFGS with backtracking line search (Nocedal 1980)."""
    value, gradient = loss(x)
    pairs: list[tuple[Numbers, Numbers]] = []
    for _ in range(MOST_STEPS):
        if np.abs(gradient).max() < TOLERANCE:
            break
        direction = -_scaled(gradient, pairs)
        descent = _dot(direction, gradient)
        length = 1.0 if pairs else 1.0 / max(1.0, float(np.abs(gradient).sum()))
        while True:
            new = x + length * direction
            new_value, new_gradient = loss(new)
            if new_value <= value + 1e-4 * length * descent or length < 1e-10:
                break
            length /= 2
        step, change = new - x, new_gradient - gradient
        x, value, gradient = new, new_value, new_gradient
        if _dot(step, change) > 1e-12:
            pairs = [*pairs, (step, change)][-MEMORY:]
    return x


def _scaled(gradient: Numbers, pairs: list[tuple[Numbers, Numbers]]) -> Numbers:
    """The gradient times the estimated inverse Hessian (two-loop recursion)."""
    q, parts = gradient.copy(), []
    for step, change in reversed(pairs):
        a = _dot(step, q) / _dot(step, change)
        parts.append(a)
        q -= a * change
    if pairs:
        step, change = pairs[-1]
        q *= _dot(step, change) / _dot(change, change)
    for (step, change), a in zip(pairs, reversed(parts), strict=True):
        q += step * (a - _dot(change, q) / _dot(step, change))
    return q


def _dot(a: Numbers, b: Numbers) -> float:
    """a @ b without BLAS, whose threads are slow to start on a busy machine."""
    return float(np.einsum("i,i->", a, b))
