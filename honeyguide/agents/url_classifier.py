"""The network that is told the optimal values: an upper benchmark (Friar 2017, §3.7)."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from honeyguide.agents.url_linear_q import VOCABULARY, Adam, bag_of_words
from honeyguide.contracts import Agent, Candidates, Goal, Matrix, State, Step, Truth, Vector, Visit
from honeyguide.errors import HoneyguideError
from honeyguide.features.url_words import UrlWords
from honeyguide.learning.optimal import optimal_values
from honeyguide.learning.url_cnn import Words
from honeyguide.learning.url_values import UrlValues
from honeyguide.registry import part

BATCH = 1000
BATCHES = 2000
PASSES = 20  # over a small web, at most
SAMPLED = 1_000_000  # pages to learn from, at most
# values never change, so that walks by the best of them would take the same ways for ever
TEMPERATURE = 0.05
Pages = NDArray[np.integer[Any]]  # numbers of pages, or a number for each


def known_truth(goal: Goal) -> Truth:
    """The truth that a classifier is shown; a complaint where nobody knows it."""
    if goal.truth is None:
        raise HoneyguideError(
            "the classifier needs a web whose truth is known: a recorded or generated one"
        )
    return goal.truth()


class Values(Protocol):
    """What URLs are worth, learnt from examples."""

    features: UrlWords

    def score(self, x: Matrix) -> Vector: ...

    def learn(self, rows: Words, targets: Vector) -> Vector: ...

    def state(self) -> State: ...

    def load(self, state: State) -> None: ...


class Classifier(Agent):
    """Walks by values that were shown how far half of all pages are from a reward."""

    def __init__(
        self,
        values: Values,
        truth: Truth,
        settings: tuple[float, int, float],  # gamma, batches, temperature
        rng: np.random.Generator,
    ) -> None:
        gamma, batches, temperature = settings
        if batches < 1:
            raise HoneyguideError("the classifier needs at least one batch to learn from")
        self.frontier = f"walks:temperature={temperature}"
        self._values = values
        self.features: UrlWords = values.features
        self.seen = training_pages(len(truth.relevant), rng)
        # equation 3.2 on batches in which every optimal value is as frequent
        rows, optimal, drawn = lessons(truth, self.seen, self.features, (gamma, batches), rng)
        for chosen in drawn:
            values.learn(rows[chosen], optimal[chosen])

    def score(self, links: Candidates) -> Vector:
        """v(s; theta)."""
        return self._values.score(links.x)

    def ends(self, visit: Visit) -> bool:
        """End the episode at a relevant page (Friar 2017, §3.2.3)."""
        return visit.verdict.relevant

    def learn(self, steps: Sequence[Step]) -> None:
        """All was learnt before."""

    def state(self) -> State:
        """The values and their words."""
        return self._values.state()

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._values.load(state)


@part("agent", "url_classifier")
def url_classifier(
    goal: Goal,
    rng: np.random.Generator,
    gamma: float = 0.75,  # worth of what is one link further
    step_size: float = 0.001,
    batches: int = BATCHES,  # of 1,000 pages
    temperature: float = TEMPERATURE,  # of the softmax that chooses
) -> Classifier:
    """Walks by a network that was shown how far half of all pages are from a reward."""
    for_network, for_pages = rng.spawn(2)
    values = UrlValues(goal, for_network, step_size)
    return Classifier(values, known_truth(goal), (gamma, batches, temperature), for_pages)


@part("agent", "url_bag_classifier")
def url_bag_classifier(
    goal: Goal,
    rng: np.random.Generator,
    gamma: float = 0.75,  # worth of what is one link further
    step_size: float = 0.001,
    batches: int = BATCHES,  # of 1,000 pages
    temperature: float = TEMPERATURE,  # of the softmax that chooses
) -> Classifier:
    """As url_classifier, with a weight for each word instead of a network."""
    values, settings = _BagValues(goal, step_size), (gamma, batches, temperature)
    return Classifier(values, known_truth(goal), settings, rng)


class _BagValues:
    """The sum of the weights of a URL's words."""

    def __init__(self, goal: Goal, step_size: float) -> None:
        self.features: UrlWords = bag_of_words(goal)
        self._w = np.zeros(VOCABULARY + 1, np.float32)
        self._adam = Adam(VOCABULARY + 1, step_size)

    def score(self, x: Matrix) -> Vector:
        """v(s; w)."""
        values: Vector = self._w[x.astype(np.intp)].sum(axis=1)
        return values

    def learn(self, rows: Words, targets: Vector) -> Vector:
        """Take one gradient step towards the targets and return the errors before it."""
        words = rows.astype(np.intp)
        errors: Vector = targets - self._w[words].sum(axis=1)
        gradient = np.zeros_like(self._w)
        np.add.at(gradient, words, -errors[:, None] / len(rows))
        gradient[0] = 0.0
        self._w -= self._adam.step(gradient)
        return errors

    def state(self) -> State:
        """The weights and their words."""
        return {"weights": self._w.copy(), "features": self.features.state()}

    def load(self, state: State) -> None:
        """Restore a saved state."""
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
    size, fewer = min(BATCH, PASSES * len(rows)), min(batches, 1 + PASSES * len(rows) // BATCH)
    return rows, optimal, balanced(optimal, chances(truth)[pages], size, fewer, rng)


def training_pages(count: int, rng: np.random.Generator) -> Pages:
    """Half of all pages; the others are for tests."""
    half = max(1, min(count // 2, SAMPLED))
    chosen: Pages = np.sort(rng.permutation(count)[:half])
    return chosen


def chances(truth: Truth) -> Pages:
    """How often a walk has the choice of each page: once for every link to it, and once more."""
    inside = truth.targets[truth.targets >= 0]
    often: Pages = 1 + np.bincount(inside, minlength=len(truth.relevant))
    return often


def balanced(
    optimal: Vector, often: Pages, size: int, batches: int, rng: np.random.Generator
) -> list[Pages]:
    """Places of batches, each optimal value as frequent as any other, but no page too frequent."""
    groups = [np.flatnonzero(optimal == level) for level in np.unique(optimal)]
    # a handful of pages farther away than all others would make up a sixth of what is learnt
    most = np.array([PASSES * len(group) / (size * batches) for group in groups])
    shares = np.minimum(most, 1 / len(groups))
    draws = [(group, np.cumsum(often[group])) for group in groups]
    return [_mixed(draws, shares / shares.sum(), size, rng) for _ in range(batches)]


def _mixed(
    draws: Sequence[tuple[Pages, Pages]], shares: Vector, size: int, rng: np.random.Generator
) -> Pages:
    counts = rng.multinomial(size, shares)
    drawn = [
        group[np.searchsorted(often, rng.integers(often[-1], size=n), "right")]
        for (group, often), n in zip(draws, counts, strict=True)
    ]
    mixed: Pages = np.concatenate(drawn)
    return mixed
