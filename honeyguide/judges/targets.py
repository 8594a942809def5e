"""Relevance by domain, or by names in titles."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from honeyguide.contracts import Page, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.registry import part
from honeyguide.text.words import Term, fold

NOT_ONE = Verdict(0.0, False)
_plain = re.compile(r"[a-z0-9.-]+").fullmatch  # most hosts, which need no parsing


@part("judge", "targets", argument="domains", files="domains", is_list=True)
class Targets:
    """On one of these domains or their subdomains, or with one of these names in its title."""

    reads_texts = False
    reads_links = False  # so that the truth of a web of a hundred million links takes seconds

    def __init__(self, domains: str) -> None:
        entries = [entry for line in _lines(domains) if (entry := _tidy(line))]
        if not entries:
            raise HoneyguideError(f"no target domains in {domains!r}")
        self._domains = {_host(entry) for entry in entries if "." in entry}
        names = [entry for entry in entries if "." not in entry]
        self._names = [Term(name) for name in names]
        self._letters = "".join(names)

        self._domain_of = lru_cache(maxsize=1 << 15)(self._domain)

    def __call__(self, page: Page) -> Verdict:
        """Relevance 1 or 0."""
        authority = page.url.partition("://")[2].partition("/")[0]
        if domain := self._domain_of(authority):
            return Verdict(1.0, True, (f"is on the target domain '{domain}'",))
        title = fold(page.title, self._letters) if self._names else b""
        for name in self._names:
            if name.count(title):
                return Verdict(1.0, True, (f"has the target '{name.word}' in its title",))
        return NOT_ONE

    def _domain(self, authority: str) -> str:
        """The target domain that a host is or belongs to; empty for none."""
        labels = _bare(authority if _plain(authority) else _host(authority)).split(".")
        domains = (".".join(labels[start:]) for start in range(len(labels)))
        return next((domain for domain in domains if domain in self._domains), "")


def _lines(domains: str) -> Iterator[str]:
    """The lines of a file, or the entries of a list separated by commas."""
    path = Path(domains)
    try:
        is_file = path.is_file()
    except (OSError, ValueError):  # too long for a file name
        is_file = False
    if not is_file:
        return iter(domains.split(","))
    try:
        return iter(path.read_text(encoding="utf-8-sig").splitlines())
    except (OSError, UnicodeDecodeError):
        raise HoneyguideError(f"cannot read the target domains in {domains!r}") from None


def _tidy(entry: str) -> str:
    """An entry without comment, quotes and surrounding white space."""
    return entry.partition("#")[0].strip().strip("\"'").strip()


def _host(url: str) -> str:
    """The host of a URL or domain, in ASCII, without "www."; empty if it has none."""
    try:
        host = urlsplit(url if "://" in url else f"//{url}").hostname or ""
        if not host.isascii():
            host = host.encode("idna").decode("ascii")
    except (ValueError, UnicodeError):
        return ""
    return _bare(host)


def _bare(host: str) -> str:
    return host.rstrip(".").removeprefix("www.")
