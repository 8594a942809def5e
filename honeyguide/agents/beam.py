"""Beam search: another agent's order, with few links waiting (document 002, 3.4 and 9.2)."""

from collections.abc import Sequence

import numpy as np

from honeyguide.contracts import Agent, Goal, Matrix, Page, State, Step, Vector, Visit
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make, part


@part("agent", "beam", argument="agent")
class Beam(Agent):
    """Follows another agent's order, and lets go of all but its best waiting links."""

    def __init__(
        self,
        goal: Goal,
        rng: np.random.Generator,
        agent: str = "best_first",  # whose score is the heuristic
        width: int = 500,  # links that may wait
    ) -> None:
        if width < 1:
            raise HoneyguideError("a beam needs room for at least one waiting link")
        self._agent: Agent = make("agent", agent, goal=goal, rng=rng)
        self.features = self._agent.features
        self.frontier = self._agent.frontier
        self.max_waiting = width

    def score(self, x: Matrix) -> Vector:
        """What the other says."""
        return self._agent.score(x)

    def learn(self, steps: Sequence[Step]) -> None:
        """Let the other learn."""
        self._agent.learn(steps)

    def reward(self, visit: Visit) -> float:
        """What the other says."""
        return self._agent.reward(visit)

    def follows(self, page: Page) -> bool:
        """What the other says."""
        return self._agent.follows(page)

    def ends(self, visit: Visit) -> bool:
        """What the other says."""
        return self._agent.ends(visit)

    def stale(self) -> bool:
        """What the other says."""
        return self._agent.stale()

    def explores(self) -> bool:
        """What the other says."""
        return self._agent.explores()

    def stops(self, best_score: float) -> bool:
        """What the other says."""
        return self._agent.stops(best_score)

    def state(self) -> State:
        """The other's."""
        return self._agent.state()

    def load(self, state: State) -> None:
        """Give it back to the other."""
        self._agent.load(state)
