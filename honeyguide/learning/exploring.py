"""Exploration: random steps with a probability that falls linearly."""

import numpy as np

from honeyguide.contracts import State

EPSILON = 0.1  # share of random steps at first, in the walks of Friar (2017)


def annealed(first: float, last: float, steps: int, taken: int) -> float:
    """A value that falls linearly from `first` to `last` in `steps` steps (Pertejo 2021, A.7)."""
    left = max(0.0, 1 - taken / max(1, steps))
    return last + (first - last) * left


class EpsilonDecay:
    """A probability that falls linearly from `first` to `last` in `steps` steps."""

    def __init__(
        self, rng: np.random.Generator, first: float, steps: int, last: float = 0.0
    ) -> None:
        self.first, self.steps, self.last = first, steps, last
        self._rng = rng
        self._taken = 0

    @property
    def taken(self) -> int:
        """The number of steps taken."""
        return self._taken

    @property
    def epsilon(self) -> float:
        """The probability that the next step is random."""
        return annealed(self.first, self.last, self.steps, self._taken)

    def set_steps(self, steps: int) -> None:
        """Set the number of steps taken."""
        self._taken = steps

    def is_random(self) -> bool:
        """Whether a step that does not count is random."""
        return bool(self._rng.random() < self.epsilon)

    def explores(self) -> bool:
        """Count one step and return whether it is random."""
        random = self.is_random()
        self._taken += 1
        return random

    def state(self) -> State:
        """The steps taken and the generator."""
        return {"taken": self._taken, "rng": self._rng.bit_generator.state}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._taken = state["taken"]
        self._rng.bit_generator.state = state["rng"]


def epsilon_greedy(
    rng: np.random.Generator, epsilon: float, last_epsilon: float, epsilon_steps: int
) -> EpsilonDecay:
    """Choices with these settings of an agent; without steps, epsilon stays as it is."""
    return EpsilonDecay(rng, epsilon, epsilon_steps, last_epsilon if epsilon_steps else epsilon)
