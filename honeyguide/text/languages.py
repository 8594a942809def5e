"""Stop words and stems of several languages, and language detection."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import snowballstemmer
from resiliparse.parse.lang import detect_fast

from honeyguide.errors import HoneyguideError
from honeyguide.text.words import words

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
SAMPLE = 400  # words of a text that are read
FEWEST = 0.05  # least share of stop words for a language to be detected


@cache
def stop_words() -> dict[str, frozenset[str]]:
    """Return stop words by two-letter language code; for Chinese and Japanese, characters."""
    text = (files("honeyguide.text") / "stopwords.txt").read_text(encoding="utf-8")
    lines = (line.partition(":") for line in text.splitlines())
    return {language: frozenset(words.split()) for language, _, words in lines}


def language_of(words: Sequence[str]) -> str:
    """Return the language with most stop words among these words; empty if none has enough."""
    sample = words[:SAMPLE]
    counts = {name: sum(word in stops for word in sample) for name, stops in stop_words().items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > FEWEST * len(sample) else ""


def detected_language(text: str, declared: str = "") -> str:
    """Return the language of a text by its stop words, else the declared one, else by its letters.

    A two-letter code such as "en"; empty if nothing tells.
    """
    if language := language_of(words(text[:4000])) or declared:
        return language
    found, _ = detect_fast(text[:1000])
    return "" if found == "unknown" else str(found)


def language_codes(said: Sequence[str]) -> tuple[str, ...]:
    """Return the two-letter codes in "en,de" or "pt-BR"; an error names what is none."""
    codes = [code.strip().lower() for each in said for code in each.split(",")]
    for code in codes:
        if not re.fullmatch(r"[a-z]{2}(-[a-z0-9]+)*", code):
            raise HoneyguideError(f"{code!r} is no language: say two letters, such as en or de")
    return tuple(dict.fromkeys(code[:2] for code in codes))


@lru_cache(1 << 17)
def stem(word: str, language: str) -> str:
    """Return the stem of a word; the word itself if there is no stemmer for the language."""
    return str(_stemmer(language).stemWord(word)) if language in STEMMED else word


@cache
def _stemmer(language: str) -> Any:
    return snowballstemmer.stemmer(STEMMED[language])
