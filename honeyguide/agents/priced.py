"""Wraps an agent and subtracts a price for each second that a fetch takes (Friar 2017, §4.2.3)."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from honeyguide.agents.wrapped import Wrapped
from honeyguide.contracts import (
    Accumulating,
    Agent,
    Candidates,
    Features,
    Ids,
    Matrix,
    MemoryView,
    Outlinks,
    Reasons,
    Step,
    Upgradable,
    Vector,
    nbytes_of,
)
from honeyguide.errors import HoneyguideError

PRICE = "the seconds that its page takes"


class Priced(Wrapped):
    """Scores links by another agent's score less a price for each second of their fetch.

    The wrapped agent learns without the price: the value of a page does not depend on how long it
    takes to fetch.
    """

    def __init__(
        self,
        agent: Agent,
        seconds: Callable[[str], float],  # URL -> seconds that its page takes
        price: float,  # of a second, in rewards
        most: float = 1.0,  # seconds of a page that has to be fetched
    ) -> None:
        if price < 0:
            raise HoneyguideError("the price of a second must be zero or more")
        super().__init__(agent)
        self.price, self.most = price, most
        self.features = _WithSeconds(agent.features, seconds)

    def score(self, links: Candidates) -> Vector:
        """The wrapped agent's score less the price of each link's seconds."""
        price = np.float32(self.price) * links.x[:, -1]
        scores: Vector = self.agent.score(_without_seconds(links)) - price
        return scores

    def explain(self, links: Candidates) -> Reasons | None:
        """As the wrapped agent explains its score, with the price."""
        known = self.agent.explain(_without_seconds(links))
        if known is None:
            return None
        price = -np.float32(self.price) * links.x[:, -1:]
        return Reasons((*known.names, PRICE), np.hstack([known.parts, price]), known.adds_up)

    def foreseen(self, x: Vector, score: float) -> float | None:
        """What the wrapped agent foresees, without the price."""
        return self.agent.foreseen(x[:-1], score + self.price * float(x[-1]))

    def stops(self, best_score: float) -> bool:
        """Whether the wrapped agent stops, even if the best link had the highest price."""
        return self.agent.stops(best_score + self.price * self.most)

    def lanes(self, hosts: Ids, x: Matrix) -> Ids:
        """Numbers in place of hosts: recorded pages of a host do not wait for its rate limit."""
        lanes: Ids = 2 * hosts + (x[:, -1] < np.float32(self.most))
        return lanes

    def learn(self, steps: Sequence[Step]) -> None:
        """Pass the steps on to the wrapped agent, without the feature of seconds."""
        self.agent.learn(
            [replace(s, x=s.x[:-1], options=_without_seconds(s.options)) for s in steps]
        )


def _without_seconds(links: Candidates) -> Candidates:
    return Candidates(links.ids, links.x[:, :-1])


class _WithSeconds:
    """The wrapped agent's features, then the seconds of each link."""

    def __init__(self, features: Features, seconds: Callable[[str], float]) -> None:
        self.width = features.width + 1
        self.accumulates = isinstance(features, Accumulating) and features.accumulates
        self._features, self._seconds = features, seconds

    @property
    def nbytes(self) -> int:
        """Size of the wrapped features' tables in bytes."""
        return nbytes_of(self._features)

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        inner = found if found.rows is None else replace(found, rows=found.rows[:, :-1])
        x = self._features(memory, inner)
        seconds = np.array([self._seconds(link.url) for link in found.links], np.float32)
        return np.hstack([x, seconds.reshape(-1, 1)])

    @property
    def outdated(self) -> bool:
        """Whether the state that the wrapped features loaded is of an earlier version."""
        return isinstance(self._features, Upgradable) and self._features.outdated

    def upgrade(self, ids: Ids, x: Matrix) -> Matrix:
        """Rows of an earlier version, as the wrapped features make them now, with their seconds."""
        assert isinstance(self._features, Upgradable)  # noqa: S101 it is outdated
        return np.hstack([self._features.upgrade(ids, x[:, :-1]), x[:, -1:]])
