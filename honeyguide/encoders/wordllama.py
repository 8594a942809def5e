"""The default encoder: WordLlama, token vectors distilled from a language model."""

import functools
import importlib.util
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from honeyguide.contracts import Matrix
from honeyguide.encoders.vectors import Cached, summed
from honeyguide.errors import HoneyguideError
from honeyguide.registry import part
from honeyguide.text.vectors import unit
from honeyguide.text.words import words

_SPACE = "\u2581"  # first character of tokens at the beginning of a word
ACRONYM = 6  # letters of a word, at most, that is tried in capitals too
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"  # in the wordllama package
WEIGHTS = "weights/l2_supercat_256.safetensors"
MOST_WORDS = 300_000  # in the cache, about 60 MB; then it is cleared


@part("encoder", "wordllama", argument="width")
class WordLlamaEncoder:
    """WordLlama: the mean of a text's token vectors; English, no download, fast."""

    def __init__(self, width: int = 256, cache_megabytes: float = 128.0) -> None:
        if width not in (64, 128, 256):
            raise HoneyguideError(f"encoder 'wordllama' has width 64, 128 or 256, not {width}")
        self.width = width
        tokenizer, vocabulary, vectors = _load()
        self._vectors: Matrix = np.ascontiguousarray(vectors[:, :width])
        self._pieces = _Pieces(tokenizer, vocabulary)
        self._cached = Cached(self._sum, width, cache_megabytes)

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, one row a text; a zero row where no word is known."""
        return unit(self._cached(texts))

    def sums(self, texts: Sequence[str]) -> Matrix:
        """The sum of each text's token vectors: that of two texts together is the sum of both."""
        return self._cached(texts)

    def knows(self, text: str) -> bool:
        """Whether any word of the text is known: one token, or tokens of 1.5 letters or more."""
        return any(self._pieces[word] for word in words(text))

    def _sum(self, texts: Sequence[str]) -> Matrix:
        pieces = self._pieces.__getitem__
        bags = [np.frombuffer(b"".join(map(pieces, words(text))), np.uint16) for text in texts]
        return summed(bags, self._vectors)


class _Pieces(dict[str, bytes]):
    """A cache from words to their token numbers, two bytes each; empty for unknown words."""

    def __init__(self, tokenizer: Any, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
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
        for name in names if len(best) > 1 and not word.isdecimal() else ():
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
def _load() -> tuple[Any, Mapping[str, int], Matrix]:
    """The tokenizer, its vocabulary and the token vectors, from files of the wordllama package.

    The package itself is not imported: what it needs to download models takes half a second.
    """
    from safetensors import safe_open  # noqa: PLC0415 they come with wordllama
    from tokenizers import Tokenizer  # noqa: PLC0415

    found = importlib.util.find_spec("wordllama")
    if found is None or not found.submodule_search_locations:
        raise HoneyguideError("encoder 'wordllama' needs the package wordllama: it is missing")
    folder = Path(found.submodule_search_locations[0])
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    with safe_open(folder / WEIGHTS, framework="np") as file:
        vectors: Matrix = file.get_tensor("embedding.weight").astype(np.float32)
    return tokenizer, tokenizer.get_vocab(), vectors
