"""RAKE, rapid automatic keyword extraction (Lim 2016, §5.3)."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from statistics import median_low
from typing import NamedTuple

from honeyguide.text.languages import language_of, stem, stop_words
from honeyguide.text.words import is_glued, words

LONGEST = 20_000  # characters of a text that are read
MOST_WORDS = 5  # of a phrase; longer runs are lists and menus without punctuation
MOST_SIGNS = 8  # characters of a phrase in a script without spaces

# where a phrase ends: at the end of an element or a cell, or a character that is not part of a word
_BREAK = re.compile(r"[\n\t]|[^\w\s'’\u0300-\u109f\u1780-\u17d3-]|(?<!\w)-|-(?!\w)|_")
_single_line_end = re.compile(r"(?<!\n)[ \t\r]*\n(?![ \t\r]*\n)").sub
WRAPPED = range(55, 100)  # characters of most lines in a text that was broken to fit a width


class Keyphrase(NamedTuple):
    """A phrase, spelled as at its first occurrence."""

    text: str
    score: float
    times: int  # occurrences in the text, in any inflection


def rake(text: str, language: str | None = None, stemming: bool = True) -> list[Keyphrase]:
    """Return all candidate phrases of a text, best first; without a language, it is guessed."""
    text = _unwrapped(text[:LONGEST]).lower()
    if language is None:
        language = language_of(words(text))
    first: dict[tuple[str, ...], str] = {}
    counts: Counter[tuple[str, ...]] = Counter()
    for candidate in candidates(text, language):
        stems = tuple(stem(word, language) for word in candidate) if stemming else candidate
        first.setdefault(stems, _joined(candidate))
        counts[stems] += 1
    weights = _word_scores(counts)
    found = [
        Keyphrase(first[stems], sum(weights[word] for word in stems), count)
        for stems, count in counts.items()
    ]
    return sorted(found, key=lambda phrase: (-phrase.score, -phrase.times))


def _unwrapped(text: str) -> str:
    """The text with one element a line, also where its lines were broken to fit a width."""
    lines = text.split("\n")
    inner = [len(line) for line, after in pairwise(lines) if line.strip() and after.strip()]
    if not inner or median_low(inner) not in WRAPPED or max(map(len, lines)) > WRAPPED.stop:
        return text
    return _single_line_end(" ", text)


def candidates(text: str, language: str) -> Iterator[tuple[str, ...]]:
    """Yield the runs of words between stop words, numbers, punctuation and ends of lines."""
    stops = stop_words().get(language, frozenset())
    for piece in _BREAK.split(text):
        run: list[str] = []
        for word in words(piece):
            if word in stops or word.isdigit():
                yield from _fitting(run)
                run = []
            else:
                run.append(word)
        yield from _fitting(run)


def _fitting(run: list[str]) -> Iterator[tuple[str, ...]]:
    if run and len(run) <= (MOST_SIGNS if is_glued(run[0]) else MOST_WORDS):
        yield tuple(run)


def _word_scores(counts: Counter[tuple[str, ...]]) -> dict[str, float]:
    """Return degree / frequency of each word: the mean length of the phrases it occurs in."""
    degree: Counter[str] = Counter()
    frequency: Counter[str] = Counter()
    for phrase, count in counts.items():
        for word in phrase:
            degree[word] += len(phrase) * count
            frequency[word] += count
    return {word: degree[word] / frequency[word] for word in degree}


def _joined(candidate: tuple[str, ...]) -> str:
    return ("" if is_glued(candidate[0]) else " ").join(candidate)
