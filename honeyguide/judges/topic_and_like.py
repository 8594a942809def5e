"""Relevance by a topic and by example pages, together."""

from collections.abc import Sequence

import numpy as np

from honeyguide.contracts import (
    Calibrated,
    Calibration,
    Encoder,
    Judge,
    Mask,
    Matrix,
    Page,
    State,
    Vector,
    Verdict,
)
from honeyguide.judges.like import Like
from honeyguide.judges.taught import lean
from honeyguide.learning.logistic import sigmoid
from honeyguide.registry import make, part

# Chosen on the development topics of benchmarks/teaching.py, with one to five examples
OF_TOPIC = 6.0  # of the topic's leaning, in the logit
OF_EXAMPLES = 6.0  # of a cosine
LENIENCE = 0.1  # cosine by which a page may be less like the examples than they are to each other


@part("judge", "topic_and_like")
class TopicAndLike:
    """On the topic, like the example pages, or a little of both."""

    def __init__(self, topic: str, encoder: Encoder, examples: Sequence[str] = ()) -> None:
        self._topic: Judge = make("judge", "topic", topic=topic, encoder=encoder)
        self._like = Like(encoder, examples)

    def __call__(self, page: Page) -> Verdict:
        """The sum of what the topic says and how like the examples a page is, as a probability."""
        of_topic, of_examples = self._topic(page), self._like(page)
        own = of_topic.measures or (lean(of_topic.relevance, of_topic.relevant),)
        measures = (*own, of_examples.relevance - self._like.threshold)
        relevance, relevant = self.calibration().decide(np.array([measures], np.float32))
        reasons = of_topic.reasons + of_examples.reasons
        return Verdict(float(relevance[0]), bool(relevant[0]), reasons, measures)

    def calibration(self) -> "TopicThenLike":
        """What the topic needs of the crawl; how like pages are to examples does not change."""
        topic = self._topic
        return TopicThenLike(topic.calibration() if isinstance(topic, Calibrated) else None)


class TopicThenLike:
    """Decides by the topic's own calibration, and corrects that by the examples."""

    def __init__(self, topic: Calibration | None) -> None:
        self._topic = topic

    def fit(self, measures: Matrix) -> None:
        """Fit the topic's calibration."""
        if self._topic is not None:
            self._topic.fit(measures[:, :-1])

    def decide(self, measures: Matrix) -> tuple[Vector, Mask]:
        """The probability of each page, and whether it is 0.5 or more."""
        logit = OF_TOPIC * self._leaning(measures) + OF_EXAMPLES * (measures[:, -1] + LENIENCE)
        relevance = sigmoid(logit.astype(np.float64)).astype(np.float32)
        return relevance, relevance >= 0.5

    def _leaning(self, measures: Matrix) -> Vector:
        if self._topic is None:
            return measures[:, 0]
        decided = zip(*self._topic.decide(measures[:, :-1]), strict=True)
        return np.array([lean(float(found), bool(is_so)) for found, is_so in decided], np.float32)

    def state(self) -> State:
        """What `fit` has found."""
        return {} if self._topic is None else self._topic.state()

    def load(self, state: State) -> None:
        """Restore a saved state."""
        if self._topic is not None:
            self._topic.load(state)
