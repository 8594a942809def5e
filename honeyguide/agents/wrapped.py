"""Base class for agents that wrap another agent and change part of what it decides."""

from collections.abc import Sequence

from honeyguide.contracts import (
    Agent,
    Candidates,
    Features,
    Page,
    State,
    Step,
    Vector,
    Visit,
)


class Wrapped(Agent):
    """The agent inside, under another hand."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.features: Features = agent.features
        self.frontier, self.max_waiting = agent.frontier, agent.max_waiting
        self.foresees = agent.foresees

    def score(self, links: Candidates) -> Vector:
        """What the other says."""
        return self.agent.score(links)

    def learn(self, steps: Sequence[Step]) -> None:
        """Let the other learn."""
        self.agent.learn(steps)

    def reward(self, visit: Visit) -> float:
        """What the other says."""
        return self.agent.reward(visit)

    def follows(self, page: Page) -> bool:
        """What the other says."""
        return self.agent.follows(page)

    def ends(self, visit: Visit) -> bool:
        """What the other says."""
        return self.agent.ends(visit)

    def stale(self) -> bool:
        """What the other says."""
        return self.agent.stale()

    def foreseen(self, x: Vector, score: float) -> float | None:
        """What the other says."""
        return self.agent.foreseen(x, score)

    def explores(self) -> bool:
        """What the other says."""
        return self.agent.explores()

    def stops(self, best_score: float) -> bool:
        """What the other says."""
        return self.agent.stops(best_score)

    @property
    def learner(self) -> Agent:
        """The other."""
        return self.agent.learner

    def state(self) -> State:
        """The other's."""
        return self.agent.state()

    def load(self, state: State) -> None:
        """Give it back to the other."""
        self.agent.load(state)
