"""URLs with other words of like meaning: a generated topic has sixty words, a real one hundreds."""

import gzip
import json
import re
from bisect import bisect_right
from functools import cache
from importlib.resources import files
from itertools import accumulate

from honeyguide.worlds.synthetic.chance import draw, key
from honeyguide.worlds.synthetic.words import vocabulary

_SCHEME = "http://"
# words that say how a host is built and not what it is about
_FRAME = frozenset(
    "about archive community contact example friends html index links list members node privacy "
    "test".split()
)
_words = re.compile(r"[a-z]+")


class Kin:
    """Puts, in all URLs of a host alike, a word of like meaning for a word of a topic."""

    def __init__(self, seed: int) -> None:
        self._key = key(seed, "kin")
        self._kin = _nearest()
        most = max(map(len, self._kin.values()))
        # by Zipf's law: the word itself as often as its first and second kin together
        self._upto = list(accumulate(1 / (rank + 1) for rank in range(most)))

    def url(self, url: str) -> str:
        """The same place under its other name; brands and numbers stay, so it is still unique."""
        brand, dash, rest = url.removeprefix(_SCHEME).partition("-")
        return f"{_SCHEME}{brand}{dash}" + _words.sub(lambda w: self._another(brand, w[0]), rest)

    def _another(self, brand: str, word: str) -> str:
        kin = self._kin.get(word)
        if kin is None:
            return word
        chance = (draw(self._key, *brand.encode(), *word.encode()) >> 32) / 4294967296
        return kin[bisect_right(self._upto, chance * self._upto[len(kin) - 1])]


@cache
def _nearest() -> dict[str, tuple[str, ...]]:
    """Each word of a topic with its kin, nearest first, made by benchmarks/kin_words.py."""
    packed = (files(__package__) / "kin.json.gz").read_bytes()
    found: dict[str, list[str]] = json.loads(gzip.decompress(packed))
    kept = found.keys() - _FRAME - {*vocabulary().phrases["sites"]}
    return {word: (word, *found[word]) for word in kept}
