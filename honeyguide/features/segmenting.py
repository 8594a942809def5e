"""Split URLs into words, also where they are written together: "taxadvice" is "tax advice"."""

import gzip
import json
import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from math import log
from urllib.parse import unquote

LONGEST = 24  # letters of a word
# cost in nats of a word that is not in the list: UNKNOWN + LETTER * letters
UNKNOWN, LETTER = 12.0, 2.0
MOST_LETTERS = 80  # of a run that is split; longer ones are data
Names = frozenset[str]  # words that are known besides those of the list
NONE: Names = frozenset()
SHORTEST = 3  # letters of a known name

_runs = re.compile(r"[a-z]+").findall


@lru_cache(maxsize=1 << 17)
def url_words(url: str, names: Names = NONE) -> tuple[str, ...]:
    """The words of a URL in order, with its top-level domain, without scheme and digits."""
    place = url.partition("://")[2] or url
    text = unquote(place).lower().removeprefix("www.")
    return tuple(word for run in _runs(text) for word in segment(run, names) if len(word) > 1)


@lru_cache(maxsize=1 << 17)
def segment(run: str, names: Names = NONE) -> tuple[str, ...]:
    """Split letters into the most probable words, by dynamic programming.

    Known names are as probable as the rarest word of the list.
    """
    costs = _costs()
    if run in costs or run in names or len(run) <= 2 or len(run) > MOST_LETTERS:
        return (run,)
    best, begins = [0.0], [0]  # by end: the least cost up to there, and the start of the last word
    for end in range(1, len(run) + 1):
        least, begin = min(
            (best[start] + _cost(run[start:end], costs, names), start)
            for start in range(max(0, end - LONGEST), end)
        )
        best.append(least)
        begins.append(begin)
    words, end = [], len(run)
    while end:
        words.append(run[begins[end] : end])
        end = begins[end]
    return tuple(reversed(words))


def is_word(letters: str) -> bool:
    """Whether these letters are in the list of common words."""
    return letters in _costs()


def known_names(entries: Iterable[str]) -> Names:
    """The words of names that are not in the list: "philpott" of "Bailey Philpott Ltd".

    Of a domain, where names are written together, only what hyphens part is known to be a word.
    """
    found = (run for entry in entries for part in _parts(entry) for run in _runs(part))
    return frozenset(run for run in found if len(run) >= SHORTEST and not is_word(run))


def _parts(entry: str) -> list[str]:
    """The parts of a name, or those parts of a domain that have hyphens."""
    name = entry.lower().strip()
    if "." not in name or re.search(r"\s", name):
        return [name]
    return [label for label in name.split(".") if "-" in label]


def _cost(word: str, costs: dict[str, float], names: Names = NONE) -> float:
    return costs.get(word) or (_rarest() if word in names else UNKNOWN + LETTER * len(word))


@cache
def _rarest() -> float:
    return max(_costs().values())


@cache
def _costs() -> dict[str, float]:
    """Minus the log-probability of each word by Zipf's law: 1 / (rank * ln(1.78 * words))."""
    words = _listed()
    spread = log(log(1.78 * len(words)))
    return {word: log(rank) + spread for rank, word in enumerate(words, 1)}


def _listed() -> list[str]:
    """Words of GloVe 6B, the commonest first."""
    packed = (files("honeyguide.features") / "words.json.gz").read_bytes()
    words: list[str] = json.loads(gzip.decompress(packed))
    return words


def rarities(sought: Sequence[str]) -> list[float]:
    """How rare words are, from 0 for the commonest to 1 for those not in the list."""
    listed = _listed()  # not kept: it takes megabytes, and a judge asks once
    ranks = dict(zip(listed, range(1, len(listed) + 1), strict=True))
    return [log(ranks.get(word, len(listed))) / log(len(listed)) for word in sought]
