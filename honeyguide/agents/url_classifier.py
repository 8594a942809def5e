"""The network that is told the optimal values: an upper benchmark (document 004, 3.7)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honeyguide.agents.url_linear_q import VOCABULARY, Adam
from honeyguide.contracts import Agent, Goal, Matrix, State, Step, Truth, Vector, Visit
from honeyguide.errors import HoneyguideError
from honeyguide.features.url_words import UrlWords
from honeyguide.networks.optimal import optimal_values
from honeyguide.networks.url_values import UrlValues
from honeyguide.registry import part

BATCH = 1000
BATCHES = 2000
PASSES = 20  # over a small web, at most
SAMPLED = 1_000_000  # pages to learn from, at most
Pages = NDArray[np.integer[Any]]


def known_truth(goal: Goal) -> Truth:
    """The truth that a classifier is shown; a complaint where nobody knows it."""
    if goal.truth is None:
        raise HoneyguideError(
            "the classifier needs a web whose truth is known: a recorded or generated one"
        )
    return goal.truth()


@part("agent", "url_classifier")
class UrlClassifier(Agent):
    """Walks by a network that was shown how far half of all pages are from a reward."""

    frontier = "walks"

    def __init__(
        self,
        goal: Goal,
        rng: np.random.Generator,
        gamma: float = 0.75,  # worth of what is one link further
        step_size: float = 0.001,
        batches: int = BATCHES,  # of 1,000 pages
    ) -> None:
        for_network, for_pages = rng.spawn(2)
        self._values = UrlValues(goal.encoder, for_network, step_size)
        self.features: UrlWords = self._values.features
        truth = known_truth(goal)
        self.seen = training_pages(len(truth.relevant), for_pages)
        self._train(truth, gamma, batches, for_pages)

    def _train(self, truth: Truth, gamma: float, batches: int, rng: np.random.Generator) -> None:
        """Equation 3.2 on batches in which every optimal value is as frequent."""
        rows, optimal, drawn = lessons(truth, self.seen, self.features, (gamma, batches), rng)
        for chosen in drawn:
            self._values.learn(rows[chosen], optimal[chosen])

    def score(self, x: Matrix) -> Vector:
        """v(s; theta)."""
        return self._values.score(x)

    def ends(self, visit: Visit) -> bool:
        """Section 3.2.3: an episode ends with a reward."""
        return visit.verdict.relevant

    def learn(self, steps: Sequence[Step]) -> None:
        """All was learnt before."""

    def state(self) -> State:
        """The network and its words."""
        return self._values.state()

    def load(self, state: State) -> None:
        """Go on from there."""
        self._values.load(state)


@part("agent", "url_bag_classifier")
class UrlBagClassifier(Agent):
    """As url_classifier, with a weight for each word instead of a network."""

    frontier = "walks"

    def __init__(
        self,
        goal: Goal,
        rng: np.random.Generator,
        gamma: float = 0.75,  # worth of what is one link further
        step_size: float = 0.001,
        batches: int = BATCHES,  # of 1,000 pages
    ) -> None:
        self.features: UrlWords = UrlWords(vocabulary=VOCABULARY)
        truth = known_truth(goal)
        self.seen = training_pages(len(truth.relevant), rng)
        self._w = np.zeros(VOCABULARY + 1, np.float32)
        adam = Adam(VOCABULARY + 1, step_size)
        rows, optimal, drawn = lessons(truth, self.seen, self.features, (gamma, batches), rng)
        for chosen in drawn:
            words = rows[chosen].astype(np.intp)
            errors = optimal[chosen] - self._w[words].sum(axis=1)
            gradient = np.zeros_like(self._w)
            np.add.at(gradient, words, -errors[:, None] / len(chosen))
            gradient[0] = 0.0
            self._w -= adam.step(gradient)

    def score(self, x: Matrix) -> Vector:
        """v(s; w): the sum of the weights of its words."""
        values: Vector = self._w[x.astype(np.intp)].sum(axis=1)
        return values

    def ends(self, visit: Visit) -> bool:
        """Section 3.2.3: an episode ends with a reward."""
        return visit.verdict.relevant

    def learn(self, steps: Sequence[Step]) -> None:
        """All was learnt before."""

    def state(self) -> State:
        """The weights and their words."""
        return {"weights": self._w.copy(), "features": self.features.state()}

    def load(self, state: State) -> None:
        """Go on from there."""
        self._w = state["weights"].copy()
        self.features.load(state["features"])


def lessons(
    truth: Truth,
    pages: Pages,
    features: UrlWords,
    settings: tuple[float, int],  # gamma, batches
    rng: np.random.Generator,
) -> tuple[Matrix, Vector, list[Pages]]:
    """Rows of pages, their optimal values, and the batches to learn from."""
    if truth.url is None:
        raise HoneyguideError("the classifier needs a web whose URLs are known")
    gamma, batches = settings
    urls = [truth.url(page) for page in pages.tolist()]
    features.rows(urls)  # so that common words have their numbers
    rows, optimal = features.rows(urls), optimal_values(truth, gamma)[pages]
    fewer = min(batches, 1 + PASSES * len(rows) // BATCH)
    return rows, optimal, balanced(optimal, min(BATCH, PASSES * len(rows)), fewer, rng)


def training_pages(count: int, rng: np.random.Generator) -> Pages:
    """Half of all pages; the others are for tests."""
    half = max(1, min(count // 2, SAMPLED))
    chosen: Pages = np.sort(rng.permutation(count)[:half])
    return chosen


def balanced(optimal: Vector, size: int, batches: int, rng: np.random.Generator) -> list[Pages]:
    """Places of batches, each optimal value drawn as often as any other."""
    groups = [np.flatnonzero(optimal == level) for level in np.unique(optimal)]
    return [_mixed(groups, size, rng) for _ in range(batches)]


def _mixed(groups: Sequence[Pages], size: int, rng: np.random.Generator) -> Pages:
    counts = np.bincount(rng.integers(0, len(groups), size), minlength=len(groups))
    drawn = [group[rng.integers(0, len(group), n)] for group, n in zip(groups, counts, strict=True)]
    mixed: Pages = np.concatenate(drawn)
    return mixed
