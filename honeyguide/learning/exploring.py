"""Exploration: random steps with a probability that falls linearly."""

from dataclasses import dataclass

import numpy as np

from honeyguide.contracts import State

EPSILON = 0.1  # share of random steps at first, in the walks of Friar (2017)


def annealed(first: float, last: float, steps: int, taken: int) -> float:
    """A value that falls linearly from `first` to `last` in `steps` steps (Pertejo 2021, A.7)."""
    left = max(0.0, 1 - taken / max(1, steps))
    return last + (first - last) * left


@dataclass(frozen=True, slots=True)
class Annealing:
    """The share of random steps after a number of steps; constant if `steps` is 0."""

    first: float
    last: float
    steps: int

    def __call__(self, taken: int) -> float:
        """The share after so many steps."""
        return annealed(self.first, self.last, self.steps, taken) if self.steps else self.first


class EpsilonDecay:
    """A probability that falls linearly from `first` to `last` in `steps` steps."""

    def __init__(
        self, rng: np.random.Generator, first: float, steps: int, last: float = 0.0
    ) -> None:
        self.first, self.steps, self.last = first, steps, last
        self._rng = rng
        self._taken = 0

    @property
    def epsilon(self) -> float:
        """The probability that the next step is random."""
        return annealed(self.first, self.last, self.steps, self._taken)

    def set_steps(self, steps: int) -> None:
        """Set the number of steps taken."""
        self._taken = steps

    def explores(self) -> bool:
        """Count one step and return whether it is random."""
        epsilon = self.epsilon
        self._taken += 1
        return bool(self._rng.random() < epsilon)

    def state(self) -> State:
        """The steps taken and the generator."""
        return {"taken": self._taken, "rng": self._rng.bit_generator.state}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._taken = state["taken"]
        self._rng.bit_generator.state = state["rng"]
