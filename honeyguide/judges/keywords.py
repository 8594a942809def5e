"""Relevance by the words of the topic (Pertejo 2021, Han et al. 2018)."""

from honeyguide.contracts import Page, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.registry import part
from honeyguide.text.words import Term, fold, mentions, terms


@part("judge", "keywords", argument="words")
class Keywords:
    """Contains all words of the topic, or of one of several groups separated by commas."""

    def __init__(
        self, topic: str = "", words: str = "", any_word: bool = False, substring: bool = False
    ) -> None:
        self._sought = words or topic
        groups = [terms(group) for group in self._sought.split(",")]
        if any_word:
            groups = [[word] for group in groups for word in group]
        self._groups = [[Term(w, whole=not substring) for w in group] for group in groups if group]
        if not self._groups:
            raise HoneyguideError(f"no words to look for in {self._sought!r}")

    def __call__(self, page: Page) -> Verdict:
        """Relevance n / (n + 1), n the count of the rarest word of the best group."""
        folded = fold(f"{page.title}\n{page.text}", self._sought)
        best, counts = 0, {}
        for group in self._groups:
            found = {term.word: term.count(folded) for term in group}
            if min(found.values()) > best:
                best, counts = min(found.values()), found
        return Verdict(best / (best + 1), best > 0, mentions(counts.items()))
