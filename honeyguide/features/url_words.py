"""A link as the words of its URL: a row of word numbers (Friar 2017, §3.4 and 3.6)."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from honeyguide.contracts import Matrix, MemoryView, Outlinks, State, Step, Vector
from honeyguide.features.segmenting import is_word, url_words
from honeyguide.text.words import words as words_of

COVERED = 0.8  # of the words in URLs are common ones (3.4)
TEXT = "~"  # before words of anchors and titles, which have numbers of their own (3.5.1)


def common_words(urls: Iterable[str], rarest: float = 1.0) -> list[str]:
    """The words that make up most of what URLs say, and rarer ones, the commonest first."""
    ranked = Counter(word for url in urls for word in url_words(url)).most_common()
    counts = np.array([count for _, count in ranked])
    last = int(np.searchsorted(np.cumsum(counts), COVERED * counts.sum()))
    return [word for word, count in ranked if count >= rarest * counts[last]]


class UrlWords:
    """The numbers of a URL's words in order, then zeros; a word gets one once seen a few times.

    The first words seen so often are about the commonest, and later ones stay unknown. Where URLs
    were surveyed, their common words are known at once, and no other words of URLs.
    """

    def __init__(
        self,
        width: int = 50,  # words of a URL that are read
        vocabulary: int = 10_000,  # words with a number
        sightings: int = 3,  # after which a word has a number
        anchors: bool = False,  # whether anchors are read too
        repeats: bool = True,  # whether a word counts as often as it is there; a bag's does not
        names: bool = True,  # whether what is in no dictionary counts too: it has no meaning
        surveyed: Sequence[str] = (),  # URLs whose common words are known at once
        rarest: float = 1.0,  # how often a word is there, against the rarest of those 80 %
    ) -> None:
        self.width = width
        self.vocabulary = vocabulary
        self.sightings = sightings
        self.anchors = anchors
        self.repeats = repeats
        self.names = names
        self.words: list[str] = [""]  # by number
        self._numbers: dict[str, int] = {}
        self._seen: dict[str, int] = {}  # how often, of words without a number
        self._settled = len(surveyed) > 0
        if surveyed:
            common = common_words(surveyed, rarest)
            self.set_words([w for w in common if names or is_word(w)][:vocabulary])

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        texts = [link.anchor for link in found.links] if self.anchors else ()
        return self.rows([link.url for link in found.links], texts)

    def rows(self, urls: Sequence[str], texts: Sequence[str] = ()) -> Matrix:
        """A row for each URL, with the words of a text after its own where there is one."""
        said = [url_words(url) for url in urls]
        if texts:
            said = [
                (*own, *(TEXT + word for word in words_of(text)))
                for own, text in zip(said, texts, strict=True)
            ]
        rows = np.zeros((len(said), self.width), np.float32)
        for row, words in zip(rows, said, strict=True):
            numbers = self._numbered(words)
            row[: len(numbers)] = numbers[: self.width]
        return rows

    def row_of(self, step: Step) -> Vector:
        """The page of a step; start pages have their rows from before any word had a number."""
        return step.x if step.link.depth else self.rows([step.link.url])[0]

    def set_words(self, words: Iterable[str]) -> None:
        """Have these numbers and no others, if there is no room for more."""
        self.words = ["", *words]
        self._numbers = {word: number for number, word in enumerate(self.words) if number}
        self._seen = {}

    def state(self) -> State:
        """Words with numbers, and those on the way to one."""
        return {"words": self.words[1:], "seen": list(self._seen.items())}

    def load(self, state: State) -> None:
        """Go on from there."""
        self.set_words(state["words"])
        self._seen = dict(state["seen"])

    def _numbered(self, words: Iterable[str]) -> list[int]:
        numbers = self._numbers
        found = [numbers.get(word) or self._note(word) for word in words]
        return [n for n in (found if self.repeats else dict.fromkeys(found)) if n]

    def _note(self, word: str) -> int:
        """Count a word without a number; when it was seen often enough, it gets one."""
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
