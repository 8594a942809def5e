"""Relevance by the similarity of a page's key phrases to search words (Lim 2016, §5.2.2, 5.3)."""

from collections.abc import Sequence

import numpy as np

from honeyguide.contracts import Encoder, Page, Verdict
from honeyguide.judges.closeness import YARDSTICK
from honeyguide.registry import part
from honeyguide.text.languages import language_of
from honeyguide.text.rake import LONGEST, rake
from honeyguide.text.similarity import Above, Between, Centred, Counting, Searches
from honeyguide.text.words import terms, words

MOST = 5_000  # matches that a verdict names: a page has fewer, unless hundreds are searched for
SELDOM = 0.002  # share of unrelated words whose cosine is higher than the least that counts
FEWEST = 8  # topics of the yardstick that an encoder must know to be measured


@part("judge", "keyphrases", argument="search")
class Keyphrases:
    """Mean similarity of a page's key phrases to the search words; names all matches.

    The text is the page's main text, without its title, navigation and footer (section 9.4).
    """

    def __init__(
        self,
        encoder: Encoder,
        topic: str = "",
        search: Sequence[str] = (),  # words or phrases; with | between them in one text
        low: float | None = None,  # a lower cosine counts as 0; None: what fits the encoder
        high: float = 1.0,  # so does a higher one; Lim (2016) corrects both to 3/5 and 4/5
        capped: bool = False,  # whether a higher one counts as `high` instead
        specific: bool = True,  # whether a phrase must be as specific as the search words
        threshold: float = 0.0055,  # chosen with benchmarks/keyphrases.py
    ) -> None:
        wanted = search.split("|") if isinstance(search, str) else search
        counting: Counting
        if low is None:
            encoder, counting = measured(encoder)
        else:
            counting = Between(low, high, capped)
        self._searches = Searches(wanted or (topic,), encoder, counting, specific)
        self._threshold = threshold

    def __call__(self, page: Page) -> Verdict:
        """Relevance is the mean over all key phrases; 0 for a page without any."""
        language = language_of(words(page.text[:LONGEST]))
        phrases = [phrase.text for phrase in rake(page.text, language)]
        relevance, matches = self._searches.relevance(phrases, language or "en")
        reasons = tuple(str(match) for match in matches[:MOST])
        return Verdict(min(1.0, relevance), relevance >= self._threshold, reasons)


def measured(encoder: Encoder) -> tuple[Encoder, Counting]:
    """The encoder without what its vectors have in common, and what its cosines count then.

    As in the document, from 2/3, if the encoder knows too few words to be measured.
    """
    known = [(topic, text) for topic, text in YARDSTICK if encoder.knows(topic)]
    pairs = [(row, word) for row, (_, text) in enumerate(known) for word in terms(text)]
    pairs = [(row, word) for row, word in pairs if encoder.knows(word)]
    if len(known) < FEWEST or not pairs:
        return encoder, Between()
    topics, others = [topic for topic, _ in known], [word for _, word in pairs]
    centred = Centred(encoder, topics + others)
    cosines = centred(topics) @ centred(others).T
    is_other = np.array([row for row, _ in pairs])[None] != np.arange(len(known))[:, None]
    return centred, Above(float(np.quantile(cosines[is_other], 1 - SELDOM)))
