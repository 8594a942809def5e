"""The words of a link's URL as a row of word numbers (Friar 2017, §3.4 and 3.6)."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from honeyguide.contracts import Matrix, MemoryView, Outlinks, State, Step, Vector
from honeyguide.features.column_names import ColumnNames
from honeyguide.features.segmenting import NONE, Names, is_word, url_words
from honeyguide.text.words import words as words_of

COVERED = 0.8  # share of all word occurrences that the common words make up (§3.4)
URL_WORDS = "the words of its URL"
TEXT = "~"  # prefix of words from anchors and titles, which have numbers of their own (§3.5.1)


def common_words(urls: Iterable[str], rarest: float = 1.0, known: Names = NONE) -> list[str]:
    """The commonest words that make up 80 % of the words in URLs, the commonest first.

    A `rarest` below 1 adds rarer words, down to that share of the last one's frequency.
    """
    ranked = Counter(word for url in urls for word in url_words(url, known)).most_common()
    counts = np.array([count for _, count in ranked])
    last = int(np.searchsorted(np.cumsum(counts), COVERED * counts.sum()))
    return [word for word, count in ranked if count >= rarest * counts[last]]


class UrlWords:
    """A row a link: the numbers of its URL's words in order, then zeros.

    A word gets a number when it was seen `sightings` times, until the vocabulary is full. With
    surveyed URLs, their common words have numbers from the start, and other URL words get none.
    """

    def __init__(  # noqa: PLR0913 all have defaults
        self,
        width: int = 50,  # words of a URL that are read
        vocabulary: int = 10_000,  # words with a number
        sightings: int = 3,  # after which a word gets a number
        anchors: bool = False,  # whether anchors are read too
        repeats: bool = True,  # whether a repeated word appears again; not in a bag of words
        names: bool = True,  # whether words that are not in the word list get numbers
        surveyed: Sequence[str] = (),  # URLs whose common words have numbers from the start
        rarest: float = 1.0,  # as in common_words
        *,
        known: Names = NONE,  # names that are not cut into words
    ) -> None:
        self.width = width
        self.column_names = ColumnNames([URL_WORDS] * width)
        self.vocabulary = vocabulary
        self.sightings = sightings
        self.anchors = anchors
        self.repeats = repeats
        self.names = names
        self.known = known
        self.words: list[str] = [""]  # by number
        self._numbers: dict[str, int] = {}
        self._seen: dict[str, int] = {}  # sightings of words without a number
        self._settled = len(surveyed) > 0
        if surveyed:
            common = common_words(surveyed, rarest, known)
            self.set_words([w for w in common if names or is_word(w)][:vocabulary])

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        texts = [link.anchor for link in found.links] if self.anchors else ()
        return self.rows([link.url for link in found.links], texts)

    def rows(self, urls: Sequence[str], texts: Sequence[str] = ()) -> Matrix:
        """One row a URL: its words, then those of its text, if texts are given."""
        found = [url_words(url, self.known) for url in urls]
        if texts:
            found = [
                (*own, *(TEXT + word for word in words_of(text)))
                for own, text in zip(found, texts, strict=True)
            ]
        rows = np.zeros((len(found), self.width), np.float32)
        for row, words in zip(rows, found, strict=True):
            numbers = self._numbered(words)
            row[: len(numbers)] = numbers[: self.width]
        return rows

    def row_of(self, step: Step) -> Vector:
        """The row of a step's page; that of a seed is made anew, with the words known by now."""
        return step.x if step.link.depth else self.rows([step.link.url])[0]

    def set_words(self, words: Iterable[str]) -> None:
        """Number these words from 1, and forget all others."""
        self.words = ["", *words]
        self._numbers = {word: number for number, word in enumerate(self.words) if number}
        self._seen = {}

    def state(self) -> State:
        """Words with numbers, and the sightings of others."""
        return {"words": self.words[1:], "seen": list(self._seen.items())}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.set_words(state["words"])
        self._seen = dict(state["seen"])

    def _numbered(self, words: Iterable[str]) -> list[int]:
        numbers = self._numbers
        found = [numbers.get(word) or self._note(word) for word in words]
        return [n for n in (found if self.repeats else dict.fromkeys(found)) if n]

    def _note(self, word: str) -> int:
        """Count a word without a number; return its new number, or 0 if it gets none yet."""
        if len(self.words) > self.vocabulary or not (self.names or is_word(word)):
            return 0
        if self._settled and not word.startswith(TEXT):
            return 0
        times = self._seen.get(word, 0) + 1
        if times < self.sightings:
            self._seen[word] = times
            return 0
        self._seen.pop(word, None)
        self._numbers[word] = number = len(self.words)
        self.words.append(word)
        return number
