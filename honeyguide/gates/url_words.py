"""Predicted relevance from the words of a URL (Lim 2016, §5.2.1, feature 4)."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from honeyguide import urls
from honeyguide.contracts import Encoder
from honeyguide.errors import HoneyguideError
from honeyguide.text.languages import stem
from honeyguide.text.words import terms

MOST = 100_000  # words and URLs remembered


class UrlWords:
    """Similarity of URL words to the search words, as the judge `keyphrases` has it for pages."""

    def __init__(
        self,
        search: Sequence[str],
        encoder: Encoder,
        low: float = 2 / 3,  # a lower similarity counts as 0
    ) -> None:
        if not 0 <= low <= 1:
            raise HoneyguideError(f"a gate needs 0 <= similarity <= 1, not similarity={low:g}")
        searches = [terms(one) for one in search]
        self._searches = [found for found in searches if found]
        flat = [word for found in self._searches for word in found]
        self._stems = [stem(word, "en") for word in flat]
        self._vectors = encoder(flat)
        self._encoder = encoder
        self._low = low
        self._ends: list[int] = np.cumsum([len(found) for found in self._searches]).tolist()
        self._known: dict[str, tuple[float, ...]] = {}
        # the highest score over searches; that of a search is the least of its words' similarities
        self.best: Callable[[str], float] = lru_cache(MOST)(self._best)

    def prepare(self, found: Sequence[str]) -> None:
        """Encode the words of these URLs, all at once."""
        self._encode_new({word for url in found for word in urls.words(url).split()})
        for url in found:
            self.best(url)

    def mean(self, url: str) -> float:
        """The mean over the words of a URL of the highest similarity to any search word."""
        words = urls.words(url).split()
        return sum(max(self._similarities(word)) for word in words) / max(len(words), 1)

    def _best(self, url: str) -> float:
        words = urls.words(url).split()
        if not words:
            return 0.0
        best = [max(each) for each in zip(*map(self._similarities, words), strict=True)]
        starts = [0, *self._ends[:-1]]
        spans = zip(starts, self._ends, strict=True)
        return max((min(best[start:end]) for start, end in spans), default=0.0)

    def _similarities(self, word: str) -> tuple[float, ...]:
        """The similarity of a word to each word of each search."""
        if word not in self._known:
            self._encode_new({word})
        return self._known[word]

    def _encode_new(self, words: set[str]) -> None:
        new = sorted(words - self._known.keys())
        if not new:
            return
        if len(self._known) + len(new) > MOST:
            self._known.clear()
            new = sorted(words)
        cosines = (self._encoder(new) @ self._vectors.T).tolist()
        for word, row in zip(new, cosines, strict=True):
            close = map(self._similarity, [word] * len(row), self._stems, row)
            self._known[word] = tuple(value if value >= self._low else 0.0 for value in close)

    def _similarity(self, word: str, root: str, cosine: float) -> float:
        """1 if both have the same stem, else the cosine; stems only where first letters agree."""
        return 1.0 if word[:2] == root[:2] and stem(word, "en") == root else cosine
