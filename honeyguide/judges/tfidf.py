"""Relevance by the cosine of tf-idf vectors, as in Han et al. (2018)."""

import math
from collections import Counter
from collections.abc import Sequence

from honeyguide.contracts import Page, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.registry import part
from honeyguide.text.words import STOP_WORDS, mentions, words


@part("judge", "tfidf")
class Tfidf:
    """Cosine of the tf-idf vectors of topic and page above a threshold.

    Without a sample of pages for idf, all words but stop words have the same weight.
    """

    def __init__(self, topic: str, threshold: float = 0.0, sample: Sequence[str] = ()) -> None:
        self._threshold = threshold
        self._pages = len(sample)
        self._pages_with = Counter(word for text in sample for word in set(_content(text)))
        self._topic = self._weigh(Counter(_content(topic)))
        if not self._topic:
            raise HoneyguideError(f"the topic {topic!r} has no word to look for")
        self._topic_length = _length(self._topic)

    def __call__(self, page: Page) -> Verdict:
        """Relevance is the cosine; relevant if it exceeds the threshold."""
        found = Counter(_content(f"{page.title}\n{page.text}"))
        mentioned = {word: found[word] for word in self._topic if word in found}
        if not mentioned:
            return Verdict(0.0, self._threshold < 0.0)
        page_weights = self._weigh(found)
        shared = sum(self._topic[word] * page_weights[word] for word in mentioned)
        cosine = min(1.0, shared / (self._topic_length * _length(page_weights)))
        return Verdict(cosine, cosine > self._threshold, mentions(mentioned.items()))

    def _weigh(self, counts: Counter[str]) -> dict[str, float]:
        """(1 + log2 count) times ln((1 + pages) / (1 + pages with it)) + 1, as Pertejo (2021)."""
        pages, pages_with = 1 + self._pages, self._pages_with
        return {
            word: (1 + math.log2(count)) * (math.log(pages / (1 + pages_with[word])) + 1)
            for word, count in counts.items()
        }


def _content(text: str) -> list[str]:
    return [word for word in words(text) if word not in STOP_WORDS]


def _length(weights: dict[str, float]) -> float:
    return math.sqrt(sum(weight * weight for weight in weights.values()))
