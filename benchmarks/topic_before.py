"""The default judge as it was before it read passages and fitted its threshold to a crawl."""

from honeyguide.contracts import Encoder, Page, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.judges.closeness import head, scale_of
from honeyguide.text.words import Term, fold, forms, is_glued, mentions, terms

LONGEST = 200_000  # characters of a page in which words are counted

# Chosen on 98 topics of three labelled webs; docs/use/judges.md has the figures on 44 others
MEANING, WORDS, TITLE = 0.75, 0.35, 0.10
USUAL = 3.0  # occurrences in a thousand words that give half of the highest share


class TopicBefore:
    """The default: a vector close to the topic's, many of its words, or both."""

    def __init__(self, topic: str, encoder: Encoder, threshold: float = 0.5) -> None:
        self._topic = topic
        self._terms = [Term(word, forms(word)) for word in terms(topic)]
        if not self._terms:
            raise HoneyguideError(f"the topic {topic!r} has no word in it")
        self._signs_a_word = 2 if is_glued(topic) else 6
        self._encoder = encoder
        self._vector = encoder([topic])[0] if encoder.knows(topic) else None
        self._scale = scale_of(encoder)
        self._threshold = threshold

    def __call__(self, page: Page) -> Verdict:
        """A weighted sum of vectors, words and title; words alone if the encoder knows no word."""
        counts, shares = self._words(page)
        meaning = self._meaning(page)
        if meaning is None:
            relevance = sum(shares) / len(shares)
        else:
            relevance = MEANING * meaning + WORDS * min(shares) + TITLE * self._in_title(page)
        relevance = min(1.0, relevance)
        reasons = mentions((t.word, n) for t, n in zip(self._terms, counts, strict=True))
        if meaning is not None and meaning >= 0.5:
            reasons += (f"means something close to '{self._topic}' ({meaning:.2f})",)
        return Verdict(relevance, relevance >= self._threshold, reasons)

    def _words(self, page: Page) -> tuple[list[int], list[float]]:
        """The count of each topic word, and its share in [0, 1), which grows with its density."""
        text = page.text[:LONGEST]
        folded = fold(f"{page.title}\n{text}", self._topic)
        counts = [term.count(folded) for term in self._terms]
        # 50 words added, so that one mention on a tiny page counts little
        thousands = (len(text) / self._signs_a_word + 50) / 1000
        return counts, [count / (count + USUAL * thousands) for count in counts]

    def _meaning(self, page: Page) -> float | None:
        if self._vector is None:
            return None
        vector = self._encoder([head(page)])[0]
        return self._scale(float(vector @ self._vector)) if vector.any() else None

    def _in_title(self, page: Page) -> float:
        title = fold(page.title, self._topic)
        return sum(term.count(title) > 0 for term in self._terms) / len(self._terms)
