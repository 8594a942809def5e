"""Similarity of a page's phrases to search phrases (Lim 2016, §5.2.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np

from honeyguide.contracts import Encoder, Matrix
from honeyguide.errors import HoneyguideError
from honeyguide.text.languages import stem
from honeyguide.text.words import STOP_WORDS, terms, words

SAME = 0.6  # least cosine of two words that count as synonyms, if nothing is known of the encoder
CONTAINED = 0.5  # what a phrase counts at least that has all words of a search, and others
Stems = tuple[str, ...]


class Match(NamedTuple):
    """A phrase, a search phrase that it is similar to, and their cosine."""

    phrase: str
    search: str
    similarity: float

    def __str__(self) -> str:
        return f"'{self.phrase}' matches '{self.search}' ({self.similarity:.2f})"


class Counting(Protocol):
    """What a cosine of a phrase and a search counts."""

    @property
    def synonym(self) -> float: ...  # least cosine of two words that count as the same
    @property
    def contained(self) -> float: ...  # what a phrase with all words of a search counts at least

    def __call__(self, cosines: Matrix) -> Matrix:
        """What each counts, from 0 to 1; 0 is no match."""
        ...


@dataclass(frozen=True, slots=True)
class Between:
    """Counts cosines between two bounds as they are, as the document does."""

    low: float = 2 / 3  # lower similarities count as 0
    high: float = 1.0  # higher similarities count as 0, or as `high` when `capped`
    capped: bool = False
    synonym: float = SAME
    contained: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high:
            raise HoneyguideError(
                f"low must be at least 0 and below high, not {self.low:g} and {self.high:g}"
            )

    def __call__(self, cosines: Matrix) -> Matrix:
        """Cosines between the bounds."""
        counted = np.where(cosines < self.low, 0.0, cosines)
        if self.capped:
            return np.minimum(counted, self.high).astype(np.float32)
        # equal phrases have 1 up to rounding
        return np.where(counted > self.high + 1e-6, 0.0, counted).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Above:
    """Counts how far a cosine is above what unrelated phrases have, squared."""

    least: float  # the cosine that few unrelated phrases reach

    @property
    def synonym(self) -> float:
        """Halfway from there to equal words."""
        return (1 + self.least) / 2

    @property
    def contained(self) -> float:
        """Half of what the search itself counts."""
        return CONTAINED

    def __call__(self, cosines: Matrix) -> Matrix:
        """0 at the least cosine, 1 for the same phrase."""
        share = np.clip((cosines - self.least) / (1 - self.least), 0.0, 1.0)
        counted: Matrix = (share * share).astype(np.float32)
        return counted


class Centred:
    """An encoder without what all its vectors have in common, so that cosines tell more.

    GloVe finds all frequent words alike: "time" and "music" have a cosine of 0.55, but 0.06
    without the mean of some common words.
    """

    def __init__(self, encoder: Encoder, common: Sequence[str]) -> None:
        self._encoder = encoder
        self._mean = encoder(common).mean(axis=0)
        self.width = encoder.width

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors; a zero row for a text without a known word."""
        vectors = self._encoder(texts)
        moved = np.where(vectors.any(axis=1, keepdims=True), vectors - self._mean, 0.0)
        norms = np.linalg.norm(moved, axis=1, keepdims=True)
        units: Matrix = (moved / np.maximum(norms, 1e-9)).astype(np.float32)
        return units

    def knows(self, text: str) -> bool:
        """Whether the text has a known word."""
        return self._encoder.knows(text)


class Searches:
    """Search phrases to which the phrases of pages are compared."""

    def __init__(
        self,
        search: Sequence[str],
        encoder: Encoder,
        counting: Counting | None = None,  # None: as in the document
        specific: bool = True,  # whether phrases more general than a search count as 0
    ) -> None:
        self.search = tuple(dict.fromkeys(one.strip() for one in search if terms(one)))
        if not self.search:
            raise HoneyguideError("there is no word to look for")
        self._encoder = encoder
        self._vectors = encoder(self.search)
        self._counting: Counting = counting or Between()
        self._multi_word = {
            number: _MultiWordSearch(terms(one), encoder, self._counting.synonym)
            for number, one in enumerate(self.search)
            if specific and len(terms(one)) > 1
        }

    def relevance(self, phrases: Sequence[str], language: str = "en") -> tuple[float, list[Match]]:
        """Return the mean over phrases of their best similarity, and all matches, best first."""
        if not phrases:
            return 0.0, []
        cosines, counted = self.similarities(phrases, language)
        rows, columns = np.nonzero(counted > 0)
        matches = [
            Match(phrases[row], self.search[column], float(cosines[row, column]))
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        ]
        matches.sort(key=lambda match: -match.similarity)
        return float(counted.max(axis=1).mean()), matches

    def similarities(self, phrases: Sequence[str], language: str = "en") -> tuple[Matrix, Matrix]:
        """Return cosines and what they count, each of shape (phrases, searches).

        Phrases with the same words, in any form, have a cosine of 1; what is too general counts 0.
        """
        cosines = np.clip(self._encoder(phrases) @ self._vectors.T, 0.0, 1.0).astype(np.float32)
        stems = [stems_of(phrase, language) for phrase in phrases]
        sought = [stems_of(one, language) for one in self.search]
        for column, wanted in enumerate(sought):
            cosines[[row for row, own in enumerate(stems) if own == wanted], column] = 1.0
        counted = self._counting(cosines)
        for column, wanted in enumerate(sought):
            self._compare_words(counted[:, column], stems, frozenset(wanted))
        for column, search in self._multi_word.items():
            for row in np.flatnonzero(counted[:, column] > 0).tolist():
                if search.is_more_specific_than(phrases[row], language):
                    counted[row, column] = 0.0
        return cosines, counted

    def _compare_words(
        self, counted: Matrix, stems: Sequence[Stems], wanted: frozenset[str]
    ) -> None:
        """Let phrases count that have all words of a search, and others."""
        least = self._counting.contained
        if not least or not wanted:
            return
        for row, own in enumerate(stems):
            if len(own) > len(wanted) and wanted.issubset(own):
                counted[row] = max(counted[row], least)


@lru_cache(1 << 15)
def stems_of(phrase: str, language: str) -> Stems:
    """The words of a phrase without their endings, stop words left out."""
    return tuple(stem(word, language) for word in words(phrase) if word not in STOP_WORDS)


class _MultiWordSearch:
    """A search phrase of several words."""

    def __init__(self, words: Sequence[str], encoder: Encoder, synonym: float) -> None:
        self._words = list(words)
        self._encoder = encoder
        self._synonym = synonym
        self._vectors = encoder(self._words)

    def is_more_specific_than(self, phrase: str, language: str) -> bool:
        """Return whether a phrase has fewer words, and each is one of the search or a synonym."""
        own = terms(phrase)
        if not own or len(own) >= len(self._words):
            return False
        wanted = {stem(word, language) for word in self._words}
        others = [word for word in own if stem(word, language) not in wanted]
        if not others:
            return True
        cosines = self._encoder(others) @ self._vectors.T
        return bool((cosines >= self._synonym).any(axis=1).all())
