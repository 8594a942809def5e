"""Relevance by the similarity of a page's key phrases to search words (Lim 2016, §5.2.2, 5.3)."""

from collections.abc import Sequence

from honeyguide.contracts import Encoder, Page, Verdict
from honeyguide.registry import part
from honeyguide.text.rake import rake
from honeyguide.text.similarity import Searches

SHOWN = 5  # matches that a verdict names


@part("judge", "keyphrases", argument="search")
class Keyphrases:
    """Mean similarity of a page's key phrases to the search words; names the best matches.

    The text is the page's main text, without its title, navigation and footer (section 9.4).
    """

    def __init__(
        self,
        encoder: Encoder,
        topic: str = "",
        search: Sequence[str] = (),  # words or phrases; with | between them in one text
        low: float = 2 / 3,  # a lower similarity counts as 0
        high: float = 1.0,  # so does a higher one; Lim (2016) corrects both to 3/5 and 4/5
        capped: bool = False,  # whether a higher one counts as `high` instead
        specific: bool = True,  # whether a phrase must be as specific as the search words
        threshold: float = 0.006,  # chosen on 6 topics of wikispeedia: docs/use/judges.md
    ) -> None:
        wanted = search.split("|") if isinstance(search, str) else search
        self._searches = Searches(wanted or (topic,), encoder, low, high, capped, specific)
        self._threshold = threshold

    def __call__(self, page: Page) -> Verdict:
        """Relevance is the mean over all key phrases; 0 for a page without any."""
        phrases = [phrase.text for phrase in rake(page.text)]
        relevance, matches = self._searches.relevance(phrases)
        reasons = tuple(str(match) for match in matches[:SHOWN])
        return Verdict(min(1.0, relevance), relevance >= self._threshold, reasons)
