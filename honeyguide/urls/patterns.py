"""Hosts, beginnings of URLs and patterns with *, as lists have them."""

import re
from collections.abc import Callable, Iterable, Sequence

from honeyguide import urls
from honeyguide.errors import HoneyguideError

DENIED, OUTSIDE = "denied", "not among what is allowed"
Refusal = Callable[[str], str]  # why a URL is not asked for; empty when it may be


class Patterns:
    """Hosts with all below them, beginnings of URLs, and patterns with *."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._hosts: set[str] = set()
        starts, globs = [], []
        for pattern in patterns:
            if len(pattern) > urls.MAX_LENGTH:
                raise HoneyguideError(f"a pattern is longer than any URL: {pattern[:60]} ...")
            if "*" in pattern:
                globs.append(_translated(pattern))
            elif "/" in pattern:
                starts.append(pattern.removeprefix("https://").removeprefix("http://"))
            else:
                self._hosts.add(pattern.lower().strip("."))
        self._starts = tuple(starts)
        self._globs = re.compile("|".join(globs) or r"(?!)", re.IGNORECASE)

    def match(self, url: str) -> bool:
        """Whether any fits a canonical URL."""
        place = url.partition("://")[2]
        if self._starts and place.startswith(self._starts):
            return True
        if self._hosts:
            labels = urls.host(url).split(".")
            if any(".".join(labels[at:]) in self._hosts for at in range(len(labels))):
                return True
        return self._globs.match(url) is not None or self._globs.match(place) is not None


def _translated(pattern: str) -> str:
    """A regular expression in which * is any text and all else itself; it never goes back."""
    first, *middle, last = (re.escape(piece) for piece in re.split(r"\*+", pattern))
    return f"(?s:{first}{''.join(f'(?>.*?{piece})' for piece in middle)}.*{last})\\Z"


def listed(allow: Sequence[str], deny: Sequence[str]) -> Refusal:
    """Refuses what lists speak against."""
    allowed, denied = Patterns(allow) if allow else None, Patterns(deny)

    def refusal(url: str) -> str:
        if denied.match(url):
            return DENIED
        return OUTSIDE if allowed is not None and not allowed.match(url) else ""

    return refusal
