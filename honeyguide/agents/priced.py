"""Any agent, with a price for each second that a page takes (Friar 2017, §4.2.3)."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from honeyguide.agents.wrapped import Wrapped
from honeyguide.contracts import (
    Agent,
    Candidates,
    Features,
    Ids,
    Matrix,
    MemoryView,
    Outlinks,
    Step,
    Vector,
    nbytes_of,
)
from honeyguide.errors import HoneyguideError


class Priced(Wrapped):
    """Chooses by the value that another agent has learnt less a price for each second.

    The agent inside learns as if there were no price: what a page is worth does not depend on
    where it is kept.
    """

    def __init__(
        self,
        agent: Agent,
        seconds: Callable[[str], float],  # what the page at a URL costs
        price: float,  # what a second is worth, in rewards
        most: float = 1.0,  # seconds that a page costs which has to be fetched
    ) -> None:
        if price < 0:
            raise HoneyguideError("the price of a second must be zero or more")
        super().__init__(agent)
        self.price, self.most = price, most
        self.features = _WithSeconds(agent.features, seconds)

    def score(self, links: Candidates) -> Vector:
        """The other's score, less the price of the seconds that a link takes."""
        price = np.float32(self.price) * links.x[:, -1]
        scores: Vector = self.agent.score(_without_seconds(links)) - price
        return scores

    def foreseen(self, x: Vector, score: float) -> float | None:
        """What the other foresees: the price says nothing of what a page will bring."""
        return self.agent.foreseen(x[:-1], score + self.price * float(x[-1]))

    def stops(self, best_score: float) -> bool:
        """Whether the other would stop, even if the best link were as dear as any."""
        return self.agent.stops(best_score + self.price * self.most)

    def lanes(self, hosts: Ids, x: Matrix) -> Ids:
        """Whose rest links wait for: what need not be fetched, for nobody's but its own kind's."""
        lanes: Ids = 2 * hosts + (x[:, -1] < np.float32(self.most))
        return lanes

    def learn(self, steps: Sequence[Step]) -> None:
        """The other learns, without the seconds."""
        self.agent.learn(
            [replace(s, x=s.x[:-1], options=_without_seconds(s.options)) for s in steps]
        )


def _without_seconds(links: Candidates) -> Candidates:
    return Candidates(links.ids, links.x[:, :-1])


class _WithSeconds:
    """An agent's features, and the seconds that each link takes."""

    def __init__(self, features: Features, seconds: Callable[[str], float]) -> None:
        self.width = features.width + 1
        self._features, self._seconds = features, seconds

    @property
    def nbytes(self) -> int:
        """Bytes of the agent's own tables."""
        return nbytes_of(self._features)

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        x = self._features(memory, found)
        seconds = np.array([self._seconds(link.url) for link in found.links], np.float32)
        return np.hstack([x, seconds.reshape(-1, 1)])
