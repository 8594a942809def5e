"""Features of a URL that need no fetch, such as its length and depth (Lim 2016, §5.2.4)."""

import base64
import gzip
import json
import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from honeyguide import urls

SIGNS = "abcdefghijklmnopqrstuvwxyz0 "  # letters, 0 for any digit, a space for the edge of a word
EDGE = -1  # index of the space
SHORTEST = 5  # letters; shorter runs are not judged
GIBBERISH = -3.4  # mean log-probability of a character; docs/use/gates.md says how it was chosen

_runs = re.compile(r"[a-z0-9]+").findall
_digit = re.compile(r"\d").sub
_extension = re.compile(r"\.([a-z0-9]{1,5})$").search


class UrlSigns(NamedTuple):
    """What can be read from a URL alone."""

    length: int  # characters
    depth: int  # segments of its path
    file_type: str  # "pdf"; empty when there is none
    parameters: int  # of its query
    gibberish_host: bool
    gibberish_path: bool


def url_signs(url: str) -> UrlSigns:
    """The features of a canonical URL."""
    place, _, query = url.partition("?")
    host = urls.host(url)
    path = place.split("/", 3)[3] if place.count("/") > 2 else ""
    ending = _extension(path.lower())
    return UrlSigns(
        len(url),
        sum(bool(segment) for segment in path.split("/")),
        ending[1] if ending else "",
        query.count("&") + 1 if query else 0,
        is_gibberish(host.rpartition(".")[0].removeprefix("www.")),
        is_gibberish(path),
    )


def is_gibberish(text: str) -> bool:
    """Whether the longest run of letters and digits is unlikely to be a word."""
    runs = _runs(text.lower())
    longest = max(runs, key=len, default="")
    return len(longest) >= SHORTEST and likelihood(longest) < GIBBERISH


@lru_cache(1 << 14)
def likelihood(word: str) -> float:
    """The mean log-probability of a word's characters, by a trigram model."""
    if word.isdigit():
        return 0.0  # numbers are no gibberish
    table, one, two, total = _table(), EDGE, EDGE, 0.0
    marked = [
        SIGNS.find(sign) for sign in _digit("0", word.lower())
    ]  # -1, an edge, for other characters
    for three in (*marked, EDGE):
        total += table[one][two][three]
        one, two = two, three
    return total / (len(marked) + 1)


@cache
def _table() -> list[list[list[float]]]:
    """Log-probabilities of a character after two others, made by benchmarks/gibberish.py."""
    packed = (files("honeyguide.features") / "letters.json.gz").read_bytes()
    stored = json.loads(gzip.decompress(packed))
    steps = np.frombuffer(base64.b85decode(stored["table"]), np.uint8).astype(np.float32)
    table: list[list[list[float]]] = (-steps * stored["step"]).reshape((len(SIGNS),) * 3).tolist()
    return table
