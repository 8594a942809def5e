"""Chance for one page: a stream of draws that a key and a page decide, the same on any machine."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TypeVar

from honeyguide.worlds.synthetic.chance import draw, draws

T = TypeVar("T")
_BATCH = 16
_WHOLE = 1 << 53  # floats have so many bits


class Dice:
    """Draws in a row."""

    __slots__ = ("_batches", "_key", "_waiting")

    def __init__(self, key: int, *numbers: int) -> None:
        self._key = draw(key, *numbers)
        self._batches = 0
        self._waiting: list[int] = []

    def bits(self) -> int:
        """64 random bits."""
        if not self._waiting:
            self._waiting = draws(draw(self._key, self._batches), _BATCH)
            self._batches += 1
        return self._waiting.pop()

    def share(self) -> float:
        """A number in [0, 1)."""
        return (self.bits() >> 11) / _WHOLE

    def number(self, least: int, most: int) -> int:
        """A whole number from `least` to `most`, both included."""
        return least + self.bits() % (most - least + 1)

    def pick(self, choices: Sequence[T]) -> T:
        """One of these, each as likely as any other."""
        return choices[self.bits() % len(choices)]

    def early(self, choices: Sequence[T], lean: float) -> T:
        """One of these, those at the beginning more often: the more `lean` is above 1."""
        return choices[int(len(choices) * self.share() ** lean)]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """One of these, as often as its weight says."""
        choices, steps = list(weights), list(accumulate(weights.values()))
        place = bisect_right(steps, self.share() * steps[-1])
        return choices[min(place, len(choices) - 1)]
