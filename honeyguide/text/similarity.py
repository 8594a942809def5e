"""How close phrases are to what is looked for (Lim 2016, §5.2.2), with what it left open."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from honeyguide.contracts import Encoder, Matrix
from honeyguide.errors import HoneyguideError
from honeyguide.text.languages import stem
from honeyguide.text.words import terms

SAME = 0.6  # cosine from which one word can stand for another


class Match(NamedTuple):
    """A phrase, the search that it is closest to, and how close."""

    phrase: str
    search: str
    similarity: float

    def __str__(self) -> str:
        return f"'{self.phrase}' matches '{self.search}' ({self.similarity:.2f})"


class Searches:
    """Words and phrases to look for, and a page's phrases against them."""

    def __init__(
        self,
        search: Sequence[str],
        encoder: Encoder,
        low: float = 2 / 3,  # a similarity below counts as nothing
        high: float = 1.0,  # one above counts as nothing too, or as this when `capped`
        capped: bool = False,
        specific: bool = True,  # whether a phrase must be as specific as what is looked for
    ) -> None:
        self.search = tuple(dict.fromkeys(one.strip() for one in search if terms(one)))
        if not self.search:
            raise HoneyguideError("there is no word to look for")
        if not 0 <= low < high:
            raise HoneyguideError(f"similarities count from {low:g} to {high:g}: nothing can")
        self._encoder = encoder
        self._vectors = encoder(self.search)
        self._low, self._high, self._capped = low, high, capped
        self._narrow = {
            number: _Narrow(terms(one), encoder)
            for number, one in enumerate(self.search)
            if specific and len(terms(one)) > 1
        }

    def relevance(self, phrases: Sequence[str]) -> tuple[float, list[Match]]:
        """The mean over phrases of the best similarity, and the phrases that had any."""
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
        """Phrases by searches: cosines, 1 for the same words, 0 for what is too general."""
        cosines: Matrix = self._encoder(phrases) @ self._vectors.T
        for column, one in enumerate(self.search):
            for row, phrase in enumerate(phrases):
                if phrase == one.lower():
                    cosines[row, column] = 1.0
        for column, narrow in self._narrow.items():
            for row in np.flatnonzero(cosines[:, column] >= self._low).tolist():
                if narrow.is_wider(phrases[row]):
                    cosines[row, column] = 0.0
        return np.clip(cosines, 0.0, 1.0)

    def _bounded(self, similarities: Matrix) -> Matrix:
        counted = np.where(similarities < self._low, 0.0, similarities)
        if self._capped:
            return np.minimum(counted, self._high)
        # 1 is what the same words have, whatever the rounding
        return np.where(counted > self._high + 1e-6, 0.0, counted)


class _Narrow:
    """A search of several words, against phrases that say only some of them."""

    def __init__(self, words: Sequence[str], encoder: Encoder) -> None:
        self._words = list(words)
        self._stems = [stem(word, "en") for word in words]
        self._encoder = encoder
        self._vectors = encoder(self._words)

    def is_wider(self, phrase: str) -> bool:
        """Whether a phrase lacks a word of the search and brings none of its own instead."""
        own = terms(phrase)
        if not own or len(own) >= len(self._words):
            return False
        same = np.array([[stem(w, "en") == s for s in self._stems] for w in own], bool)
        same |= (self._encoder(own) @ self._vectors.T) >= SAME
        return bool(same.any(axis=1).all() and not same.any(axis=0).all())
