"""Replay memories: uniform, and prioritised by the rank of errors (Friar 2017, §2.4.2)."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import State, Vector

SORT_EVERY = 50  # draws


class Sample(NamedTuple):
    """Experiences drawn from a replay memory, by their places in it."""

    places: NDArray[np.intp]
    weights: Vector  # importance-sampling weight of each


@dataclass(frozen=True, slots=True)
class Experience:
    """A state, its reward and the next options; no options at the end of an episode."""

    x: NDArray[Any]
    reward: float
    options: NDArray[Any]


class Replay:
    """The last `room` experiences, drawn uniformly."""

    def __init__(self, rng: np.random.Generator, room: int = 5000) -> None:
        self.rng = rng
        self.room = room
        self.kept: list[Experience] = []
        self._next = 0  # place of the next one: that of the oldest, once it is full

    def __len__(self) -> int:
        return len(self.kept)

    def __getitem__(self, place: int) -> Experience:
        return self.kept[place]

    def add(self, experience: Experience) -> int:
        """Store an experience, in place of the oldest if it is full, and return its place."""
        place = self._next
        if len(self) < self.room:
            self.kept.append(experience)
        else:
            self.kept[place] = experience
        self._next = (place + 1) % self.room
        return place

    def draw(self, count: int) -> Sample:
        """Draw `count` experiences uniformly, with replacement."""
        places = self.rng.integers(0, len(self), count)
        return Sample(places, np.ones(count, np.float32))

    def set_errors(self, places: NDArray[np.intp], errors: Vector) -> None:
        """Do nothing: errors do not matter to uniform draws."""

    def state(self) -> State:
        """Everything that `load` restores, packed into few arrays."""
        rows = [e.options for e in self.kept]
        return {
            "x": np.array([e.x for e in self.kept]),
            "reward": np.array([e.reward for e in self.kept]),
            "counts": np.array([len(options) for options in rows], np.int64),
            "options": np.concatenate(rows) if rows else np.empty((0, 0)),
            "next": self._next,
            "rng": self.rng.bit_generator.state,
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        ends = np.cumsum(state["counts"])
        options = np.split(state["options"], ends[:-1]) if len(ends) else []
        together = zip(state["x"], state["reward"].tolist(), options, strict=True)
        self.kept = [Experience(x.copy(), reward, rows.copy()) for x, reward, rows in together]
        self._next = state["next"]
        self.rng.bit_generator.state = state["rng"]


class RankedReplay(Replay):
    """The last `room` experiences, drawn by the rank of their errors (equations 2.17 and 2.18)."""

    def __init__(
        self,
        rng: np.random.Generator,
        room: int = 5000,
        alpha: float = 0.5,  # 0 draws uniformly, 1 in proportion to 1 / rank
        beta: float = 1.0,  # share of the bias of such draws that the weights correct
    ) -> None:
        super().__init__(rng, room)
        self.alpha, self.beta = alpha, beta
        self._errors = np.zeros(room, np.float32)
        self._order = np.empty(0, np.intp)  # places, the largest error first
        self._cumulative = np.empty(0)  # P(1) + ... + P(rank)
        self._drawn = 0

    def add(self, experience: Experience) -> int:
        """Store an experience with an infinite error, so that it ranks first until it is drawn."""
        place = super().add(experience)
        self._errors[place] = np.inf
        return place

    def draw(self, count: int) -> Sample:
        """Draw `count` experiences, those with large errors more often and with smaller weights."""
        if self._drawn % SORT_EVERY == 0 or len(self._order) < min(len(self), 2 * SORT_EVERY):
            self._rank()
        self._drawn += 1
        ranks = np.searchsorted(self._cumulative, self.rng.random(count), side="right")
        chance = np.diff(self._cumulative, prepend=0.0)[ranks]
        # scaled to at most 1, as in Schaul et al. (2016), so that N of (2.18) has no effect
        weights = (1 / (len(self) * chance)) ** self.beta
        return Sample(self._order[ranks], (weights / weights.max()).astype(np.float32))

    def set_errors(self, places: NDArray[np.intp], errors: Vector) -> None:
        """Set the errors that rank experiences: p_i = 1 / rank(i)."""
        self._errors[places] = np.abs(errors)

    def _rank(self) -> None:
        self._order = np.argsort(-self._errors[: len(self)], kind="stable")
        self._cumulative = self._cumulative_probabilities()

    def state(self) -> State:
        """Everything that `load` restores."""
        more = {"errors": self._errors[: len(self)].copy(), "drawn": self._drawn}
        return super().state() | more | {"order": self._order}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        super().load(state)
        self._errors[: len(self)] = state["errors"]
        self._order, self._drawn = state["order"].copy(), state["drawn"]
        self._cumulative = self._cumulative_probabilities()

    def _cumulative_probabilities(self) -> NDArray[np.float64]:
        """Cumulative probabilities of ranks, by equation (2.17)."""
        priority = (1 / np.arange(1, len(self._order) + 1)) ** self.alpha
        cumulative: NDArray[np.float64] = np.cumsum(priority / priority.sum())
        cumulative[-1:] = 1.0
        return cumulative
