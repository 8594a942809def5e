"""Train several policies with different random seeds and merge them: one alone varies."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from honeyguide.source_finder.learning import PolicyGradient
from honeyguide.source_finder.policy import Policy, side_by_side
from honeyguide.source_finder.training.sources import (
    FineTuning,
    Observer,
    PreTraining,
    Report,
    Sites,
)
from honeyguide.source_finder.training.supervised import SupervisedTraining

Reports = Callable[[str], Report]
# called with the epochs or sites done and the first policy
PolicyObserver = Callable[[int, "TrainedPolicy"], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class TrainedPolicy:
    """A policy and its threshold, eta."""

    policy: Policy
    eta: float


def joined(nets: Sequence[TrainedPolicy]) -> TrainedPolicy:
    """Merge policies into one with the means of their logits and of their thresholds."""
    eta = float(np.mean([net.eta for net in nets]))
    return TrainedPolicy(side_by_side([net.policy for net in nets]), eta)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ensemble:
    """Settings of a training of several policies; one as in Liao and Chang (2022) with nets=1."""

    nets: int = 5
    pre: PreTraining = field(default_factory=PreTraining)
    fine: FineTuning = field(default_factory=FineTuning)
    supervised: SupervisedTraining = field(default_factory=SupervisedTraining)
    learning: Mapping[str, Any] = field(default_factory=dict)  # arguments of PolicyGradient
    random_seed: int = 0

    async def pre_train(
        self,
        sites: Sites,
        width: int,
        report: Reports,
        watch: PolicyObserver | None = None,
        known: Sequence[str] = (),
    ) -> list[TrainedPolicy]:
        """Pre-train each policy (algorithm 1), after supervised training on any known pages."""
        trained = []
        for number in range(self.nets):
            learner = PolicyGradient(width, self._seed(number), **self.learning)
            news, chance = report(f"pre-training {number + 1} of {self.nets}"), self._chance(number)
            look = _observer(learner, watch if number == 0 else None)
            if known:
                await self.supervised.run(sites, known, learner, chance)
            eta = await self.pre.run(sites, learner, chance, news, look)
            trained.append(TrainedPolicy(learner.policy(), eta))
        return trained

    async def fine_tune(
        self,
        sites: Sites,
        nets: Sequence[TrainedPolicy],
        report: Reports,
        watch: PolicyObserver | None = None,
    ) -> list[TrainedPolicy]:
        """Fine-tune each policy separately (algorithm 2)."""
        tuned = []
        for number, net in enumerate(nets):
            settings = {**self.learning, "step_size": self.fine.step_size}
            learner = PolicyGradient(net.policy.width, self._seed(number), **settings)
            learner.load(net.policy)
            news = report(f"fine-tuning {number + 1} of {self.nets}")
            chance = self._chance(number + self.nets)
            look = _observer(learner, watch if number == 0 else None)
            eta = await self.fine.run(sites, learner, net.eta, chance, news, look)
            tuned.append(TrainedPolicy(learner.policy(), eta))
        return tuned

    def _seed(self, number: int) -> int:
        return 1000 * self.random_seed + number

    def _chance(self, number: int) -> np.random.Generator:
        return np.random.default_rng([self.random_seed, number])


def _observer(learner: PolicyGradient, watch: PolicyObserver | None) -> Observer | None:
    if watch is None:
        return None

    async def look(done: int, eta: float) -> None:
        await watch(done, TrainedPolicy(learner.policy(), eta))

    return look
