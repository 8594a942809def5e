"""Word vectors of a growing vocabulary, taken from an encoder."""

import numpy as np

from honeyguide.contracts import Encoder, Matrix
from honeyguide.features.url_words import TEXT

DIMENSIONS = 300  # of the vectors in Friar (2017); an encoder may have fewer


class WordVectors:
    """Unit vectors of words by number; number 0 is no word and has a zero vector."""

    def __init__(self, encoder: Encoder, most: int, dimensions: int = DIMENSIONS) -> None:
        self.width = min(dimensions, encoder.width)
        self._encoder = encoder
        self._rows = np.zeros((most + 1, self.width), np.float32)
        self.known = 1  # rows in use

    def of(self, words: list[str]) -> Matrix:
        """The vectors of all words by number; only words added since the last call are encoded."""
        if len(words) > self.known:
            new = self._encoder([word.removeprefix(TEXT) for word in words[self.known :]])
            short = new[:, : self.width]
            lengths = np.linalg.norm(short, axis=1, keepdims=True)
            self._rows[self.known : len(words)] = short / np.maximum(lengths, 1e-6)
            self.known = len(words)
        return self._rows[: self.known]

    def forget(self) -> None:
        """Forget all vectors, since other words have these numbers now."""
        self.known = 1
