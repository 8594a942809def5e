"""Relevance by domain, or by names in titles and texts (Friar 2017, §3.2.2 and §4.2)."""

import re
from functools import lru_cache

from honeyguide.contracts import Page, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.judges.target_lists import (
    bare,
    domain_in,
    host_of,
    is_surely_a_domain,
    read_targets,
)
from honeyguide.registry import part
from honeyguide.text.phrases import Phrases
from honeyguide.text.words import Term, fold, is_glued

NOT_ONE = Verdict(0.0, False)
_plain = re.compile(r"[a-z0-9.-]+").fullmatch  # most hosts, which need no parsing
_is_worded = re.compile(r"[\w\s.,&'’()/-]+").fullmatch  # names whose signs may be left out
_target = re.compile(r"the target (?:domain )?'(.*)'").search


@part("judge", "targets", argument="domains", files="domains", is_list=True)
class Targets:
    """On one of these domains or their subdomains, or with one of these names in its title."""

    reads_links = False  # so that the truth of a web of a hundred million links takes seconds

    def __init__(
        self,
        domains: str,
        column: str = "",  # of a table: its name in the first line, or its number from 1
        text: bool = False,  # whether names are looked for in texts as well
        once: bool = False,  # whether only the first page of each target counts
    ) -> None:
        entries = read_targets(domains, column)
        if not entries:
            raise HoneyguideError(f"no target domains in {domains!r}")
        found = {entry: domain_in(entry) for entry in entries}
        self._domains = set(found.values()) - {""}
        names = [entry for entry, host in found.items() if not (host and is_surely_a_domain(host))]
        phrases = [name for name in names if _is_worded(name) and not is_glued(name)]
        self._phrases = Phrases(phrases)
        others = [name for name in names if name not in set(phrases)]
        self._terms = [Term(name) for name in others]
        self._letters = "".join(others)
        self.reads_texts = text
        self.once = once
        self._domain_of = lru_cache(maxsize=1 << 15)(self._domain)

    def __call__(self, page: Page) -> Verdict:
        """Relevance 1 or 0."""
        authority = page.url.partition("://")[2].partition("/")[0]
        if domain := self._domain_of(authority):
            return Verdict(1.0, True, (f"is on the target domain '{domain}'",))
        if name := self._name_in(page.title):
            return Verdict(1.0, True, (f"has the target '{name}' in its title",))
        if self.reads_texts and (name := self._name_in(page.text)):
            return Verdict(1.0, True, (f"has the target '{name}' in its text",))
        return NOT_ONE

    def _name_in(self, text: str) -> str:
        """The first target name in a text; empty for none."""
        if self._phrases and (name := self._phrases.first(text)):
            return name
        folded = fold(text, self._letters) if self._terms else b""
        return next((term.word for term in self._terms if term.count(folded)), "")

    def _domain(self, authority: str) -> str:
        """The target domain that a host is or belongs to; empty for none."""
        labels = bare(authority if _plain(authority) else host_of(authority)).split(".")
        domains = (".".join(labels[start:]) for start in range(len(labels)))
        return next((domain for domain in domains if domain in self._domains), "")


def target_in(verdict: Verdict) -> str:
    """The target that a verdict of this judge names; empty if it names none."""
    found = _target(verdict.reasons[0]) if verdict.reasons else None
    return found[1] if found else ""
