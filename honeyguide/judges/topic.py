"""The default judge: words and meaning of passages, and a threshold that fits the crawl."""

import numpy as np

from honeyguide.contracts import Calibration, Encoder, Page, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.judges.closeness import check_topic
from honeyguide.judges.passages import Evidence, Reader
from honeyguide.judges.topic_calibration import TopicCalibration
from honeyguide.registry import part
from honeyguide.text.words import STOP_WORDS, mentions, terms

__all__ = ["Topic", "check_topic"]

CLOSE = 0.5  # closeness that is named as a reason


@part("judge", "topic")
class Topic:
    """The default: words and meaning of the topic in a page's passages, compared with the crawl."""

    def __init__(self, topic: str, encoder: Encoder, threshold: float = 0.5) -> None:
        self._topic = topic
        self._words = terms(topic)
        if not self._words:
            raise HoneyguideError(f"the topic {topic!r} has no word in it")
        if STOP_WORDS.issuperset(self._words):
            raise HoneyguideError(
                f"the topic {topic!r} has only words that every page has: say what it is about"
            )
        self._reader = Reader(topic, self._words, encoder)
        self._threshold = threshold
        self._unfitted = self.calibration()

    @property
    def notice(self) -> str:
        """What a person should know before the crawl; may be empty."""
        if self._reader.knows:
            return ""
        return f"the encoder knows no word of the topic {self._topic!r}: only words are compared"

    def __call__(self, page: Page) -> Verdict:
        """The verdict before any other page is known."""
        found = self._reader(page)
        measures = np.array([found.measures], np.float32)
        relevance, relevant = self._unfitted.decide(measures)
        reasons = self._reasons(found)
        return Verdict(float(relevance[0]), bool(relevant[0]), reasons, found.measures)

    def calibration(self) -> Calibration:
        """A new calibration, not fitted yet."""
        return TopicCalibration(self._reader.rarity, self._threshold)

    def _reasons(self, found: Evidence) -> tuple[str, ...]:
        reasons = mentions(zip(self._words, found.counts, strict=True))
        if found.together:
            reasons = (f"{reasons[0]}, together in one passage",)
        if self._reader.knows and found.closeness >= CLOSE:
            reasons += (
                f"means something close to '{self._topic}' ({min(1.0, found.closeness):.2f})",
            )
        return reasons
