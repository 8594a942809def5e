"""URLs: one spelling for each, their hosts, registrable domains and patterns."""

from honeyguide.urls.spelling import MAX_LENGTH, NOISE, canonical, host, words

__all__ = ["MAX_LENGTH", "NOISE", "canonical", "host", "words"]
