"""Relevant by words, relevance by cosine, as in Han et al. (2018, §4) and Pertejo (2021)."""

from honeyguide.contracts import Encoder, Page, Verdict
from honeyguide.judges.closeness import check_topic, head
from honeyguide.judges.label import Label
from honeyguide.registry import part
from honeyguide.text.words import Term, fold, mentions, terms


@part("judge", "word_and_cosine")
class WordAndCosine:
    """Contains a word of the topic; relevance is the cosine of the vectors of topic and page."""

    def __init__(self, topic: str, encoder: Encoder, substring: bool = False) -> None:
        check_topic(topic, encoder)
        self._topic = topic
        self._terms = [Term(word, whole=not substring) for word in terms(topic)]
        self._encoder = encoder
        self._vector = encoder([topic])[0]

    def __call__(self, page: Page) -> Verdict:
        """Relevant with one word in common, which is the same as a tf-idf cosine above 0."""
        folded = fold(f"{page.title}\n{page.text}", self._topic)
        counts = [(term.word, term.count(folded)) for term in self._terms]
        cosine = float(self._encoder([head(page)])[0] @ self._vector)
        relevance = min(1.0, max(0.0, cosine))
        return Verdict(relevance, any(count for _, count in counts), mentions(counts))


@part("judge", "label_and_cosine", argument="name")
class LabelAndCosine:
    """Has this label; relevance is the cosine of the vectors of topic and page."""

    def __init__(self, name: str, topic: str, encoder: Encoder) -> None:
        check_topic(topic, encoder)
        self._label = Label(name)
        self._encoder = encoder
        self._vector = encoder([topic])[0]

    def __call__(self, page: Page) -> Verdict:
        """Relevant by label; the cosine is for agents that also reward pages near the topic."""
        truth = self._label(page)
        cosine = float(self._encoder([head(page)])[0] @ self._vector)
        return Verdict(min(1.0, max(0.0, cosine)), truth.relevant, truth.reasons)
