"""The network that Pertejo (2021) wished for: (state, action) in, one Q-value out (3.7.1, 4.4)."""

from collections.abc import Sequence

import numpy as np
import torch

from honeyguide.contracts import Agent, Candidates, Goal, Matrix, State, Step, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.features.state_action import COSINES, STATE, StateAction
from honeyguide.learning.dueling import Dueling
from honeyguide.learning.replay import Experience, Replay
from honeyguide.registry import part

ROOM = 50_000  # experiences kept (Pertejo 2021, §4.3)
BATCH = 32
SOFT = 0.01  # share of the network that goes into its copy at each step (4.3)
MOST_OPTIONS = 32  # of a page that are kept, drawn at random
RESCORED_EVERY = 10  # visits
GUESS = np.array([0.25, 0.25, 0.5], np.float32)  # before the first page, cosines count


@part("agent", "dqn")
class Dqn(Agent):
    """A deep Q-network over what a link's page and the link itself show; learns as it crawls."""

    def __init__(
        self,
        goal: Goal,
        rng: np.random.Generator,
        gamma: float = 0.3,  # worth of the best link of a page against that of the page itself
        epsilon: float = 0.02,  # share of links taken at random
        double: bool = True,
        dueling: bool = True,
        replay: bool = True,
        target: bool = True,  # whether a slower copy weighs what comes next
    ) -> None:
        if not (0 <= gamma < 1 and 0 <= epsilon <= 1):
            raise HoneyguideError("dqn needs 0 <= gamma < 1 and 0 <= epsilon <= 1")
        for_network, for_replay, self._dice = rng.spawn(3)
        self.features: StateAction = StateAction(goal)
        self.gamma, self.epsilon, self.double, self.target = gamma, epsilon, double, target
        self._network = Dueling(self.features.width, STATE, for_network, dueling)
        self._slow = self._network.parameters.copy()
        self._replay = Replay(for_replay, ROOM if replay else 1)
        self._batch = BATCH if replay else 1
        self._visits = 0
        self.loss = 0.0

    def score(self, links: Candidates) -> Vector:
        """Q(s, a): a first guess by cosines and what the network adds."""
        return self._q(links.x)

    def _q(self, x: Matrix, data: torch.Tensor | None = None) -> Vector:
        q: Vector = x[:, COSINES] @ GUESS + self._network.values(x, data)
        return q

    def explores(self) -> bool:
        """Take a random link with probability epsilon."""
        return bool(self._dice.random() < self.epsilon)

    def stale(self) -> bool:
        """Now and then: a network over all that waits costs more than a product."""
        return self._visits % RESCORED_EVERY == 0

    def learn(self, steps: Sequence[Step]) -> None:
        """Keep each step, learn from some, let the copy follow."""
        for step in steps:
            options = step.options.x
            if len(options) > MOST_OPTIONS:
                options = options[self._dice.permutation(len(options))[:MOST_OPTIONS]]
            self._replay.add(Experience(step.x.copy(), step.reward, options.copy()))
            drawn = self._replay.draw(min(self._batch, len(self._replay)))
            self._descend([self._replay[place] for place in drawn.places])
            self._visits += 1

    def _descend(self, batch: Sequence[Experience]) -> None:
        """Pertejo (2021, §2.6): r + gamma Q-(s', argmax Q(s', a')), Q- the slower copy."""
        x = np.array([experience.x for experience in batch])
        rewards = np.array([experience.reward for experience in batch], np.float32)
        targets = rewards + self.gamma * self._best(batch) - x[:, COSINES] @ GUESS
        self.loss = self._network.learn(x, targets)
        if self.target:
            self._slow.lerp_(self._network.parameters.data, SOFT)

    def _best(self, batch: Sequence[Experience]) -> Vector:
        """What the best option of each is worth, 0 to 1 and a future; 0 without one."""
        best = np.zeros(len(batch), np.float32)
        counts = np.array([len(experience.options) for experience in batch])
        some = np.flatnonzero(counts)
        if not len(some):
            return best
        rows = np.concatenate([batch[place].options for place in some.tolist()])
        weighed = self._q(rows, self._slow if self.target else None)
        chosen_by = self._q(rows) if self.double else weighed
        ends = np.cumsum(counts[some])
        for place, start, end in zip(some, ends - counts[some], ends, strict=True):
            best[place] = weighed[start + int(chosen_by[start:end].argmax())]
        return best.clip(0.0, 1 / (1 - self.gamma))

    def news(self) -> dict[str, float]:
        """Figures for the training log, by name."""
        return {"loss": self.loss, "epsilon": self.epsilon}

    def policy(self) -> State:
        """The network and its copy."""
        return {"network": self._network.parameters.state(), "slow": self._slow.numpy().copy()}

    def load_policy(self, state: State) -> None:
        """Start from the network that an earlier crawl has trained."""
        self._network.parameters.load(state["network"])
        self._slow.copy_(torch.from_numpy(np.array(state["slow"], np.float32)))

    def learnt(self) -> State:
        """The state from which training goes on in another crawl."""
        return self.policy() | {
            "replay": self._replay.state(),
            "dice": self._dice.bit_generator.state,
            "visits": self._visits,
        }

    def load_learnt(self, state: State) -> None:
        """Restore the state of an earlier training."""
        self.load_policy(state)
        self._replay.load(state["replay"])
        self._dice.bit_generator.state = state["dice"]
        self._visits = state["visits"]

    def state(self) -> State:
        """Everything that `load` restores."""
        return self.learnt() | {"features": self.features.state()}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.load_learnt(state)
        self.features.load(state["features"])
