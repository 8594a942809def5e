"""Predicted relevance by a URL's words (document 002, 5.2.1, feature 4)."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from honeyguide import urls
from honeyguide.contracts import Encoder
from honeyguide.phrases.languages import stem
from honeyguide.text import terms

LOW = 2 / 3  # a similarity below counts as nothing


class UrlWords:
    """The key phrase score of a page, on the words of its URL; a word is encoded once."""

    def __init__(self, search: Sequence[str], encoder: Encoder) -> None:
        searches = [terms(one) for one in search]
        self._searches = [found for found in searches if found]
        flat = [word for found in self._searches for word in found]
        self._stems = [stem(word, "en") for word in flat]
        self._vectors = encoder(flat)
        self._encoder = encoder
        self._ends = np.cumsum([len(found) for found in self._searches]).tolist()
        self._closeness = lru_cache(1 << 15)(self._close)

    def mean(self, url: str) -> float:
        """As printed: the mean over its words of the best similarity to any search word."""
        words = urls.words(url).split()
        return sum(max(self._closeness(word)) for word in words) / max(len(words), 1)

    def best(self, url: str) -> float:
        """How well one search is met: the least of its words' best similarities."""
        words = urls.words(url).split()
        if not words:
            return 0.0
        met = [max(each) for each in zip(*map(self._closeness, words), strict=True)]
        starts = [0, *self._ends[:-1]]
        return max(min(met[a:b]) for a, b in zip(starts, self._ends, strict=True))

    def _close(self, word: str) -> tuple[float, ...]:
        """Its similarity to each word of each search."""
        cosines = (self._encoder([word])[0] @ self._vectors.T).tolist()
        root = stem(word, "en")
        close = [1.0 if root == s else c for c, s in zip(cosines, self._stems, strict=True)]
        return tuple(value if value >= LOW else 0.0 for value in close)
