"""Predicted relevance by a URL's words (Lim 2016, §5.2.1, feature 4)."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from honeyguide import urls
from honeyguide.contracts import Encoder
from honeyguide.text.languages import stem
from honeyguide.text.words import terms

MOST = 100_000  # words and URLs remembered
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
        self._ends: list[int] = np.cumsum([len(found) for found in self._searches]).tolist()
        self._known: dict[str, tuple[float, ...]] = {}
        # how well one search is met: the least of its words' best similarities
        self.best: Callable[[str], float] = lru_cache(MOST)(self._best)

    def see(self, found: Sequence[str]) -> None:
        """Get to know the words of these URLs, all at once."""
        self._learn({word for url in found for word in urls.words(url).split()})
        for url in found:
            self.best(url)

    def mean(self, url: str) -> float:
        """As printed: the mean over its words of the best similarity to any search word."""
        words = urls.words(url).split()
        return sum(max(self._closeness(word)) for word in words) / max(len(words), 1)

    def _best(self, url: str) -> float:
        words = urls.words(url).split()
        if not words:
            return 0.0
        met = [max(each) for each in zip(*map(self._closeness, words), strict=True)]
        starts = [0, *self._ends[:-1]]
        spans = zip(starts, self._ends, strict=True)
        return max((min(met[start:end]) for start, end in spans), default=0.0)

    def _closeness(self, word: str) -> tuple[float, ...]:
        """Its similarity to each word of each search."""
        if word not in self._known:
            self._learn({word})
        return self._known[word]

    def _learn(self, words: set[str]) -> None:
        new = sorted(words - self._known.keys())
        if not new:
            return
        if len(self._known) + len(new) > MOST:
            self._known.clear()
            new = sorted(words)
        cosines = (self._encoder(new) @ self._vectors.T).tolist()
        for word, row in zip(new, cosines, strict=True):
            close = map(self._same_or, [word] * len(row), self._stems, row)
            self._known[word] = tuple(value if value >= LOW else 0.0 for value in close)

    def _same_or(self, word: str, root: str, cosine: float) -> float:
        """1 for two forms of a word; stemming is slow, so most are told by their beginning."""
        return 1.0 if word[:2] == root[:2] and stem(word, "en") == root else cosine
