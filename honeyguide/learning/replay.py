"""Experiences kept to be learnt from again: at random, or the surprising ones first (2.4.2)."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import State, Vector

RANKED_ANEW = 50  # samples between two sortings


class Sample(NamedTuple):
    """Experiences drawn from a memory."""

    places: NDArray[np.intp]
    weights: Vector  # by how much each counts


@dataclass(frozen=True, slots=True)
class Experience:
    """A page, what it was worth, and what could be done there; no options where all ended."""

    x: NDArray[Any]
    reward: float
    options: NDArray[Any]


class Replay:
    """The last experiences, drawn uniformly."""

    def __init__(self, rng: np.random.Generator, room: int = 5000) -> None:
        self.rng = rng
        self.room = room
        self.kept: list[Experience] = []
        self._next = 0  # the oldest, once it is full

    def __len__(self) -> int:
        return len(self.kept)

    def __getitem__(self, place: int) -> Experience:
        return self.kept[place]

    def add(self, experience: Experience) -> int:
        """Keep one more, and say where; the oldest makes room."""
        place = self._next
        if len(self) < self.room:
            self.kept.append(experience)
        else:
            self.kept[place] = experience
        self._next = (place + 1) % self.room
        return place

    def draw(self, count: int) -> Sample:
        """Some experiences, each as likely as any other."""
        places = self.rng.integers(0, len(self), count)
        return Sample(places, np.ones(count, np.float32))

    def surprise(self, places: NDArray[np.intp], errors: Vector) -> None:
        """How wrong the expectations were; here it does not matter."""

    def state(self) -> State:
        """All of it, packed into few arrays."""
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
    """The last experiences, drawn by the rank of their errors (equations 2.17 and 2.18)."""

    def __init__(
        self,
        rng: np.random.Generator,
        room: int = 5000,
        alpha: float = 0.5,  # 0 draws uniformly, 1 in proportion to 1 / rank
        beta: float = 1.0,  # how much of the bias that this brings is undone
    ) -> None:
        super().__init__(rng, room)
        self.alpha, self.beta = alpha, beta
        self._errors = np.zeros(room, np.float32)
        self._order = np.empty(0, np.intp)  # places, the most surprising first
        self._upto = np.empty(0)  # P(1) + ... + P(rank)
        self._drawn = 0

    def add(self, experience: Experience) -> int:
        """Keep one more; until it was learnt from, nothing is more surprising."""
        place = super().add(experience)
        self._errors[place] = np.inf
        return place

    def draw(self, count: int) -> Sample:
        """Some experiences, those of large errors more often, and with smaller weights."""
        if self._drawn % RANKED_ANEW == 0 or len(self._order) < min(len(self), 2 * RANKED_ANEW):
            self._rank()
        self._drawn += 1
        ranks = np.searchsorted(self._upto, self.rng.random(count), side="right")
        chance = np.diff(self._upto, prepend=0.0)[ranks]
        # N of (2.18) goes away when weights are scaled to be 1 at most, as in the source [34]
        weights = (1 / (len(self) * chance)) ** self.beta
        return Sample(self._order[ranks], (weights / weights.max()).astype(np.float32))

    def surprise(self, places: NDArray[np.intp], errors: Vector) -> None:
        """How wrong the expectations were: p_i = 1 / rank(i) follows from it."""
        self._errors[places] = np.abs(errors)

    def _rank(self) -> None:
        self._order = np.argsort(-self._errors[: len(self)], kind="stable")
        self._upto = self._chances()

    def state(self) -> State:
        """Everything that `load` restores."""
        more = {"errors": self._errors[: len(self)].copy(), "drawn": self._drawn}
        return super().state() | more | {"order": self._order}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        super().load(state)
        self._errors[: len(self)] = state["errors"]
        self._order, self._drawn = state["order"].copy(), state["drawn"]
        self._upto = self._chances()

    def _chances(self) -> NDArray[np.float64]:
        """Equation (2.17), summed up to each rank."""
        priority = (1 / np.arange(1, len(self._order) + 1)) ** self.alpha
        upto: NDArray[np.float64] = np.cumsum(priority / priority.sum())
        upto[-1:] = 1.0
        return upto
