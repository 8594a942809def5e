"""Classifiers trained on optimal values before the crawl: upper benchmarks (Friar 2017, §3.7)."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from honeyguide.agents.url_linear_q import VOCABULARY, Adam, bag_of_words
from honeyguide.contracts import (
    Agent,
    Candidates,
    Goal,
    Matrix,
    Reasons,
    State,
    Step,
    Truth,
    Vector,
    Visit,
)
from honeyguide.errors import HoneyguideError
from honeyguide.features.url_words import UrlWords
from honeyguide.learning.optimal import optimal_values
from honeyguide.learning.rates import check_rates
from honeyguide.learning.url_cnn import Words
from honeyguide.learning.url_values import UrlValues
from honeyguide.registry import part

BATCH = 1000
BATCHES = 2000
PASSES = 20  # at most, over the pages of a small web
SAMPLED = 1_000_000  # pages to learn from, at most
# values never change, so that greedy walks would repeat the same paths
TEMPERATURE = 0.05
Pages = NDArray[np.integer[Any]]  # page numbers, or one integer a page


def known_truth(goal: Goal) -> Truth:
    """The truth about the goal's web; raise HoneyguideError where it is not known."""
    if goal.truth is None:
        raise HoneyguideError(
            "the classifier needs a web whose truth is known: a recorded or generated one"
        )
    return goal.truth()


class Values(Protocol):
    """A model of the values of URLs, trained on examples."""

    features: UrlWords

    def score(self, x: Matrix) -> Vector: ...

    def learn(self, rows: Words, targets: Vector) -> Vector: ...

    def policy(self) -> State: ...

    def load_policy(self, state: State) -> None: ...

    def state(self) -> State: ...

    def load(self, state: State) -> None: ...


class Classifier(Agent):
    """Walks by a model trained on the optimal values of half of all pages, or by a saved one."""

    def __init__(
        self,
        values: Values,
        goal: Goal,
        settings: tuple[float, int, float],  # gamma, batches, temperature
        rng: np.random.Generator,
    ) -> None:
        gamma, batches, temperature = settings
        if batches < 1:
            raise HoneyguideError("the classifier needs at least one batch to learn from")
        self.frontier = f"walks:temperature={temperature}"
        self._values = values
        self.features: UrlWords = values.features
        self.uses_encoder = isinstance(values, UrlValues)
        self.seen: Pages = np.empty(0, np.int64)  # pages of this web that it was trained on
        if not goal.has_policy:  # which was trained on another web; the live one has no truth
            self._train(known_truth(goal), (gamma, batches), rng)

    def _train(self, truth: Truth, settings: tuple[float, int], rng: np.random.Generator) -> None:
        self.seen = training_pages(len(truth.relevant), rng)
        # equation 3.2, on batches in which each optimal value is equally frequent
        rows, optimal, drawn = lessons(truth, self.seen, self.features, settings, rng)
        for chosen in drawn:
            self._values.learn(rows[chosen], optimal[chosen])

    def score(self, links: Candidates) -> Vector:
        """v(s; theta)."""
        return self._values.score(links.x)

    def explain(self, links: Candidates) -> Reasons:
        """What the value loses without the words of the URL."""
        return self.features.column_names.left_out(self.score, links)

    def ends(self, visit: Visit) -> bool:
        """End the episode at a relevant page (Friar 2017, §3.2.3)."""
        return visit.verdict.relevant

    def learn(self, steps: Sequence[Step]) -> None:
        """Do nothing: the model is trained before the crawl."""

    def policy(self) -> State:
        """The model and its words."""
        return self._values.policy()

    def load_policy(self, state: State) -> None:
        """Use a model that was trained on another web."""
        self._values.load_policy(state)

    def state(self) -> State:
        """The model, its words and the sightings of others."""
        return self._values.state()

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._values.load(state)


@part("agent", "url_classifier")
def url_classifier(
    goal: Goal,
    rng: np.random.Generator,
    gamma: float = 0.75,  # discount
    step_size: float = 0.001,
    batches: int = BATCHES,  # of 1,000 pages
    temperature: float = TEMPERATURE,  # of the softmax that chooses
) -> Classifier:
    """Walks by a network trained on the optimal values of half of all pages: an upper benchmark."""
    check_rates("url_classifier", gamma, step_size)
    for_network, for_pages = rng.spawn(2)
    values = UrlValues(goal, for_network, step_size)
    return Classifier(values, goal, (gamma, batches, temperature), for_pages)


@part("agent", "url_bag_classifier")
def url_bag_classifier(
    goal: Goal,
    rng: np.random.Generator,
    gamma: float = 0.75,  # discount
    step_size: float = 0.001,
    batches: int = BATCHES,  # of 1,000 pages
    temperature: float = TEMPERATURE,  # of the softmax that chooses
) -> Classifier:
    """As url_classifier, with a weight for each word instead of a network."""
    check_rates("url_bag_classifier", gamma, step_size)
    values, settings = BagValues(goal, step_size), (gamma, batches, temperature)
    return Classifier(values, goal, settings, rng)


class BagValues:
    """A linear model: the sum of the weights of a URL's words."""

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

    def policy(self) -> State:
        """The words and their weights."""
        return {"words": self.features.words[1:], "weights": self._w.copy()}

    def load_policy(self, state: State) -> None:
        """Take the words and weights of another model."""
        if np.shape(state["weights"]) != self._w.shape:
            raise HoneyguideError(
                f"{np.size(state['weights'])} weights do not fit {len(self._w)} words"
            )
        self.features.set_words(state["words"])
        self._w = np.array(state["weights"], np.float32)

    def state(self) -> State:
        """The weights and the words."""
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
    """Feature rows of pages, their optimal values, and training batches as places of rows."""
    if truth.url is None:
        raise HoneyguideError("the classifier needs a web whose URLs are known")
    gamma, batches = settings
    urls = [truth.url(page) for page in pages.tolist()]
    features.rows(urls)  # a first pass, to number common words
    rows, optimal = features.rows(urls), optimal_values(truth, gamma)[pages]
    size, fewer = min(BATCH, PASSES * len(rows)), min(batches, 1 + PASSES * len(rows) // BATCH)
    return rows, optimal, balanced(optimal, chances(truth)[pages], size, fewer, rng)


def training_pages(count: int, rng: np.random.Generator) -> Pages:
    """The numbers of half of all pages, drawn at random; the others are for tests."""
    half = max(1, min(count // 2, SAMPLED))
    chosen: Pages = np.sort(rng.permutation(count)[:half])
    return chosen


def chances(truth: Truth) -> Pages:
    """The number of links to each page, plus one: the weight of its draws."""
    inside = truth.targets[truth.targets >= 0]
    often: Pages = 1 + np.bincount(inside, minlength=len(truth.relevant))
    return often


def balanced(
    optimal: Vector, often: Pages, size: int, batches: int, rng: np.random.Generator
) -> list[Pages]:
    """Batches of places in which each optimal value is equally frequent.

    Values that few pages have are drawn less often, so that no page repeats too often.
    """
    groups = [np.flatnonzero(optimal == level) for level in np.unique(optimal)]
    # else the few pages farthest from a reward would make up a sixth of all draws
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
