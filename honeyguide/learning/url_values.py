"""What URLs are worth, from their words: the rows, the word vectors and the network together."""

from collections.abc import Sequence

import numpy as np
import torch

from honeyguide.contracts import Goal, Matrix, State, Step, Vector
from honeyguide.features.url_words import UrlWords
from honeyguide.learning.replay import Experience
from honeyguide.learning.torch_threads import one_thread
from honeyguide.learning.url_cnn import Made, UrlCnn, Words
from honeyguide.learning.word_vectors import WordVectors

VOCABULARY = 10_000  # the commonest words
RAREST = 0.4  # of a survey: in the document's source a word of the bag is there 50 times, here 20


class UrlValues:
    """A convolution over the vectors of the words of URLs."""

    def __init__(self, goal: Goal, rng: np.random.Generator, step_size: float) -> None:
        one_thread()
        # as in the document: words without a pre-trained vector are not read
        self.features: UrlWords = UrlWords(
            vocabulary=VOCABULARY, names=False, surveyed=goal.surveyed(), rarest=RAREST
        )
        self._vectors = WordVectors(goal.encoder, VOCABULARY)
        self.cnn = UrlCnn(self._vectors.width, rng, step_size)

    @property
    def vectors(self) -> Matrix:
        """The vector of each word so far, by number."""
        return self._vectors.of(self.features.words)

    def score(self, x: Matrix) -> Vector:
        """The values of rows: what filters make of each word is worked out once a word."""
        longest = int((x > 0).sum(axis=1).max(initial=1))
        rows = x[:, :longest].astype(np.intp)
        used, where = np.unique(np.append(rows.ravel(), 0), return_inverse=True)
        made = self.cnn.made(self.vectors[used])
        return self.cnn.values(where[:-1].reshape(rows.shape), made)

    def learn(self, rows: Words, targets: Vector, weights: Vector | None = None) -> Vector:
        """Take one gradient step towards the targets and return the errors before it."""
        weights = np.ones(len(rows), np.float32) if weights is None else weights
        return self.cnn.learn(rows, self.vectors, targets, weights)

    def experience(self, step: Step) -> Experience:
        """What a step has to say; nothing can be done where an episode ends."""
        options = step.options.x[:0] if step.verdict.relevant else step.options.x
        return Experience(
            self.features.row_of(step).astype(np.uint16), step.reward, options.astype(np.uint16)
        )

    def state(self) -> State:
        """Everything that `load` restores."""
        return {"features": self.features.state(), "network": self.cnn.parameters.state()}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.cnn.parameters.load(state["network"])
        self.features.load(state["features"])
        self._vectors.forget()


class Frozen:
    """The network as it was when it was last copied: what targets are made of (2.4.3)."""

    def __init__(self, values: UrlValues) -> None:
        self._values = values
        self.copy()

    def copy(self, data: torch.Tensor | None = None) -> None:
        """Become what the network is now, or was."""
        self.data = self._values.cnn.parameters.copy() if data is None else data
        self._made: Made | None = None

    def score(self, rows: Words) -> Vector:
        """The values of rows by the copy."""
        vectors, cnn = self._values.vectors, self._values.cnn
        known = 0 if self._made is None else self._made.shape[1]
        if known < len(vectors):  # few words are new once the crawl is under way
            new = cnn.made(vectors[known:], self.data)
            self._made = new if self._made is None else np.concatenate([self._made, new], axis=1)
        assert self._made is not None  # noqa: S101 for the type checker
        return cnn.values(rows, self._made, self.data)

    def best(self, batch: Sequence[Experience], double: Vector | None = None) -> Vector:
        """The value of the best option of each, 0 without one; `double`: others choose it."""
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
