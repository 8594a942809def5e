"""Stop words and stems of several languages, and which language a text is in."""

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import snowballstemmer

STEMMED = {
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "nl": "dutch",
    "pt": "portuguese",
    "ru": "russian",
    "sv": "swedish",
}
LOOKED_AT = 400  # words
FEWEST = 0.05  # of the words must be stop words of a language that a text is in


@cache
def stop_words() -> dict[str, frozenset[str]]:
    """By language, in two letters; Chinese and Japanese have single signs."""
    text = (files("honeyguide.text") / "stopwords.txt").read_text(encoding="utf-8")
    lines = (line.partition(":") for line in text.splitlines())
    return {language: frozenset(words.split()) for language, _, words in lines}


def language_of(words: Sequence[str]) -> str:
    """The language whose stop words are most of a text's words; empty when it is none of them."""
    sample = words[:LOOKED_AT]
    counts = {name: sum(word in stops for word in sample) for name, stops in stop_words().items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > FEWEST * len(sample) else ""


@lru_cache(1 << 17)
def stem(word: str, language: str) -> str:
    """A word without its ending; as it is where the language's endings are not known."""
    return str(_stemmer(language).stemWord(word)) if language in STEMMED else word


@cache
def _stemmer(language: str) -> Any:
    return snowballstemmer.stemmer(STEMMED[language])
