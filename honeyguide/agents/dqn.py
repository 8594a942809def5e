"""A deep Q-network with (state, action) as input and one Q-value as output.

Pertejo (2021, §3.7.1 and 4.4) proposes it as future work.
"""

from collections.abc import Sequence

import numpy as np
import torch

from honeyguide.contracts import Agent, Candidates, Goal, Matrix, Reasons, State, Step, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.features.state_action import COSINES, STATE, StateAction
from honeyguide.learning.dueling import Dueling
from honeyguide.learning.exploring import epsilon_greedy
from honeyguide.learning.rates import check_rates
from honeyguide.learning.replay import Experience, Replay
from honeyguide.registry import part

ROOM = 50_000  # experiences kept (Pertejo 2021, §4.3)
BATCH = 32
TARGET_RATE = 0.01  # share of the network in each update of the target network (§4.3)
MOST_OPTIONS = 32  # links of a page that an experience keeps, drawn at random
RESCORED_EVERY = 10  # visits
FIRST_ESTIMATE = np.array(
    [0.25, 0.25, 0.5], np.float32
)  # weights of the cosines in the first estimate


@part("agent", "dqn")
class Dqn(Agent):
    """A deep Q-network on features of a link and its page; learns as it crawls."""

    def __init__(  # noqa: PLR0913 each is a setting of users
        self,
        goal: Goal,
        rng: np.random.Generator,
        gamma: float = 0.3,  # discount of the best link found on a page
        epsilon: float = 0.02,  # share of links taken at random
        double: bool = True,
        dueling: bool = True,
        replay: bool = True,
        target: bool = True,  # whether targets come from a target network
        *,
        clipped: bool = False,  # clipped double Q-learning, in place of double
        last_epsilon: float = 0.0,  # that epsilon falls to in epsilon_steps choices
        epsilon_steps: int = 0,  # 0: epsilon stays as it is
    ) -> None:
        check_rates(
            "dqn",
            gamma,
            epsilon=epsilon,
            last_epsilon=last_epsilon,
            epsilon_steps=epsilon_steps,
        )
        if clipped and not target:
            raise HoneyguideError("clipped=true compares two networks: it needs target=true")
        for_network, for_replay, self._rng = rng.spawn(3)
        self.features: StateAction = StateAction(goal)
        self.gamma, self.double, self.target, self.clipped = gamma, double, target, clipped
        self._choices = epsilon_greedy(self._rng, epsilon, last_epsilon, epsilon_steps)
        self._network = Dueling(self.features.width, STATE, for_network, dueling)
        self._target_parameters = self._network.parameters.copy()
        self._replay = Replay(for_replay, ROOM if replay else 1)
        self._batch = BATCH if replay else 1
        self._visits = 0
        self.loss = 0.0

    def score(self, links: Candidates) -> Vector:
        """Q(s, a): a first estimate from cosines plus the network's output."""
        return self._q(links.x)

    def explain(self, links: Candidates) -> Reasons:
        """What Q(s, a) loses when a group of features is left out."""
        return self.features.column_names.left_out(self.score, links)

    def _q(self, x: Matrix, data: torch.Tensor | None = None) -> Vector:
        q: Vector = x[:, COSINES] @ FIRST_ESTIMATE + self._network.values(x, data)
        return q

    def explores(self) -> bool:
        """Take a random link with probability epsilon."""
        return self._choices.explores()

    def stale(self) -> bool:
        """Every tenth visit: scoring all waiting links by a network is slow."""
        return self._visits % RESCORED_EVERY == 0

    def learn(self, steps: Sequence[Step]) -> None:
        """Store each step and take a gradient step on a batch of experiences."""
        for step in steps:
            options = step.options.x
            if len(options) > MOST_OPTIONS:
                options = options[self._rng.permutation(len(options))[:MOST_OPTIONS]]
            self._replay.add(Experience(step.x.copy(), step.reward, options.copy()))
            drawn = self._replay.draw(min(self._batch, len(self._replay)))
            self._descend([self._replay[place] for place in drawn.places])
            self._visits += 1

    def _descend(self, batch: Sequence[Experience]) -> None:
        """Learn r + gamma Q-(s', argmax Q(s', a')), Q- the target network (Pertejo 2021, §2.6)."""
        x = np.array([experience.x for experience in batch])
        rewards = np.array([experience.reward for experience in batch], np.float32)
        targets = rewards + self.gamma * self._best(batch) - x[:, COSINES] @ FIRST_ESTIMATE
        self.loss = self._network.learn(x, targets)
        if self.target:
            self._target_parameters.lerp_(self._network.parameters.data, TARGET_RATE)

    def _best(self, batch: Sequence[Experience]) -> Vector:
        """The value of the best option of each, within [0, 1 / (1 - gamma)]; 0 without options."""
        best = np.zeros(len(batch), np.float32)
        counts = np.array([len(experience.options) for experience in batch])
        some = np.flatnonzero(counts)
        if not len(some):
            return best
        rows = np.concatenate([batch[place].options for place in some.tolist()])
        weighed = self._q(rows, self._target_parameters if self.target else None)
        chosen_by = self._q(rows) if self.double or self.clipped else weighed
        ends = np.cumsum(counts[some])
        for place, start, end in zip(some, ends - counts[some], ends, strict=True):
            if self.clipped:  # the lower of both networks' best (Pertejo 2021, §2.6.2)
                best[place] = min(weighed[start:end].max(), chosen_by[start:end].max())
            else:
                best[place] = weighed[start + int(chosen_by[start:end].argmax())]
        return best.clip(0.0, 1 / (1 - self.gamma))

    def log_figures(self) -> dict[str, float]:
        """Figures for the training log, by name."""
        return {"loss": self.loss, "epsilon": self._choices.epsilon}

    def policy(self) -> State:
        """The network and its target network."""
        return {
            "network": self._network.parameters.state(),
            "slow": self._target_parameters.numpy().copy(),
        }

    def load_policy(self, state: State) -> None:
        """Start from the network that an earlier crawl has trained."""
        self._network.parameters.load(state["network"])
        self._target_parameters.copy_(torch.from_numpy(np.array(state["slow"], np.float32)))

    def training_state(self) -> State:
        """The state from which training goes on in another crawl."""
        return self.policy() | {
            "replay": self._replay.state(),
            "dice": self._rng.bit_generator.state,
            "visits": self._visits,
            "choices": self._choices.taken,
        }

    def load_training_state(self, state: State) -> None:
        """Restore the state of an earlier training."""
        self.load_policy(state)
        self._replay.load(state["replay"])
        self._rng.bit_generator.state = state["dice"]
        self._visits = state["visits"]
        self._choices.set_steps(state.get("choices", 0))  # older crawls did not store it

    def state(self) -> State:
        """Everything that `load` restores."""
        return self.training_state() | {"features": self.features.state()}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.load_training_state(state)
        self.features.load(state["features"])
