"""A deep Q-network that several actors train at once (Friar 2017, §3.8, algorithm 3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from honeyguide.contracts import Agent, Candidates, Goal, State, Step, Vector, Visit
from honeyguide.errors import HoneyguideError
from honeyguide.learning.exploring import EPSILON, Fading
from honeyguide.learning.parameters import shared
from honeyguide.learning.url_values import Frozen, UrlValues
from honeyguide.registry import part


@dataclass(frozen=True, slots=True)
class Shared:
    """What all actors see: theta with Adam's memory, theta-, and T with the copies made."""

    block: torch.Tensor
    target: torch.Tensor
    counts: torch.Tensor
    news: torch.Tensor  # of the actor that learnt last: loss, epsilon


@part("agent", "url_async_dqn")
class UrlAsyncDqn(Agent):
    """As url_cnn_dqn, without replay: actors in processes of their own train one network.

    In a crawl by itself it is a single actor. Where actors train it, it only shows how well
    their network does, and neither learns nor explores.
    """

    frontier = "walks"

    def __init__(
        self,
        goal: Goal,
        rng: np.random.Generator,
        gamma: float = 0.75,  # worth of what is one link further
        epsilon_steps: int = 100_000,  # until no step is at random any more
        update_every: int = 5,  # steps between two updates of theta: I_async
        target_every: int = 100,  # steps of all actors between two copies: I_target
        step_size: float = 0.001,
        actors: int = 4,  # processes that train it, in experiments
    ) -> None:
        if min(update_every, target_every) < 1 or actors < 0:
            raise HoneyguideError(
                "url_async_dqn needs at least one step between updates and between copies, and "
                "zero or more actors"
            )
        for_network, for_steps = rng.spawn(2)
        self._values = UrlValues(goal, for_network, step_size)
        self.features = self._values.features
        self.gamma, self.update_every, self.target_every = gamma, update_every, target_every
        self.actors = actors
        self._frozen = Frozen(self._values)
        self._fading = Fading(for_steps, EPSILON, epsilon_steps)
        self._target = self._frozen.data
        self._counts = torch.zeros(2, dtype=torch.int64)  # T, and copies made
        self._copies_seen = 0
        self._steps = 0  # t
        self._gradient = torch.zeros_like(self._target)
        self._watches = False  # others train it
        self._news = torch.zeros(2)

    # ------------------------------------------------------------------ with others

    def share(self) -> Shared:
        """Let others train it from now on."""
        self._watches = True
        block = self._values.cnn.parameters.share()
        self._target, self._counts = shared(self._target), shared(self._counts)
        self._news = shared(self._news)
        return Shared(block, self._target, self._counts, self._news)

    def join(self, shared: Shared) -> None:
        """Become one of those who train."""
        self._values.cnn.parameters.share(shared.block)
        self._target, self._counts, self._news = shared.target, shared.counts, shared.news
        self._fading.skip(int(self._counts[0]) // max(1, self.actors))  # where training goes on
        self._refresh()

    # ------------------------------------------------------------------ algorithm 3

    def score(self, links: Candidates) -> Vector:
        """v(s; theta)."""
        return self._values.score(links.x)

    def explores(self) -> bool:
        """Take a random link with probability epsilon, which falls to 0."""
        return not self._watches and self._fading.explores()

    def ends(self, visit: Visit) -> bool:
        """End the episode at a relevant page (Friar 2017, §3.2.3)."""
        return visit.verdict.relevant

    def learn(self, steps: Sequence[Step]) -> None:
        """Gather gradients; apply them now and then, and where an episode ends."""
        if self._watches:
            return
        for step in steps:
            now = self._values.experience(step)
            if self._copies_seen != int(self._counts[1]):
                self._refresh()
            target = now.reward + self.gamma * self._frozen.best([now])  # y
            cnn, one = self._values.cnn, np.ones(1, np.float32)
            found, errors = cnn.gradient(now.x[None], self._values.vectors, target, one)
            self._gradient += found
            self._news[0], self._news[1] = float(errors[0] ** 2), self._fading.epsilon
            self._counts[0] += 1
            self._steps += 1
            if int(self._counts[0]) % self.target_every == 0:
                self._target.copy_(cnn.parameters.copy())
                self._counts[1] += 1
            if self._steps % self.update_every == 0 or not len(now.options):
                cnn.parameters.descend(self._gradient)
                self._gradient.zero_()

    def _refresh(self) -> None:
        """Use theta- as it is now."""
        self._copies_seen = int(self._counts[1])
        self._frozen.copy(self._target.clone())

    def news(self) -> dict[str, float]:
        """Figures for the training log, by name."""
        loss, epsilon = self._news.tolist()
        return {"loss": loss, "epsilon": epsilon}

    # ------------------------------------------------------------------ kept

    def policy(self) -> State:
        """The network; words have numbers of their own in each crawl."""
        return {"network": self._values.cnn.parameters.state()}

    def load_policy(self, state: State) -> None:
        """Start from the network that an earlier crawl has trained."""
        self._values.cnn.parameters.load(state["network"])
        self._target.copy_(self._values.cnn.parameters.copy())
        self._refresh()

    def learnt(self) -> State:
        """The state from which training goes on in another crawl."""
        return self.state()

    def load_learnt(self, state: State) -> None:
        """Restore the state of an earlier training."""
        self.load(state)

    def state(self) -> State:
        """Everything that `load` restores."""
        return {
            "values": self._values.state(),
            "target": self._target.numpy().copy(),
            "frozen": self._frozen.data.numpy().copy(),
            "counts": self._counts.numpy().copy(),
            "seen": self._copies_seen,
            "gradient": self._gradient.numpy().copy(),
            "fading": self._fading.state(),
            "steps": self._steps,
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._values.load(state["values"])
        self._target.copy_(torch.from_numpy(state["target"]))
        self._frozen.copy(torch.from_numpy(state["frozen"].copy()))
        self._counts.copy_(torch.from_numpy(state["counts"]))
        self._copies_seen = state["seen"]
        self._gradient.copy_(torch.from_numpy(state["gradient"]))
        self._fading.load(state["fading"])
        self._steps = state["steps"]
