"""URLs: canonical form, hosts, registrable domains and patterns. Nothing is requested here."""

from honeyguide.urls.spelling import MAX_LENGTH, NOISE, canonical, host, typed, words

__all__ = ["MAX_LENGTH", "NOISE", "canonical", "host", "typed", "words"]
