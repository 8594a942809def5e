"""Online ridge regression on all that speaks for a link, with a look one step ahead."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Agent, Candidates, Goal, State, Step, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.features.categories import Categories
from honeyguide.features.evidence import EVIDENCE, LinkEvidence
from honeyguide.registry import part

# what weights may well be before the first page: their variances, by kind of column
OWN_WORDS = 0.09
WORDS_AROUND = 0.25
COMPANY = 1.0
PENDING = 16  # visits whose rows are taken off the inverse together, in one product
DROUGHT = 20  # visits in a row without a relevant page after which belief is asked again
GOLDEN = 0.618034  # its multiples fall evenly between 0 and 1, however seldom links are scored
CARRIED_OVER = 0.1  # what a visit of an earlier crawl counts for in this one


@part("agent", "guide")
class Guide(Agent):
    """Learns from every page which links lead to relevant ones, here or one step further."""

    def __init__(
        self,
        goal: Goal,
        gamma: float = 0.3,  # worth of the best link of a page against that of the page itself
        ridge: float = 1.0,  # trust in what is believed before the first page
        dimensions: int = 64,  # of the meaning of words
        buckets: int = 256,  # for the words themselves
    ) -> None:
        if not (0 <= gamma < 1 and 0 < ridge < math.inf and min(dimensions, buckets) >= 1):
            raise HoneyguideError(
                "guide needs 0 <= gamma < 1, a ridge above 0, and at least 1 dimension and 1 bucket"
            )
        self.features: LinkEvidence = LinkEvidence(goal, dimensions, buckets)
        self.gamma = gamma
        self._topic = goal.topic
        self._categories = Categories(goal.topic)
        words, width = self.features.width, self.features.width + self.features.company.width
        self._evidence = slice(words, words + EVIDENCE)
        # before the first page: a link is worth its likeness to the topic, like best_first's
        self._weights = np.zeros(width)
        self._weights[words + 1 : words + 4] = 0.3, 0.3, 0.5  # own words, those around it, all
        self._belief = self._weights.astype(np.float32)
        variances = np.full(width, WORDS_AROUND)
        variances[:words], variances[self._evidence] = OWN_WORDS, COMPANY
        self._prior = variances / ridge
        self._inverse = np.diag(self._prior)  # (prior^-1 + sum x x')^-1, but for what is pending:
        self._along, self._gain = np.zeros((2, PENDING, width))  # visits to take off, along' gain
        self._pending = 0

    def score(self, links: Candidates) -> Vector:
        """The worth that is expected; while nothing relevant is found, belief has a say as well.

        Without a reward all there is to learn is what to avoid, and hope feeds on itself.
        """
        company = self.features.company
        if company.visits * GOLDEN % 1 < self._say_of_belief():
            return self.features.worth(links, self._belief)
        return self._expected(links)

    def learn(self, steps: Sequence[Step]) -> None:
        """Least squares, one row at a time (Sherman and Morrison)."""
        for step in steps:
            x = self.features.whole(step.taken)[0].astype(np.float64)
            worth = step.reward + self.gamma * self._best_of(step.options)
            along = self._inverse @ x - (self._gain @ x) @ self._along
            gain = along / (1 + x @ along)
            self._weights += gain * (worth - x @ self._weights)
            self._note(along, gain)
            self.features.company.credit(step.link_id, step.reward)
            if step.page is not None:
                self._categories.note(step.page, step.verdict.relevant)

    def categories(self, count: int = 10) -> list[str]:
        """Words around the topic, by the pages seen so far: to show, or to tell other agents."""
        return self._categories.top(count)

    def stale(self) -> bool:
        """After each page: every waiting link is seen in a new light."""
        return True

    def state(self) -> State:
        """What was learnt."""
        return {
            "belief": self._belief.copy(),
            "weights": self._weights.copy(),
            "inverse": self._inverse.copy(),
            "along": self._along.copy(),
            "gain": self._gain.copy(),
            "pending": self._pending,
            "features": self.features.state(),
            "categories": self._categories.state(),
        }

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        self._belief, self._weights = state["belief"].copy(), state["weights"].copy()
        self._inverse = state["inverse"].copy()
        self._along, self._gain = state["along"].copy(), state["gain"].copy()
        self._pending = state["pending"]
        self.features.load(state["features"])
        self._categories.load(state["categories"])

    def policy(self) -> State:
        """What was learnt, and about which topic."""
        return {
            "topic": self._topic,
            "weights": self._weights.copy(),
            "inverse": self._inverse - self._along.T @ self._gain,
        }

    def load_policy(self, state: State) -> None:
        """Believe what an earlier crawl has learnt: of another topic, all but the words."""
        if np.shape(state["weights"]) != self._weights.shape:
            raise HoneyguideError(
                f"{np.size(state['weights'])} weights do not fit {len(self._weights)} features"
            )
        of = slice(None) if state["topic"] == self._topic else self._evidence
        self._weights[of] = state["weights"][of]
        self._belief = self._weights.astype(np.float32)
        certain = np.linalg.inv(state["inverse"][of, of])
        before = np.diag(1 / self._prior[of])
        self._inverse[of, of] = np.linalg.inv(before + CARRIED_OVER * (certain - before))

    def _say_of_belief(self) -> float:
        """The share of choices that are made by what was believed before the first page."""
        company = self.features.company
        if not company.relevant:
            return 0.5
        return 0.25 if company.barren > DROUGHT else 0.0

    def _expected(self, links: Candidates) -> Vector:
        return self.features.worth(links, self._weights.astype(np.float32))

    def _note(self, along: NDArray[np.float64], gain: NDArray[np.float64]) -> None:
        self._along[self._pending], self._gain[self._pending] = along, gain
        self._pending += 1
        if self._pending == PENDING:
            self._settle()

    def _settle(self) -> None:
        self._inverse -= self._along.T @ self._gain
        self._along[:], self._gain[:], self._pending = 0, 0, 0

    def _best_of(self, options: Candidates) -> float:
        """The expected worth of the best link of a page, as a share of a relevant page's."""
        return min(1.0, max(0.0, float(self._expected(options).max(initial=0.0))))
