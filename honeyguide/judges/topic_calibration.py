"""Decides by all pages read so far which are on a topic, without any answer.

1. Words of the topic count by how rare they are, in general and in these pages; cosines count by
   how far they stand out from what is usual in these pages. A logistic model makes a logit of both.
2. Words at the beginning of the surest pages, and seldom elsewhere, speak for a page too.
3. The threshold depends on how the logits of all pages are spread.

The weights of these models are those of `topic_model`.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Mask, Matrix, State, Vector
from honeyguide.judges.topic_model import FITTED, TopicModel

Numbers = NDArray[np.float64]
Words = NDArray[np.int64]

FIXED = 10  # numbers of a page before those of the terms
LENGTH, TITLE, LEAD, HEAD, BEST, EVEN, KNOWN = 0, 1, 2, 6, 7, 8, 9
BUILT_IN = 60.0  # pages that the built-in idea of usual pages counts for
MOST_ABOVE = np.array([0.15] * 5 + [0.5])  # a crawl's usual page is not further above the built-in
LEAST_SPREAD = 0.06
COMMON = 0.3  # share of pages with a word that says nothing
SPEAKING = 600  # words that speak for a page, at most
SURER = 1.5  # above the first threshold, in logits: pages from which words are learnt
FURTHEST_BELOW = -3.0  # sure pages, in logits: where words count most
TRUSTED_SURE, TRUSTED_OTHERS = 3.0, 20.0  # pages that make half of the trust in such words
TRUSTED_FIT = 25.0  # pages that make half of the trust in a fitted threshold
QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.85, 0.93, 0.97, 0.99, 0.997)
FURTHEST = (2.2, 3.0)  # below and above the built-in threshold, in logits
SLOPE = 0.5  # of relevance in the logit: graded also far from the threshold


@dataclass(frozen=True, slots=True)
class Fit:
    """What was found from pages."""

    weights: Numbers  # of the terms
    usual: Numbers  # as in the model
    first: float  # threshold of the logits of step 1
    words: Words  # that speak for a page, ascending
    speaks: Numbers  # how much each of them does
    low: float  # what they say in the mean of other pages
    high: float  # what they say in the mean of sure pages
    trust: float  # in these words
    threshold: float


def unfitted(rarity: Numbers, model: TopicModel) -> Fit:
    """What is assumed before any page."""
    no_words, nothing, weights = np.empty(0, np.int64), np.empty(0), rarity / rarity.sum()
    first, second = model.first_threshold, model.second_threshold
    return Fit(weights, model.usual, first, no_words, nothing, 0.0, 1.0, 0.0, second)


class TopicCalibration:
    """The calibration of the judge `topic`."""

    def __init__(self, rarity: Numbers, threshold: float = 0.5, model: TopicModel = FITTED) -> None:
        self._rarity = rarity
        self._threshold = threshold
        self._model = model
        self._fit = unfitted(rarity, model)

    def fit(self, measures: Matrix) -> None:
        """Fit weights, words and threshold to pages."""
        pages = measures.astype(float)
        pages = pages[(pages[:, LENGTH] > 0) & (pages[:, KNOWN] > 0)] if len(pages) else pages
        self._fit = fitted(pages, self._rarity, self._model)

    def decide(self, measures: Matrix) -> tuple[Vector, Mask]:
        """Relevance grows with the logit; it is 0.5 at the threshold, and 0 without text."""
        pages, fit = measures.astype(float), self._fit
        logits = second_logits(pages, fit, self._model) - fit.threshold
        by_words = pages[:, FIXED : FIXED + len(fit.weights)] @ fit.weights
        relevance = np.where(pages[:, KNOWN] > 0, sigmoid(SLOPE * logits), by_words)
        relevance = np.where(pages[:, LENGTH] > 0, relevance, 0.0)
        return relevance.astype(np.float32), relevance.astype(np.float32) >= self._threshold

    def state(self) -> State:
        """All that was found."""
        fit = self._fit
        return {
            "weights": fit.weights,
            "usual": fit.usual,
            "first": fit.first,
            "words": fit.words,
            "speaks": fit.speaks,
            "low": fit.low,
            "high": fit.high,
            "trust": fit.trust,
            "threshold": fit.threshold,
        }

    def load(self, state: State) -> None:
        """Restore it."""
        self._fit = Fit(**state)


def fitted(pages: Numbers, rarity: Numbers, model: TopicModel) -> Fit:
    """What pages with text and a known word say, shape (pages, measures)."""
    fit = unfitted(rarity, model)
    if not len(pages):
        return fit
    fit = compared(pages, fit, model)
    logits = first_logits(pages, fit, model)
    fit = replace(fit, first=threshold(logits, model.first_spread, model.first_threshold))
    fit = with_words(pages, logits - (fit.first + SURER), fit)
    logits = second_logits(pages, fit, model)
    return replace(fit, threshold=threshold(logits, model.second_spread, model.second_threshold))


def compared(pages: Numbers, fit: Fit, model: TopicModel) -> Fit:
    """Weigh terms by these pages, and find what is usual in them."""
    fit = replace(fit, weights=term_weights(pages, fit.weights))
    return replace(fit, usual=usual(columns(pages, fit.weights), model))


def term_weights(pages: Numbers, rarity: Numbers) -> Numbers:
    """Terms weigh by how rare they are, in general and in these pages."""
    having = (pages[:, FIXED : FIXED + len(rarity)] > 0).sum(axis=0)
    share = np.minimum((having + 2) / (len(pages) + 20), 0.95)
    weights = rarity * (0.1 - np.log(share))
    shares: Numbers = weights / weights.sum()
    return shares


def columns(pages: Numbers, weights: Numbers) -> Numbers:
    """What is compared with usual pages, as in `TopicModel.usual`."""
    terms = len(weights)
    shares = pages[:, FIXED : FIXED + terms]
    cosines = pages[:, FIXED + terms : FIXED + 2 * terms]
    words = np.log(shares + 0.03) @ weights
    three = pages[:, [HEAD, BEST, EVEN]]
    return np.column_stack([three, cosines @ weights, cosines.min(axis=1), words])


def usual(own: Numbers, model: TopicModel) -> Numbers:
    """Quantiles of pages; the built-in ones keep them from following a crawl of one kind."""
    found = np.quantile(own, [0.1, 0.3, 0.5], axis=0)
    found = np.minimum(found, model.usual + MOST_ABOVE)
    mixed: Numbers = (found * len(own) + model.usual * BUILT_IN) / (len(own) + BUILT_IN)
    return mixed


def features(pages: Numbers, fit: Fit) -> Numbers:
    """What the first model weighs, shape (pages, 20)."""
    shares = pages[:, FIXED : FIXED + len(fit.weights)]
    own = columns(pages, fit.weights)
    spread = np.maximum(fit.usual[2] - fit.usual[0], LEAST_SPREAD)
    unusual = np.clip((own - fit.usual[1]) / spread, -6, 12)
    density, covered = shares @ fit.weights, (shares > 0) @ fit.weights
    # a title says something only if the text has its words
    title = pages[:, TITLE] * np.minimum(1, 4 * density)
    lead, meant = pages[:, LEAD], unusual[:, 0]
    return np.column_stack(
        [
            *(pages[:, LENGTH], title, lead, pages[:, 3], pages[:, 4], pages[:, 5]),
            *(density, shares.min(axis=1), covered, own[:, 5]),
            *(unusual, own[:, 0], title * meant, lead * meant, density * meant),
        ]
    )


def first_logits(pages: Numbers, fit: Fit, model: TopicModel) -> Numbers:
    """Step 1: by the topic's own words and meaning."""
    logits: Numbers = features(pages, fit) @ model.first + model.first_bias
    return logits


def second_features(pages: Numbers, fit: Fit, model: TopicModel) -> Numbers:
    """What the second model weighs; without trust in words, sure pages have them, others not."""
    logits = first_logits(pages, fit, model)
    above = logits - (fit.first + SURER)
    said = np.clip((spoken(pages, fit) - fit.low) / (fit.high - fit.low), -1, 4)
    said = fit.trust * said + (1 - fit.trust) * sigmoid(above)
    return np.column_stack([logits, said, said * said, np.maximum(above, FURTHEST_BELOW) * said])


def second_logits(pages: Numbers, fit: Fit, model: TopicModel) -> Numbers:
    """Steps 1 and 2."""
    logits: Numbers = second_features(pages, fit, model) @ model.second + model.second_bias
    return logits


def with_words(pages: Numbers, above: Numbers, fit: Fit) -> Fit:
    """Find the words at the beginning of sure pages that others seldom have."""
    sure = sigmoid(above) * (above > -2)
    numbers = first_words(pages, fit)
    share = 1 / np.sqrt((numbers > 0).sum(axis=1) + 5.0)  # of a word in its page
    known, place, having = np.unique(numbers, return_inverse=True, return_counts=True)
    place, width = place.ravel(), numbers.shape[1]
    in_all = np.bincount(place, np.repeat(share, width)) / len(pages)
    in_sure = np.bincount(place, np.repeat(share * sure, width)) / max(sure.sum(), 1e-9)
    rare = np.log((len(pages) + 1) / having)
    speaks = (in_sure - in_all) * rare * rare
    speaks[(known == 0) | (having < 2) | (having > max(COMMON * len(pages), 3))] = 0
    best = np.argsort(-speaks, kind="stable")[:SPEAKING]
    best = np.sort(best[speaks[best] > 0])
    fit = replace(fit, words=known[best], speaks=speaks[best])
    return _trusted(spoken(pages, fit), sure, fit)


def _trusted(said: Numbers, sure: Numbers, fit: Fit) -> Fit:
    others = 1 - sure
    low = float(others @ said) / max(float(others.sum()), 1e-9)
    high = float(sure @ said) / max(float(sure.sum()), 1e-9)
    trust = _half(float(sure.sum()), TRUSTED_SURE) * _half(float(others.sum()), TRUSTED_OTHERS)
    return replace(fit, low=low, high=max(high, low + 1e-6), trust=trust)


def _half(pages: float, half: float) -> float:
    return pages / (pages + half)


def first_words(pages: Numbers, fit: Fit) -> Words:
    """Numbers of the words at the beginning, 0 where there is none, shape (pages, words)."""
    numbers: Words = pages[:, FIXED + 2 * len(fit.weights) :].astype(np.int64)
    return numbers


def spoken(pages: Numbers, fit: Fit) -> Numbers:
    """What the words at the beginning say for each page."""
    if not len(fit.words):
        return np.zeros(len(pages))
    numbers = first_words(pages, fit)
    at = np.minimum(np.searchsorted(fit.words, numbers), len(fit.words) - 1)
    found = np.where(fit.words[at] == numbers, fit.speaks[at], 0.0)
    said: Numbers = found.sum(axis=1) / np.sqrt((numbers > 0).sum(axis=1) + 5.0)
    return said


def spread_of(logits: Numbers) -> Numbers:
    """How logits are spread, as the models of the threshold weigh it."""
    mean = np.log(sigmoid(logits).mean())
    quantiles = np.quantile(logits, QUANTILES)
    return np.array([1.0, *quantiles, best_expected(logits), mean, np.log(len(logits))])


def threshold(logits: Numbers, weights: Numbers, built_in: float) -> float:
    """The threshold of pages, not far from the built-in one, and close to it if they are few."""
    low, high = built_in - FURTHEST[0], built_in + FURTHEST[1]
    found = min(high, max(low, float(spread_of(logits) @ weights)))
    return built_in + _half(len(logits), TRUSTED_FIT) * (found - built_in)


def best_expected(logits: Numbers) -> float:
    """The threshold with the highest F1 to be expected if the logits are right."""
    found = np.sort(sigmoid(logits))[::-1]
    expected = 2 * np.cumsum(found) / (np.arange(1, len(found) + 1) + found.sum())
    at = min(max(float(found[expected.argmax()]), 1e-6), 1 - 1e-6)
    return float(np.log(at / (1 - at)))


def sigmoid(logits: Numbers) -> Numbers:
    """1 / (1 + exp(-x)), without overflow."""
    curve: Numbers = 1 / (1 + np.exp(-np.clip(logits, -40, 40)))
    return curve
