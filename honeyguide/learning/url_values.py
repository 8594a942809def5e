"""Values of URLs by a network over their words, and its target network."""

from collections.abc import Sequence

import numpy as np
import torch

from honeyguide.contracts import Goal, Matrix, State, Step, Vector
from honeyguide.features.segmenting import NONE, Names
from honeyguide.features.url_words import UrlWords
from honeyguide.learning.replay import Experience
from honeyguide.learning.torch_threads import one_thread
from honeyguide.learning.url_cnn import Products, UrlCnn, Words
from honeyguide.learning.word_vectors import WordVectors

VOCABULARY = 10_000  # the commonest words
RAREST = 0.4  # of a survey: Friar (2017) wants 50 occurrences of a word in a bag, 20 here


class UrlValues:
    """URL word features, word vectors and a convolutional network, together."""

    def __init__(
        self,
        goal: Goal,
        rng: np.random.Generator,
        step_size: float,
        weights: str = "glorot",  # their first values: as in UrlCnn
        hidden: int = 0,  # units of a second layer
        known: Names = NONE,  # names that are not cut into words
    ) -> None:
        one_thread()
        # as in Friar (2017): words without a pre-trained vector are not read
        self.features: UrlWords = UrlWords(
            vocabulary=VOCABULARY,
            names=False,
            surveyed=goal.surveyed(),
            rarest=RAREST,
            known=known,
        )
        self._vectors = WordVectors(goal.encoder, VOCABULARY)
        self.cnn = UrlCnn(self._vectors.width, rng, step_size, weights, hidden)

    @property
    def vectors(self) -> Matrix:
        """The vectors of all words that have numbers, by number."""
        return self._vectors.of(self.features.words)

    def score(self, x: Matrix) -> Vector:
        """The values of rows of word numbers."""
        longest = int((x > 0).sum(axis=1).max(initial=1))
        rows = x[:, :longest].astype(np.intp)
        used, where = np.unique(np.append(rows.ravel(), 0), return_inverse=True)
        products = self.cnn.products(self.vectors[used])
        return self.cnn.values(where[:-1].reshape(rows.shape), products)

    def learn(self, rows: Words, targets: Vector, weights: Vector | None = None) -> Vector:
        """Take one gradient step towards the targets and return the errors before it."""
        weights = np.ones(len(rows), np.float32) if weights is None else weights
        return self.cnn.learn(rows, self.vectors, targets, weights)

    def experience(self, step: Step) -> Experience:
        """A step as an experience; without options where the episode ends."""
        options = step.options.x[:0] if step.verdict.relevant else step.options.x
        return Experience(
            self.features.row_of(step).astype(np.uint16), step.reward, options.astype(np.uint16)
        )

    def policy(self) -> State:
        """The network and the words that it knows."""
        return {"words": self.features.words[1:], "network": self.cnn.parameters.state()}

    def load_policy(self, state: State) -> None:
        """Take the network and the words of another crawl."""
        self.cnn.parameters.load(state["network"])
        self.features.set_words(state["words"])
        self._vectors.forget()

    def state(self) -> State:
        """Everything that `load` restores."""
        return {"features": self.features.state(), "network": self.cnn.parameters.state()}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.cnn.parameters.load(state["network"])
        self.features.load(state["features"])
        self._vectors.forget()


class TargetNetwork:
    """A copy of the network that is updated now and then, for targets (Friar 2017, §2.4.3)."""

    def __init__(self, values: UrlValues) -> None:
        self._values = values
        self.update()

    def update(self, data: torch.Tensor | None = None) -> None:
        """Copy the network's parameters, or take those in `data`."""
        self.data = self._values.cnn.parameters.copy() if data is None else data
        self._products: Products | None = None

    def score(self, rows: Words) -> Vector:
        """The values of rows of word numbers, by the copy."""
        vectors, cnn = self._values.vectors, self._values.cnn
        known = 0 if self._products is None else self._products.shape[1]
        if known < len(vectors):  # only new words: few, once the crawl is under way
            new = cnn.products(vectors[known:], self.data)
            old = self._products
            self._products = new if old is None else np.concatenate([old, new], axis=1)
        assert self._products is not None  # noqa: S101 for the type checker
        return cnn.values(rows, self._products, self.data)

    def best(self, batch: Sequence[Experience], double: Vector | None = None) -> Vector:
        """The value of the best option of each experience, 0 without options.

        The best option is that with the highest value here, or in `double` if it is given.
        """
        counts = np.array([len(experience.options) for experience in batch])
        best = np.zeros(len(batch), np.float32)
        some = np.flatnonzero(counts)
        if len(some):
            rows = np.concatenate([batch[place].options for place in some.tolist()])
            values, starts = self.score(rows), np.cumsum(counts[some]) - counts[some]
            if double is None:
                best[some] = np.maximum.reduceat(values, starts)
            else:
                ends = starts + counts[some]
                chosen = [a + int(double[a:b].argmax()) for a, b in zip(starts, ends, strict=True)]
                best[some] = values[chosen]
        return best
