"""Base class for agents that wrap another agent and change part of what it decides."""

from collections.abc import Sequence

from honeyguide.contracts import (
    Agent,
    Candidates,
    Features,
    Page,
    Reasons,
    State,
    Step,
    Vector,
    Visit,
)


class Wrapped(Agent):
    """Passes every call on to another agent; subclasses override some."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.features: Features = agent.features
        self.frontier, self.max_waiting = agent.frontier, agent.max_waiting
        self.foresees, self.refreshes = agent.foresees, agent.refreshes

    def score(self, links: Candidates) -> Vector:
        """As the wrapped agent decides."""
        return self.agent.score(links)

    def explain(self, links: Candidates) -> Reasons | None:
        """As the wrapped agent explains."""
        return self.agent.explain(links)

    def weigh(self, words: Sequence[str]) -> Vector | None:
        """As the wrapped agent weighs them."""
        return self.agent.weigh(words)

    def learn(self, steps: Sequence[Step]) -> None:
        """Pass the steps on to the wrapped agent."""
        self.agent.learn(steps)

    def reward(self, visit: Visit) -> float:
        """As the wrapped agent decides."""
        return self.agent.reward(visit)

    def follows(self, page: Page) -> bool:
        """As the wrapped agent decides."""
        return self.agent.follows(page)

    def ends(self, visit: Visit) -> bool:
        """As the wrapped agent decides."""
        return self.agent.ends(visit)

    def stale(self) -> bool:
        """As the wrapped agent decides."""
        return self.agent.stale()

    def foreseen(self, x: Vector, score: float) -> float | None:
        """As the wrapped agent decides."""
        return self.agent.foreseen(x, score)

    def explores(self) -> bool:
        """As the wrapped agent decides."""
        return self.agent.explores()

    def stops(self, best_score: float) -> bool:
        """As the wrapped agent decides."""
        return self.agent.stops(best_score)

    @property
    def learner(self) -> Agent:
        """The learning agent inside the wrapped agent."""
        return self.agent.learner

    def state(self) -> State:
        """The state of the wrapped agent."""
        return self.agent.state()

    def load(self, state: State) -> None:
        """Restore the state of the wrapped agent."""
        self.agent.load(state)
