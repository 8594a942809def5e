"""Relevance by the cosine of the vectors of topic and page."""

from honeyguide.contracts import Encoder, Page, Verdict
from honeyguide.judges.closeness import HEAD, check_topic, head, scale_of
from honeyguide.registry import part


@part("judge", "embedding", argument="threshold")
class Embedding:
    """Cosine of the vectors of topic and page; without a threshold, one that fits the encoder."""

    def __init__(
        self, topic: str, encoder: Encoder, threshold: float | None = None, length: int = HEAD
    ) -> None:
        check_topic(topic, encoder)
        self._topic = topic
        self._encoder = encoder
        self._vector = encoder([topic])[0]
        self._threshold = scale_of(encoder).boundary if threshold is None else threshold
        self._length = length  # characters of the text that are encoded

    def __call__(self, page: Page) -> Verdict:
        """Relevance is the cosine, 0 for a negative one."""
        cosine = float(self._encoder([head(page, self._length)])[0] @ self._vector)
        relevance = min(1.0, max(0.0, cosine))
        if cosine < self._threshold:
            return Verdict(relevance, False)
        reason = f"means something close to '{self._topic}' ({cosine:.2f})"
        return Verdict(relevance, True, (reason,))
