"""Online ridge regression on a link's words and evidence, with a look one step ahead."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Agent, Candidates, Goal, Reasons, Scorer, State, Step, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.features.categories import Categories
from honeyguide.features.evidence import EVIDENCE, LinkEvidence
from honeyguide.learning.rates import check_rates
from honeyguide.registry import part

# prior variances of the weights, by kind of column
OWN_WORDS_VARIANCE = 0.09
WORDS_AROUND_VARIANCE = 0.25
EVIDENCE_VARIANCE = 1.0
PENDING = 16  # visits whose updates of the inverse are applied together, in one product
BARREN_HOST = -0.07  # prior weight: 30 visits of a host without a relevant page cost as much
DROUGHT = 20  # visits in a row without a relevant page after which the prior weights are used too
GOLDEN = 0.618034  # its multiples fall evenly between 0 and 1, however seldom links are scored
CARRIED_OVER = 0.1  # weight of a visit of an earlier crawl against one of this crawl


@part("agent", "guide")
class Guide(Agent):
    """Learns from every visit which links lead to relevant pages, directly or one link further."""

    def __init__(
        self,
        goal: Goal,
        gamma: float = 0.3,  # discount of the best link found on a page
        ridge: float = 1.0,  # strength of the prior weights
        dimensions: int = 64,  # of word vectors
        buckets: int = 256,  # for hashed words
    ) -> None:
        check_rates("guide", gamma)
        if not (0 < ridge < math.inf and min(dimensions, buckets) >= 1):
            raise HoneyguideError(
                "guide needs a ridge above 0, and at least 1 dimension and 1 bucket"
            )
        self.features: LinkEvidence = LinkEvidence(goal, dimensions, buckets)
        self.gamma = gamma
        self._topic = goal.topic
        self._categories = Categories(goal.topic)
        words, width = self.features.own_words, self.features.full_width
        self._evidence = slice(words, words + EVIDENCE)
        # prior weights: score a link by its similarity to the topic, as best_first does
        self._weights = np.zeros(width)
        # own words, words around, best mention
        self._weights[words + 1 : words + 4] = 0.3, 0.3, 0.5
        # visits of its host since the last relevant page: other hosts get their turn
        self._weights[words + EVIDENCE - 1] = BARREN_HOST
        self._prior_weights = self._weights.astype(np.float32)
        variances = np.full(width, WORDS_AROUND_VARIANCE)
        variances[:words], variances[self._evidence] = OWN_WORDS_VARIANCE, EVIDENCE_VARIANCE
        self._prior_variances = variances / ridge
        # (prior^-1 + sum x x')^-1, before pending updates
        self._inverse = np.diag(self._prior_variances)
        # pending updates of the inverse: subtract along' gain
        self._along, self._gain = np.zeros((2, PENDING, width))
        self._pending = 0
        self._scorer: Scorer | None = None  # of the present weights; None: not made yet

    def score(self, links: Candidates) -> Vector:
        """The expected value of links; while nothing relevant is found, at times the prior's.

        Without rewards the learnt weights only say what to avoid.
        """
        if self._uses_prior():
            return self.features.dot(links, self._prior_weights)
        return self._expected(links)

    def explain(self, links: Candidates) -> Reasons:
        """Each feature times its weight, added up by name: exactly the score."""
        weights = self._prior_weights if self._uses_prior() else self._weights.astype(np.float32)
        return self.features.column_names.summed(self.features.full_rows(links) * weights)

    def weigh(self, words: Sequence[str]) -> Vector:
        """What a link expects from these words alone."""
        value: Vector = self.features.rows_of_words(words) @ self._weights.astype(np.float32)
        return value

    def learn(self, steps: Sequence[Step]) -> None:
        """Update the least-squares weights with each step (Sherman-Morrison formula)."""
        for step in steps:
            x = self.features.full_rows(step.taken)[0].astype(np.float64)
            value = step.reward + self.gamma * self._best_of(step.options)
            along = self._inverse @ x - (self._gain @ x) @ self._along
            gain = along / (1 + x @ along)
            self._weights += gain * (value - x @ self._weights)
            self._scorer = None
            self._add_update(along, gain)
            self.features.evidence.add_visit(step.link_id, step.reward)
            if step.page is not None:
                self._categories.note(step.page, step.verdict.relevant)

    def categories(self, count: int = 10) -> list[str]:
        """Words typical of the relevant pages seen so far, for display or as settings."""
        return self._categories.top(count)

    def stale(self) -> bool:
        """Always: each visit changes the weights and the evidence on waiting links."""
        return True

    def state(self) -> State:
        """Weights, inverse covariance, evidence and word counts."""
        return {
            "belief": self._prior_weights.copy(),
            "weights": self._weights.copy(),
            "inverse": self._inverse.copy(),
            "along": self._along.copy(),
            "gain": self._gain.copy(),
            "pending": self._pending,
            "features": self.features.state(),
            "categories": self._categories.state(),
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._prior_weights, self._weights = state["belief"].copy(), state["weights"].copy()
        self._inverse = state["inverse"].copy()
        self._along, self._gain = state["along"].copy(), state["gain"].copy()
        self._pending, self._scorer = state["pending"], None
        self.features.load(state["features"])
        self._categories.load(state["categories"])

    def policy(self) -> State:
        """The weights, their covariance and the topic they were learnt on."""
        return {
            "topic": self._topic,
            "weights": self._weights.copy(),
            "inverse": self._inverse - self._along.T @ self._gain,
        }

    def load_policy(self, state: State) -> None:
        """Start from an earlier crawl's weights; for another topic, without those of words."""
        if np.shape(state["weights"]) != self._weights.shape:
            raise HoneyguideError(
                f"{np.size(state['weights'])} weights do not fit {len(self._weights)} features"
            )
        kept = slice(None) if state["topic"] == self._topic else self._evidence
        self._weights[kept] = state["weights"][kept]
        self._prior_weights, self._scorer = self._weights.astype(np.float32), None
        precision = np.linalg.inv(state["inverse"][kept, kept])
        prior = np.diag(1 / self._prior_variances[kept])
        self._inverse[kept, kept] = np.linalg.inv(prior + CARRIED_OVER * (precision - prior))

    def _prior_share(self) -> float:
        """The share of scorings that use the prior weights."""
        evidence = self.features.evidence
        if not evidence.relevant:
            return 0.5
        return 0.25 if evidence.since_relevant > DROUGHT else 0.0

    def _uses_prior(self) -> bool:
        return self.features.evidence.visits * GOLDEN % 1 < self._prior_share()

    def _expected(self, links: Candidates) -> Vector:
        if self._scorer is None:
            self._scorer = self.features.scorer(self._weights.astype(np.float32))
        return self._scorer(links)

    def _add_update(self, along: NDArray[np.float64], gain: NDArray[np.float64]) -> None:
        self._along[self._pending], self._gain[self._pending] = along, gain
        self._pending += 1
        if self._pending == PENDING:
            self._apply_updates()

    def _apply_updates(self) -> None:
        self._inverse -= self._along.T @ self._gain
        self._along[:], self._gain[:], self._pending = 0, 0, 0

    def _best_of(self, options: Candidates) -> float:
        """The expected value of the best of these links, between 0 and 1."""
        return min(1.0, max(0.0, float(self._expected(options).max(initial=0.0))))
