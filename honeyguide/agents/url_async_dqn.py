"""Asynchronous deep Q-learning with several actors (Friar 2017, §3.8, algorithm 3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from honeyguide.contracts import Agent, Candidates, Goal, Reasons, State, Step, Vector, Visit
from honeyguide.errors import HoneyguideError
from honeyguide.features.known_names import read_names
from honeyguide.features.url_words import UrlWords
from honeyguide.learning.exploring import EPSILON, EpsilonDecay
from honeyguide.learning.parameters import shared
from honeyguide.learning.rates import check_rates
from honeyguide.learning.step_price import StepPrice
from honeyguide.learning.url_values import TargetNetwork, UrlValues
from honeyguide.registry import part


@dataclass(frozen=True, slots=True)
class Shared:
    """The tensors that all actors share."""

    block: torch.Tensor  # theta with Adam's moments
    target: torch.Tensor  # theta-
    counts: torch.Tensor  # T, and updates of theta-
    figures: torch.Tensor  # of the actor that learnt last: loss, epsilon


@part("agent", "url_async_dqn", files="known_names")
class UrlAsyncDqn(Agent):
    """As url_cnn_dqn without replay: several processes, the actors, train one network.

    In an ordinary crawl it is a single actor. After `share`, actors train the network, and this
    agent only uses it: it neither learns nor explores.
    """

    frontier = "walks"

    def __init__(  # noqa: PLR0913 each is a setting of users
        self,
        goal: Goal,
        rng: np.random.Generator,
        gamma: float = 0.75,  # discount
        epsilon_steps: int = 100_000,  # until epsilon is 0
        update_every: int = 5,  # steps between two updates of theta: I_async
        target_every: int = 100,  # steps of all actors between two updates of theta-: I_target
        step_size: float = 0.001,
        actors: int = 4,  # processes that train it, in experiments
        *,
        second_price: float = 0.0,  # of a measured second of a page's host, in rewards (§4.2.3)
        last_epsilon: float = 0.0,  # share of random steps after epsilon_steps; 0.1: never less
        weights: str = "glorot",  # their first values; "inputs": variance 1 / D (§2.3.3)
        hidden: int = 0,  # units of a second layer
        known_names: str = "",  # a file of names that are not cut into words, one a line
    ) -> None:
        check_rates(
            "url_async_dqn",
            gamma,
            step_size,
            last_epsilon=last_epsilon,
            epsilon_steps=epsilon_steps,
        )
        if min(update_every, target_every) < 1 or actors < 0:
            raise HoneyguideError(
                "url_async_dqn needs update_every and target_every of at least 1, and "
                "zero or more actors"
            )
        for_network, for_steps = rng.spawn(2)
        known = read_names(known_names)
        self._values = UrlValues(goal, for_network, step_size, weights, hidden, known)
        self._price = StepPrice(second_price)
        self.features: UrlWords = self._values.features
        self.gamma, self.update_every, self.target_every = gamma, update_every, target_every
        self.actors = actors
        self._target_network = TargetNetwork(self._values)
        self._exploration = EpsilonDecay(for_steps, EPSILON, epsilon_steps, last_epsilon)
        self._target = self._target_network.data
        self._counts = torch.zeros(2, dtype=torch.int64)  # T, and updates of theta-
        self._target_version = 0
        self._steps = 0  # t
        self._gradient = torch.zeros_like(self._target)
        self._only_uses = False  # actors train the network
        self._figures = torch.zeros(2)

    # ------------------------------------------------------------------ actors

    def share(self) -> Shared:
        """Move the network to shared memory for actors to train, and stop learning here."""
        self._only_uses = True
        block = self._values.cnn.parameters.share()
        self._target, self._counts = shared(self._target), shared(self._counts)
        self._figures = shared(self._figures)
        return Shared(block, self._target, self._counts, self._figures)

    def join(self, shared: Shared) -> None:
        """Become an actor: train the shared network."""
        self._values.cnn.parameters.share(shared.block)
        self._target, self._counts, self._figures = shared.target, shared.counts, shared.figures
        # in a resumed training, actors have taken steps before
        self._exploration.set_steps(int(self._counts[0]) // max(1, self.actors))
        self._refresh()

    # ------------------------------------------------------------------ algorithm 3

    def score(self, links: Candidates) -> Vector:
        """v(s; theta)."""
        return self._values.score(links.x)

    def explain(self, links: Candidates) -> Reasons:
        """What the value loses without the words of the URL."""
        return self.features.column_names.left_out(self.score, links)

    def explores(self) -> bool:
        """Take a random link with probability epsilon, which falls to 0."""
        return not self._only_uses and self._exploration.explores()

    def reward(self, visit: Visit) -> float:
        """1 for a relevant page, less the price of a step."""
        return super().reward(visit) - self._price.of(visit)

    def ends(self, visit: Visit) -> bool:
        """End the episode at a relevant page (Friar 2017, §3.2.3)."""
        return visit.verdict.relevant

    def learn(self, steps: Sequence[Step]) -> None:
        """Sum gradients; apply them every `update_every` steps and at the end of an episode."""
        if self._only_uses:
            return
        for step in steps:
            now = self._values.experience(step)
            if self._target_version != int(self._counts[1]):
                self._refresh()
            target = now.reward + self.gamma * self._target_network.best([now])  # y
            cnn, one = self._values.cnn, np.ones(1, np.float32)
            found, errors = cnn.gradient(now.x[None], self._values.vectors, target, one)
            self._gradient += found
            self._figures[0], self._figures[1] = float(errors[0] ** 2), self._exploration.epsilon
            self._counts[0] += 1
            self._steps += 1
            if int(self._counts[0]) % self.target_every == 0:
                self._target.copy_(cnn.parameters.copy())
                self._counts[1] += 1
            if self._steps % self.update_every == 0 or not len(now.options):
                cnn.parameters.descend(self._gradient)
                self._gradient.zero_()

    def _refresh(self) -> None:
        """Update the local copy of theta-."""
        self._target_version = int(self._counts[1])
        self._target_network.update(self._target.clone())

    def log_figures(self) -> dict[str, float]:
        """Figures for the training log, by name."""
        loss, epsilon = self._figures.tolist()
        return {"loss": loss, "epsilon": epsilon}

    # ------------------------------------------------------------------ state

    def policy(self) -> State:
        """The network, without words: each crawl numbers them anew."""
        return {"network": self._values.cnn.parameters.state()}

    def load_policy(self, state: State) -> None:
        """Start from the network that an earlier crawl has trained."""
        self._values.cnn.parameters.load(state["network"])
        self._target.copy_(self._values.cnn.parameters.copy())
        self._refresh()

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
            "target": self._target.numpy().copy(),
            "frozen": self._target_network.data.numpy().copy(),
            "counts": self._counts.numpy().copy(),
            "seen": self._target_version,
            "gradient": self._gradient.numpy().copy(),
            "fading": self._exploration.state(),
            "steps": self._steps,
        } | self._price.state()

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._values.load(state["values"])
        self._target.copy_(torch.from_numpy(state["target"]))
        self._target_network.update(torch.from_numpy(state["frozen"].copy()))
        self._counts.copy_(torch.from_numpy(state["counts"]))
        self._target_version = state["seen"]
        self._gradient.copy_(torch.from_numpy(state["gradient"]))
        self._exploration.load(state["fading"])
        self._steps = state["steps"]
        self._price.load(state)
