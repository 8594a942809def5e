"""Pages as bags of hashed words: for any language, without a vocabulary."""

import math
import zlib
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Page, Vector
from honeyguide.text.words import is_glued, words

LONGEST = 4_000  # characters of a page in which words are counted; more gained little
MOST_WORDS = 200_000  # in the cache of buckets, about 20 MB; then it is cleared


class Bag(NamedTuple):
    """The distinct words of a page, with the bucket of each and 1 + log of its count."""

    words: list[str]
    buckets: NDArray[np.int32]
    weights: Vector

    def shares(self, idf: Vector, worths: Vector) -> Vector:
        """Each word's normalised tf-idf times its worth; `idf` and `worths` are by bucket."""
        tfidf = self.weights * idf[self.buckets]
        norm = math.sqrt(float(tfidf @ tfidf)) or 1.0
        shares: Vector = tfidf * worths[self.buckets] / np.float32(norm)
        return shares


class HashedWords:
    """Counts the words of pages and hashes them into buckets, the same on every machine."""

    def __init__(self, buckets: int) -> None:
        self.buckets = buckets
        self._bucket: dict[str, int] = {}

    def __call__(self, page: Page) -> Bag:
        sequence = words(f"{page.title}\n{page.text[:LONGEST]}")
        counts = Counter(sequence)
        if any(is_glued(word) for word in counts if not word.isascii()):
            counts.update(_pairs(sequence))
        found = list(counts)
        weights = 1 + np.log(np.fromiter(counts.values(), np.float32, len(found)))
        return Bag(found, self._numbers(found), weights)

    def _numbers(self, found: list[str]) -> NDArray[np.int32]:
        known = self._bucket
        try:
            return np.fromiter(map(known.__getitem__, found), np.int32, len(found))
        except KeyError:
            if len(known) > MOST_WORDS:
                known.clear()
            for word in found:
                known[word] = zlib.crc32(word.encode("utf-8", "surrogatepass")) % self.buckets
            return np.array([known[word] for word in found], np.int32)


def _pairs(found: list[str]) -> list[str]:
    """Pairs of adjacent characters in scripts that are written without spaces."""
    alone = [a + b for a, b in pairwise(found) if len(a) == len(b) == 1 and is_glued(a + b)]
    runs = [word for word in found if len(word) > 2 and is_glued(word)]
    return alone + [word[at : at + 2] for word in runs for at in range(len(word) - 1)]
