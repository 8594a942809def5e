"""What a page says about a topic: its words, how near to each other, and meaning, by passages."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Encoder, Matrix, Page, Vector
from honeyguide.features.segmenting import rarities
from honeyguide.judges.closeness import head, scale_of
from honeyguide.text.words import STOP_WORDS, Term, fold, forms, is_glued, words

LONGEST = 200_000  # characters of a page in which words are counted
PASSAGE = 800  # bytes
LEAD = 400  # bytes at the beginning that say what a page is
NEAR = 80  # bytes between two words that belong together
USUAL = 3.0  # occurrences in a thousand words that give half of the highest share
READ = 2  # passages with most of the topic's words, and as many at even distances, are encoded
MOST = 0.6  # weight of the topic's words in a passage that has most of the topic
FIRST = 800  # characters at the beginning whose words may speak for a page
FIRST_WORDS = 64  # of them, at most
BUCKETS = 2**20 - 1  # of words: numbers that a float32 can hold exactly
LEAST_RARITY = 0.05  # of a topic's word

Places = Sequence[NDArray[np.intp]]  # of each term, in bytes from the beginning, ascending
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a page has of a topic."""

    counts: list[int]  # of each term in the text
    together: bool  # whether one passage has several terms
    closeness: float  # of its meaning, 0.5 where the encoder's related texts begin
    measures: tuple[float, ...]  # as `topic_calibration` reads them


class Reader:
    """Reads pages for one topic."""

    def __init__(self, topic: str, terms: Sequence[str], encoder: Encoder) -> None:
        self.terms = [Term(word, forms(word)) for word in terms]
        rare = np.maximum(LEAST_RARITY, rarities(terms))
        self.rarity: Numbers = rare / rare.sum()
        self.knows = encoder.knows(topic)
        self._topic, self._encoder = topic, encoder
        self._signs_a_word = 2 if is_glued(topic) else 6
        self._scale = scale_of(encoder)
        self._vectors: Matrix = encoder([topic, *terms]).T  # shape (width, 1 + terms)

    def __call__(self, page: Page) -> Evidence:
        """What is found in the text; the title says something only beside it."""
        text = page.text[:LONGEST]
        folded = fold(text, self._topic)
        places = [np.sort(np.array(term.places(folded), np.intp)) for term in self.terms]
        counts = [len(each) for each in places]
        # 50 words added, so that one mention on a tiny page counts little
        usual = USUAL * (len(text) / self._signs_a_word + 50) / 1000
        scores, covered, together = self._passages(places, max(1, -(-len(folded) // PASSAGE)))
        cosines, even, is_known = self._meaning(page, folded, scores)
        near = _near(places)
        numbers = (
            float(np.log1p(len(text.strip()))) / 10,
            self._in_title(page),
            float(self.rarity @ [len(each) > 0 and each[0] < LEAD for each in places]),
            float(scores.max()),
            covered,
            near / (near + usual),
            float(cosines[0, 0]),
            float(cosines[:, 0].max()),
            even,
            float(is_known),
        )
        shares = [count / (count + usual) for count in counts]
        measures = (*numbers, *shares, *map(float, cosines[0, 1:]), *_first_words(page))
        return Evidence(counts, together, float(cosines[0, 0]), measures)

    def _passages(self, places: Places, passages: int) -> tuple[Numbers, float, bool]:
        """How much of the topic each has, the share that has most, and whether one has several."""
        scores, coverage = np.zeros(passages), np.zeros(passages)
        several = np.zeros(passages, np.intp)
        for weight, each in zip(self.rarity, places, strict=True):
            if len(each):
                count = np.bincount(each // PASSAGE, minlength=passages)
                scores += weight * (count / (count + 1.0))
                coverage += weight * (count > 0)
                several += count > 0
        return scores, float((coverage > MOST).mean()), bool(several.max() > 1)

    def _meaning(self, page: Page, folded: bytes, scores: Numbers) -> tuple[Vector, float, bool]:
        """Closeness of the beginning and of the best passages to the topic and to its terms.

        Then the mean closeness of passages at even distances, and whether any word is known.
        """
        read = _chosen(scores)
        texts = [folded[at * PASSAGE : (at + 1) * PASSAGE].decode("utf-8", "ignore") for at in read]
        vectors = self._encoder([head(page), *texts])
        cosines = self._scaled(vectors @ self._vectors)
        even = cosines[1 + READ :, 0]
        if len(scores) == 1:  # a title alone is no evidence
            cosines[0] = np.minimum(cosines[0], cosines[1])
        mean = float(even.mean()) if len(even) else float(cosines[0, 0])
        return cosines[: 1 + READ], mean, bool(self.knows and vectors[0].any())

    def _scaled(self, cosines: Matrix) -> Matrix:
        reach = self._scale.boundary - self._scale.unrelated
        scaled: Matrix = 0.5 * (cosines - self._scale.unrelated) / reach
        return scaled

    def _in_title(self, page: Page) -> float:
        title = fold(page.title, self._topic)
        return float(self.rarity @ [term.count(title) > 0 for term in self.terms])


def _near(places: Places) -> int:
    """How often a term follows another one closely."""
    if len(places) < 2:
        return 0
    where = np.concatenate(places)
    which = np.repeat(np.arange(len(places)), [len(each) for each in places])
    order = np.argsort(where, kind="stable")
    steps, changes = np.diff(where[order]), np.diff(which[order])
    return int(((steps < NEAR) & (changes != 0)).sum())


def _chosen(scores: Numbers) -> list[int]:
    """The passages to encode: those with most of the topic, then some at even distances."""
    best: list[int] = np.argsort(-scores, kind="stable")[: 2 * READ].tolist()
    if len(scores) <= 2 * READ:
        return best
    return best[:READ] + [len(scores) * (n + 1) // (READ + 1) for n in range(READ)]


def _first_words(page: Page) -> tuple[float, ...]:
    """Numbers of the words at the beginning, each once; 0 fills up."""
    if not page.text.strip():
        return (0.0,) * FIRST_WORDS
    seen = dict.fromkeys(words(f"{page.title} {page.text[:FIRST]}"))
    kept = [word for word in seen if word not in STOP_WORDS and len(word) > 1][:FIRST_WORDS]
    numbers = [1.0 + zlib.crc32(word.encode("utf-8", "replace")) % BUCKETS for word in kept]
    return (*numbers, *(0.0,) * (FIRST_WORDS - len(numbers)))
