"""Deep Q-learning on the words of URLs (Friar 2017, §3.6; figure 2.11)."""

from collections.abc import Sequence

import numpy as np
import torch

from honeyguide.contracts import Agent, Candidates, Goal, Reasons, State, Step, Vector, Visit
from honeyguide.errors import unknown
from honeyguide.features.known_names import read_names
from honeyguide.features.url_words import UrlWords
from honeyguide.learning.exploring import EPSILON, EpsilonDecay
from honeyguide.learning.rates import check_rates
from honeyguide.learning.replay import Experience, RankedReplay, Replay
from honeyguide.learning.step_price import StepPrice
from honeyguide.learning.url_values import TargetNetwork, UrlValues
from honeyguide.registry import part

BATCH = 10  # experiences learnt from at each step
REPLAYS = {"none": None, "uniform": Replay, "ranked": RankedReplay}


@part("agent", "url_cnn_dqn", files="known_names")
class UrlCnnDqn(Agent):
    """Walks by values of URLs that a small convolutional network learns during the walk."""

    frontier = "walks"

    def __init__(  # noqa: PLR0913 each is a setting of users
        self,
        goal: Goal,
        rng: np.random.Generator,
        gamma: float = 0.75,  # discount
        epsilon_steps: int = 100_000,  # until epsilon is 0
        replay: str = "uniform",  # none, uniform or ranked
        target_every: int = 100,  # steps between two updates of the target network; 0: none is used
        double: bool = False,  # double Q-learning (§2.4.4)
        step_size: float = 0.001,
        *,
        second_price: float = 0.0,  # of a measured second of a page's host, in rewards (§4.2.3)
        last_epsilon: float = 0.0,  # share of random steps after epsilon_steps; 0.1: never less
        weights: str = "glorot",  # their first values; "inputs": variance 1 / D (§2.3.3)
        hidden: int = 0,  # units of a second layer
        known_names: str = "",  # a file of names that are not cut into words, one a line
    ) -> None:
        check_rates(
            "url_cnn_dqn",
            gamma,
            step_size,
            last_epsilon=last_epsilon,
            epsilon_steps=epsilon_steps,
        )
        if replay not in REPLAYS:
            raise unknown("replay", replay, REPLAYS)
        for_network, for_steps, for_replay = rng.spawn(3)
        known = read_names(known_names)
        self._values = UrlValues(goal, for_network, step_size, weights, hidden, known)
        self._price = StepPrice(second_price)
        self.features: UrlWords = self._values.features
        self.gamma, self.target_every, self.double = gamma, target_every, double
        self._target_network = TargetNetwork(self._values)
        self._exploration = EpsilonDecay(for_steps, EPSILON, epsilon_steps, last_epsilon)
        kind = REPLAYS[replay]
        self._replay = kind(for_replay) if kind else None
        self._steps = 0
        self.loss = 0.0  # of the last step

    def score(self, links: Candidates) -> Vector:
        """v(s; theta)."""
        return self._values.score(links.x)

    def explain(self, links: Candidates) -> Reasons:
        """What the value loses without the words of the URL."""
        return self.features.column_names.left_out(self.score, links)

    def explores(self) -> bool:
        """Take a random link with probability epsilon, which falls to 0."""
        return self._exploration.explores()

    def reward(self, visit: Visit) -> float:
        """1 for a relevant page, less the price of a step."""
        return super().reward(visit) - self._price.of(visit)

    def ends(self, visit: Visit) -> bool:
        """End the episode at a relevant page (Friar 2017, §3.2.3)."""
        return visit.verdict.relevant

    def learn(self, steps: Sequence[Step]) -> None:
        """For each step: store it, take a gradient step on a batch, update the target network."""
        for step in steps:
            now = self._values.experience(step)
            if self._replay is None:
                self._descend([now], np.ones(1, np.float32))
            else:
                self._replay.add(now)
                drawn = self._replay.draw(BATCH)
                chosen = [self._replay[place] for place in drawn.places]
                self._replay.set_errors(drawn.places, self._descend(chosen, drawn.weights))
            self._steps += 1
            if not self.target_every or self._steps % self.target_every == 0:
                self._target_network.update()

    def _descend(self, batch: Sequence[Experience], weights: Vector) -> Vector:
        """Targets r + gamma max v(s'; theta-) (equation 2.15 and §2.4.3); return the errors."""
        rewards = np.array([experience.reward for experience in batch], np.float32)
        targets = rewards + self.gamma * self._target_network.best(batch, self._choice(batch))
        rows = np.array([experience.x for experience in batch])
        errors = self._values.learn(rows, targets, weights)
        self.loss = float((weights * errors * errors).mean())
        return errors

    def _choice(self, batch: Sequence[Experience]) -> Vector | None:
        """The values that choose the best option in double Q-learning (equation 2.20)."""
        if not self.double:
            return None
        return self._values.score(np.concatenate([experience.options for experience in batch]))

    def log_figures(self) -> dict[str, float]:
        """Figures for the training log, by name."""
        return {"loss": self.loss, "epsilon": self._exploration.epsilon}

    def policy(self) -> State:
        """The network, without words: each crawl numbers them anew."""
        return {"network": self._values.cnn.parameters.state()}

    def load_policy(self, state: State) -> None:
        """Start from the network that an earlier crawl has trained."""
        self._values.cnn.parameters.load(state["network"])
        self._target_network.update()

    def training_state(self) -> State:
        """The state from which training goes on in another crawl."""
        return self.state()

    def load_training_state(self, state: State) -> None:
        """Restore the state of an earlier training."""
        self.load(state)

    def state(self) -> State:
        """Everything that `load` restores."""
        return {
            "values": self._values.state(),
            "frozen": self._target_network.data.numpy().copy(),
            "fading": self._exploration.state(),
            "replay": None if self._replay is None else self._replay.state(),
            "steps": self._steps,
        } | self._price.state()

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._values.load(state["values"])
        self._target_network.update(torch.from_numpy(state["frozen"].copy()))
        self._exploration.load(state["fading"])
        if self._replay is not None:
            self._replay.load(state["replay"])
        self._steps = state["steps"]
        self._price.load(state)
