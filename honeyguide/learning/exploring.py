"""Exploration: steps at random, with a probability that falls."""

import numpy as np

from honeyguide.contracts import State

EPSILON = 0.1  # share of steps at random, at first: walks of Friar (2017)


class Fading:
    """A chance that falls evenly from its first value to the last."""

    def __init__(
        self, rng: np.random.Generator, first: float, steps: int, last: float = 0.0
    ) -> None:
        self.first, self.steps, self.last = first, steps, last
        self._rng = rng
        self._taken = 0

    @property
    def epsilon(self) -> float:
        """The chance of the next step."""
        left = max(0.0, 1 - self._taken / max(1, self.steps))
        return self.last + (self.first - self.last) * left

    def skip(self, steps: int) -> None:
        """Be as far as after so many steps."""
        self._taken = steps

    def explores(self) -> bool:
        """Throw the dice for one step."""
        chance = self.epsilon
        self._taken += 1
        return bool(self._rng.random() < chance)

    def state(self) -> State:
        """How far it is."""
        return {"taken": self._taken, "rng": self._rng.bit_generator.state}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._taken = state["taken"]
        self._rng.bit_generator.state = state["rng"]
