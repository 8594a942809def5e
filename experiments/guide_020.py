"""The agent guide as version 0.2.0 had it: what later versions are compared with."""

from collections.abc import Sequence

import numpy as np

from experiments.guide_020_features import EVIDENCE, LinkEvidence
from honeyguide.contracts import Agent, Candidates, Goal, Step, Vector

OWN_WORDS_VARIANCE, WORDS_AROUND_VARIANCE, EVIDENCE_VARIANCE = 0.09, 0.25, 1.0
PENDING = 16
DROUGHT = 20
GOLDEN = 0.618034


class Guide020(Agent):
    """Ridge regression with targets that are never revised; it cannot be saved."""

    def __init__(self, goal: Goal, gamma: float = 0.3, ridge: float = 1.0) -> None:
        self.features: LinkEvidence = LinkEvidence(goal, 64, 256)
        self.gamma = gamma
        words, width = self.features.width, self.features.width + self.features.evidence.width
        self._weights = np.zeros(width)
        self._weights[words + 1 : words + 4] = 0.3, 0.3, 0.5
        self._prior_weights = self._weights.astype(np.float32)
        variances = np.full(width, WORDS_AROUND_VARIANCE)
        variances[:words] = OWN_WORDS_VARIANCE
        variances[words : words + EVIDENCE] = EVIDENCE_VARIANCE
        self._inverse = np.diag(variances / ridge)
        self._along, self._gain = np.zeros((2, PENDING, width))
        self._pending = 0

    def score(self, links: Candidates) -> Vector:
        """The expected value of links; while nothing relevant is found, at times the prior's."""
        if self.features.evidence.visits * GOLDEN % 1 < self._prior_share():
            return self.features.dot(links, self._prior_weights)
        return self._expected(links)

    def learn(self, steps: Sequence[Step]) -> None:
        """Update the least-squares weights with each step (Sherman-Morrison formula)."""
        for step in steps:
            x = self.features.full_rows(step.taken)[0].astype(np.float64)
            value = step.reward + self.gamma * self._best_of(step.options)
            along = self._inverse @ x - (self._gain @ x) @ self._along
            gain = along / (1 + x @ along)
            self._weights += gain * (value - x @ self._weights)
            self._along[self._pending], self._gain[self._pending] = along, gain
            self._pending += 1
            if self._pending == PENDING:
                self._inverse -= self._along.T @ self._gain
                self._along[:], self._gain[:], self._pending = 0, 0, 0
            self.features.evidence.add_visit(step.link_id, step.reward)

    def stale(self) -> bool:
        """Always: each visit changes the weights and the evidence on waiting links."""
        return True

    def _prior_share(self) -> float:
        evidence = self.features.evidence
        if not evidence.relevant:
            return 0.5
        return 0.25 if evidence.since_relevant > DROUGHT else 0.0

    def _expected(self, links: Candidates) -> Vector:
        return self.features.dot(links, self._weights.astype(np.float32))

    def _best_of(self, options: Candidates) -> float:
        return min(1.0, max(0.0, float(self._expected(options).max(initial=0.0))))
