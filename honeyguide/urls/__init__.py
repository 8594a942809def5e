"""URLs: canonical form, hosts, registrable domains and patterns. Nothing is requested here."""

from honeyguide.urls.spelling import MAX_LENGTH, NOISE, canonical, host, path_words, typed, words

__all__ = ["MAX_LENGTH", "NOISE", "canonical", "host", "path_words", "typed", "words"]
