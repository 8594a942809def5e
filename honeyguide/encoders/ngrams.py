"""Hashed words and character n-grams, for any language."""

from collections.abc import Sequence
from itertools import pairwise
from zlib import crc32

import numpy as np

from honeyguide.contracts import Matrix
from honeyguide.encoders.vectors import Cached
from honeyguide.errors import HoneyguideError
from honeyguide.registry import part
from honeyguide.text.vectors import unit
from honeyguide.text.words import is_glued, words

LONGEST = 4_000  # characters of a text that are read
PIECES = (3, 4, 5)  # lengths of n-grams
WIDEST = 1 << 20  # a larger width is taken for a mistake


@part("encoder", "ngrams", argument="width")
class NgramEncoder:
    """Hashed words and character n-grams: for any language, by spelling alone."""

    def __init__(self, width: int = 512, cache_megabytes: float = 64.0) -> None:
        if not 8 <= width <= WIDEST:
            raise HoneyguideError(f"encoder 'ngrams' needs a width of 8 to {WIDEST}, not {width}")
        self.width = width
        self._cached = Cached(self._encode, width, cache_megabytes)

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, one row a text; a zero row for a text without words."""
        return self._cached(texts)

    def knows(self, text: str) -> bool:
        """Whether the text has any word."""
        return bool(words(text))

    def _encode(self, texts: Sequence[str]) -> Matrix:
        rows = np.zeros((len(texts), self.width), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for piece in _pieces(text[:LONGEST]):
                code = crc32(piece.encode("utf-8", "surrogatepass"))
                row[code % self.width] += 1.0 if code & 0x80000000 else -1.0
        return unit(rows)


def _pieces(text: str) -> list[str]:
    """Words and their character n-grams; in scripts without spaces, also pairs of characters."""
    found = words(text)
    pieces = list(found)
    for one, other in pairwise(found):
        if is_glued(one) and is_glued(other):
            pieces.append(one + other)
    for word in found:
        whole = f"<{word}>"
        for size in PIECES:
            pieces.extend(whole[at : at + size] for at in range(len(whole) - size + 1))
    return pieces
