"""Relevant is what has phrases close to what is looked for: Lim (2016, §5.2.2 and 5.3)."""

from collections.abc import Sequence

from honeyguide.contracts import Encoder, Page, Verdict
from honeyguide.registry import part
from honeyguide.text.rake import rake
from honeyguide.text.similarity import Searches

SHOWN = 5  # matches that are shown to the user


@part("judge", "keyphrases", argument="search")
class Keyphrases:
    """Mean closeness of a page's key phrases to the search words; says which matched which.

    The text is the page's main text, without its title, navigation and footer (section 9.4).
    """

    def __init__(
        self,
        encoder: Encoder,
        topic: str = "",
        search: Sequence[str] = (),  # words or phrases; with | between them in one text
        low: float = 2 / 3,  # a similarity below counts as nothing
        high: float = 1.0,  # one above too: 3/5 and 4/5 are the document's own correction
        capped: bool = False,  # whether one above counts as `high` instead
        specific: bool = True,  # whether a phrase must be as specific as what is looked for
        threshold: float = 0.006,  # chosen on 6 topics of wikispeedia: docs/use/judges.md
    ) -> None:
        wanted = search.split("|") if isinstance(search, str) else search
        self._searches = Searches(wanted or (topic,), encoder, low, high, capped, specific)
        self._threshold = threshold

    def __call__(self, page: Page) -> Verdict:
        """Relevance is the mean over all phrases; a page without any has none."""
        phrases = [phrase.text for phrase in rake(page.text)]
        relevance, matches = self._searches.relevance(phrases)
        reasons = tuple(str(match) for match in matches[:SHOWN])
        return Verdict(min(1.0, relevance), relevance >= self._threshold, reasons)
