"""Any agent with an eye on the clock: what a link is worth, less what it costs (004, 4.2.3)."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from honeyguide.contracts import (
    Agent,
    Features,
    Matrix,
    MemoryView,
    Outlinks,
    Page,
    State,
    Step,
    Vector,
    Visit,
)
from honeyguide.errors import HoneyguideError


class Priced(Agent):
    """Chooses by the value that another agent has learnt less a price for each second.

    The agent inside learns as if there were no price: what a page is worth does not depend on
    where it is kept.
    """

    def __init__(
        self,
        agent: Agent,
        seconds: Callable[[str], float],  # what the page at a URL costs
        price: float,  # what a second is worth, in rewards
    ) -> None:
        if price < 0:
            raise HoneyguideError("the price of a second must be zero or more")
        self.agent, self.price = agent, price
        self.frontier, self.max_waiting = agent.frontier, agent.max_waiting
        self.features: Features = _WithSeconds(agent.features, seconds)

    def score(self, x: Matrix) -> Vector:
        """The other's score, less the price of the seconds that a link takes."""
        scores: Vector = self.agent.score(x[:, :-1]) - np.float32(self.price) * x[:, -1]
        return scores

    def learn(self, steps: Sequence[Step]) -> None:
        """The other learns, without the seconds."""
        self.agent.learn([replace(s, x=s.x[:-1], options=s.options[:, :-1]) for s in steps])

    def reward(self, visit: Visit) -> float:
        """As the other sees it."""
        return self.agent.reward(visit)

    def follows(self, page: Page) -> bool:
        """As the other sees it."""
        return self.agent.follows(page)

    def ends(self, visit: Visit) -> bool:
        """As the other sees it."""
        return self.agent.ends(visit)

    def stale(self) -> bool:
        """As the other sees it."""
        return self.agent.stale()

    def explores(self) -> bool:
        """As the other sees it."""
        return self.agent.explores()

    def stops(self, best_score: float) -> bool:
        """Whether nothing that waits is worth its price, in the other's eyes."""
        return self.agent.stops(best_score)

    def state(self) -> State:
        """The other's."""
        return self.agent.state()

    def load(self, state: State) -> None:
        """Go on from the other's."""
        self.agent.load(state)


class _WithSeconds:
    """An agent's features, and the seconds that each link takes."""

    def __init__(self, features: Features, seconds: Callable[[str], float]) -> None:
        self.width = features.width + 1
        self._features, self._seconds = features, seconds

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        x = self._features(memory, found)
        seconds = np.array([self._seconds(link.url) for link in found.links], np.float32)
        return np.hstack([x, seconds.reshape(-1, 1)])
