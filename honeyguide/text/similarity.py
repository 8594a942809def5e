"""Similarity of a page's phrases to search phrases (Lim 2016, §5.2.2)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from honeyguide.contracts import Encoder, Matrix
from honeyguide.errors import HoneyguideError
from honeyguide.text.languages import stem
from honeyguide.text.words import terms

SAME = 0.6  # least cosine of two words that count as synonyms


class Match(NamedTuple):
    """A phrase, the most similar search phrase and their similarity."""

    phrase: str
    search: str
    similarity: float

    def __str__(self) -> str:
        return f"'{self.phrase}' matches '{self.search}' ({self.similarity:.2f})"


class Searches:
    """Search phrases to which the phrases of pages are compared."""

    def __init__(
        self,
        search: Sequence[str],
        encoder: Encoder,
        low: float = 2 / 3,  # lower similarities count as 0
        high: float = 1.0,  # higher similarities count as 0, or as `high` when `capped`
        capped: bool = False,
        specific: bool = True,  # whether phrases more general than a search count as 0
    ) -> None:
        self.search = tuple(dict.fromkeys(one.strip() for one in search if terms(one)))
        if not self.search:
            raise HoneyguideError("there is no word to look for")
        if not 0 <= low < high:
            raise HoneyguideError(
                f"low must be at least 0 and below high, not {low:g} and {high:g}"
            )
        self._encoder = encoder
        self._vectors = encoder(self.search)
        self._low, self._high, self._capped = low, high, capped
        self._multi_word = {
            number: _MultiWordSearch(terms(one), encoder)
            for number, one in enumerate(self.search)
            if specific and len(terms(one)) > 1
        }

    def relevance(self, phrases: Sequence[str]) -> tuple[float, list[Match]]:
        """Return the mean over phrases of their best similarity, and the matches above 0."""
        if not phrases:
            return 0.0, []
        similarities = self._bounded(self.similarities(phrases))
        best = similarities.argmax(axis=1)
        values = similarities[np.arange(len(phrases)), best]
        matches = [
            Match(phrases[place], self.search[best[place]], float(values[place]))
            for place in np.flatnonzero(values > 0).tolist()
        ]
        matches.sort(key=lambda match: -match.similarity)
        return float(values.mean()), matches

    def similarities(self, phrases: Sequence[str]) -> Matrix:
        """Return (phrases, searches) cosines: 1 for equal phrases, 0 for phrases too general."""
        cosines: Matrix = self._encoder(phrases) @ self._vectors.T
        for column, one in enumerate(self.search):
            for row, phrase in enumerate(phrases):
                if phrase == one.lower():
                    cosines[row, column] = 1.0
        for column, search in self._multi_word.items():
            for row in np.flatnonzero(cosines[:, column] >= self._low).tolist():
                if search.is_more_specific_than(phrases[row]):
                    cosines[row, column] = 0.0
        return np.clip(cosines, 0.0, 1.0)

    def _bounded(self, similarities: Matrix) -> Matrix:
        counted = np.where(similarities < self._low, 0.0, similarities)
        if self._capped:
            return np.minimum(counted, self._high)
        # equal phrases have 1 up to rounding
        return np.where(counted > self._high + 1e-6, 0.0, counted)


class _MultiWordSearch:
    """A search phrase of several words."""

    def __init__(self, words: Sequence[str], encoder: Encoder) -> None:
        self._words = list(words)
        self._stems = [stem(word, "en") for word in words]
        self._encoder = encoder
        self._vectors = encoder(self._words)

    def is_more_specific_than(self, phrase: str) -> bool:
        """Return whether a phrase lacks words of the search and has no other words."""
        own = terms(phrase)
        if not own or len(own) >= len(self._words):
            return False
        same = np.array([[stem(w, "en") == s for s in self._stems] for w in own], bool)
        same |= (self._encoder(own) @ self._vectors.T) >= SAME
        return bool(same.any(axis=1).all() and not same.any(axis=0).all())
