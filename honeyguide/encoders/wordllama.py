"""The default encoder: WordLlama, token vectors distilled from a language model."""

import functools
import logging
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from honeyguide.contracts import Matrix
from honeyguide.encoders.vectors import Cached, pooled
from honeyguide.errors import HoneyguideError
from honeyguide.registry import part
from honeyguide.text.words import words

_SPACE = "\u2581"  # first character of tokens at the beginning of a word
ACRONYM = 6  # letters of a word, at most, that is tried in capitals too
MOST_WORDS = 300_000  # in the cache, about 60 MB; then it is cleared


@part("encoder", "wordllama", argument="width")
class WordLlamaEncoder:
    """WordLlama: the mean of a text's token vectors; English, no download, fast."""

    def __init__(self, width: int = 256, cache_megabytes: float = 128.0) -> None:
        if width not in (64, 128, 256):
            raise HoneyguideError(f"encoder 'wordllama' has width 64, 128 or 256, not {width}")
        self.width = width
        tokenizer, vectors = _load()
        self._vectors: Matrix = vectors[:, :width].copy()
        self._pieces = _Pieces(tokenizer)
        self._cached = Cached(self._encode, width, cache_megabytes)

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, one row a text; a zero row where no word is known."""
        return self._cached(texts)

    def knows(self, text: str) -> bool:
        """Whether any word of the text is known: one token, or tokens of 1.5 letters or more."""
        return any(self._pieces[word] for word in words(text))

    def _encode(self, texts: Sequence[str]) -> Matrix:
        pieces = self._pieces.__getitem__
        bags = [np.frombuffer(b"".join(map(pieces, words(text))), np.uint16) for text in texts]
        return pooled(bags, self._vectors)


class _Pieces(dict[str, bytes]):
    """A cache from words to their token numbers, two bytes each; empty for unknown words."""

    def __init__(self, tokenizer: Any) -> None:
        self._vocabulary: dict[str, int] = tokenizer.get_vocab()
        # without offsets and types: three times as fast
        self._tokenize = tokenizer.model.tokenize

    def __missing__(self, word: str) -> bytes:
        if len(self) >= MOST_WORDS:
            self.clear()
        found = self[word] = array("H", self._split(word)).tobytes()
        return found

    def _split(self, word: str) -> list[int]:
        """The tokens of a word in the case that gives the fewest: Iraq, DNA, rock."""
        if len(word) > 40 or not (word.isascii() or _is_whole(word)):
            return []
        best = self._ids(word)
        names = (word.capitalize(), word.upper())[: 1 if len(word) > ACRONYM else 2]
        for name in names if len(best) > 1 else ():
            # two tokens are beaten only by one, which would be in the vocabulary
            if len(best) > 2 or _SPACE + name in self._vocabulary:
                best = min(best, self._ids(name), key=len)
        # a word that splits into single letters is unknown
        is_known = len(best) == 1 or 3 * len(best) <= 2 * len(word)
        return best if is_known else []

    def _ids(self, word: str) -> list[int]:
        """The token numbers of a word; the tokenizer is not needed for a word that is a token."""
        whole = self._vocabulary.get(_SPACE + word)
        if whole is not None:
            return [whole]
        return [piece.id for piece in self._tokenize(_SPACE + word)]


def _is_whole(word: str) -> bool:
    return not any("\ud800" <= sign <= "\udfff" for sign in word)


@functools.cache
def _load() -> tuple[Any, Matrix]:
    """The tokenizer and the token vectors, from the files inside the wordllama package."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    import wordllama  # noqa: PLC0415 slow, and it sets up logging

    root.handlers[:] = handlers
    root.setLevel(level)
    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    model.tokenizer.no_padding()
    return model.tokenizer, model.embedding
