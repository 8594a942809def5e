"""Nets of the source finder trained apart and put side by side: one alone swings with chance."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from honeyguide.source_finder.learning import PolicyGradient
from honeyguide.source_finder.policy import Policy, side_by_side
from honeyguide.source_finder.training.shown import ShownLinks
from honeyguide.source_finder.training.sources import FineTuning, Look, PreTraining, Report, Sites

Reports = Callable[[str], Report]
Watch = Callable[[int, "Net"], Awaitable[None]]  # epochs or sites done, and the first net so far


@dataclass(frozen=True, slots=True)
class Net:
    """What a training made: a policy and its threshold, eta."""

    policy: Policy
    eta: float


def joined(nets: Sequence[Net]) -> Net:
    """All of them as one: the means of their logits and of their thresholds."""
    eta = float(np.mean([net.eta for net in nets]))
    return Net(side_by_side([net.policy for net in nets]), eta)


@dataclass(frozen=True, slots=True, kw_only=True)
class Several:
    """Trains so many nets, each with chance of its own; 1 as in Liao and Chang (2022)."""

    nets: int = 5
    pre: PreTraining = field(default_factory=PreTraining)
    fine: FineTuning = field(default_factory=FineTuning)
    shown: ShownLinks = field(default_factory=ShownLinks)
    learning: Mapping[str, Any] = field(default_factory=dict)  # of PolicyGradient
    random_seed: int = 0

    async def pre_train(
        self,
        sites: Sites,
        width: int,
        report: Reports,
        watch: Watch | None = None,
        known: Sequence[str] = (),
    ) -> list[Net]:
        """Algorithm 1, each net from its own beginning, or from links between known pages."""
        trained = []
        for number in range(self.nets):
            learner = PolicyGradient(width, self._seed(number), **self.learning)
            news, chance = report(f"pre-training {number + 1} of {self.nets}"), self._chance(number)
            look = _look(learner, watch if number == 0 else None)
            if known:
                await self.shown.run(sites, known, learner, chance)
            eta = await self.pre.run(sites, learner, chance, news, look)
            trained.append(Net(learner.policy(), eta))
        return trained

    async def fine_tune(
        self, sites: Sites, nets: Sequence[Net], report: Reports, watch: Watch | None = None
    ) -> list[Net]:
        """Algorithm 2, each net by itself."""
        tuned = []
        for number, net in enumerate(nets):
            told = {**self.learning, "step_size": self.fine.step_size}
            learner = PolicyGradient(net.policy.width, self._seed(number), **told)
            learner.load(net.policy)
            news = report(f"fine-tuning {number + 1} of {self.nets}")
            chance = self._chance(number + self.nets)
            look = _look(learner, watch if number == 0 else None)
            eta = await self.fine.run(sites, learner, net.eta, chance, news, look)
            tuned.append(Net(learner.policy(), eta))
        return tuned

    def _seed(self, number: int) -> int:
        return 1000 * self.random_seed + number

    def _chance(self, number: int) -> np.random.Generator:
        return np.random.default_rng([self.random_seed, number])


def _look(learner: PolicyGradient, watch: Watch | None) -> Look | None:
    if watch is None:
        return None

    async def look(done: int, eta: float) -> None:
        await watch(done, Net(learner.policy(), eta))

    return look
