"""Train a page classifier on text vectors and hashed words; usually a logistic regression."""

import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Encoder, Mask, Matrix, Page, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.judges.classifier import PROBE, Model
from honeyguide.judges.closeness import head
from honeyguide.judges.hashed_words import Bag, HashedWords
from honeyguide.judges.linear_model import LinearModel
from honeyguide.judges.page_rows import BUCKETS, counts_of, idf_of, tfidf
from honeyguide.learning.logistic import Numbers, Rows, fit, sigmoid
from honeyguide.training.quality import Quality, quality

PENALTY = 1e-5  # ten times more or less changed held-out F1 by less than 0.01
FOLDS = 5
FEWEST = 5  # pages needed of each class
BATCH = 256  # pages encoded at a time

Progress = Callable[[str, int, int], None]  # stage, done, total


@dataclass(frozen=True, slots=True)
class Source:
    """The encoder that a classifier is trained with."""

    encoder: Encoder
    name: str

    @property
    def probe(self) -> Vector:
        """Its vector of PROBE, by which the encoder is recognised."""
        probe: Vector = self.encoder([PROBE])[0]
        return probe


class Fitted(Protocol):
    """A classifier before its calibration."""

    @property
    def logits(self) -> Numbers:
        """The logits of all pages, those that it was not fitted on included."""
        ...

    def model(self, source: Source, slope: float, offset: float) -> Model:
        """The classifier whose logit is slope * logit + offset."""
        ...


Fit = Callable[["Examples", Mask, Mask], Fitted]  # pages, those to fit on, relevant ones


@dataclass(frozen=True, slots=True)
class TrainedJudge:
    """A classifier and its cross-validated quality."""

    model: Model
    quality: Quality
    positives: int
    negatives: int
    words: tuple[str, ...]  # with the largest weight for the positive class


@dataclass(frozen=True, slots=True)
class FittedLinear:
    """A logistic regression."""

    logits: Numbers
    weights: Numbers
    bias: float
    idf: Vector

    def model(self, source: Source, slope: float, offset: float) -> LinearModel:
        """The classifier whose logit is slope * logit + offset."""
        width, scaled = source.encoder.width, (slope * self.weights).astype(np.float32)
        return LinearModel(
            source.name,
            probe=source.probe,
            meaning=scaled[:width],
            words=scaled[width:],
            idf=self.idf,
            bias=slope * self.bias + offset,
        )


def fit_linear(examples: "Examples", chosen: Mask, target: Mask) -> FittedLinear:
    """Fit a logistic regression on the chosen pages."""
    idf = examples.idf(chosen)
    rows = examples.rows(idf)
    weights, bias = fit(rows.select(chosen), target[chosen].astype(float), PENALTY)
    return FittedLinear(rows.times(weights) + bias, weights, bias, idf)


def train_judge(
    positive: Sequence[Page],
    negative: Sequence[Page],
    encoder: Encoder,
    encoder_name: str = "wordllama",
    progress: Progress = lambda what, done, total: None,
    learner: Fit = fit_linear,
) -> TrainedJudge:
    """Train a classifier; a page that is in both classes counts as positive."""
    known = {(page.title, page.text) for page in positive}
    others = [page for page in negative if (page.title, page.text) not in known]
    for kind, pages in (("positive", positive), ("negative", others)):
        if len(pages) < FEWEST:
            raise HoneyguideError(
                f"{len(pages)} {kind} pages are too few: at least {FEWEST}, better hundreds"
            )
    examples = Examples([*positive, *others], encoder, progress)
    target = np.arange(len(examples)) < len(positive)
    fold = _folds(examples.pages, target)
    logits = np.empty(len(examples))
    for held_out in range(FOLDS):
        progress("training", held_out, FOLDS + 1)
        inside = fold == held_out
        logits[inside] = learner(examples, ~inside, target).logits[inside]
    fitted = learner(examples, np.ones(len(examples), bool), target)
    progress("training", FOLDS + 1, FOLDS + 1)
    model = fitted.model(Source(encoder, encoder_name), *calibration(logits, target))
    measured = quality(_held_out(logits, target, fold), target)
    words = examples.strongest(model, target)
    return TrainedJudge(model, measured, len(positive), len(others), words)


def calibration(logits: Numbers, target: Mask) -> tuple[float, float]:
    """Return slope and offset that calibrate logits (Platt 1999)."""
    yes, no = int(target.sum()), int((~target).sum())
    # targets between 0 and 1: a few separable pages must not give certain probabilities
    smoothed = np.where(target, (yes + 1) / (yes + 2), 1 / (no + 2))
    nothing = np.empty(0, np.int32)
    column = logits[:, None].astype(np.float32)
    rows = Rows(column, nothing.astype(np.intp), nothing, np.empty(0, np.float32), 0)
    weights, offset = fit(rows, smoothed, penalty=1e-6)
    return max(0.0, float(weights[0])), offset


def _held_out(logits: Numbers, target: Mask, fold: NDArray[np.int64]) -> Numbers:
    """Return each page's probability, calibrated on the other folds."""
    probability = np.empty(len(logits))
    for held_out in range(FOLDS):
        slope, offset = calibration(logits[fold != held_out], target[fold != held_out])
        inside = fold == held_out
        probability[inside] = sigmoid(slope * logits[inside] + offset)
    return probability


def _folds(pages: Sequence[Page], target: Mask) -> NDArray[np.int64]:
    """Return each page's fold: both classes are spread evenly, in the order of a text hash."""
    code = [zlib.crc32(f"{page.title}\n{page.text}".encode("utf-8", "replace")) for page in pages]
    fold = np.empty(len(pages), np.int64)
    for kind in (target, ~target):
        members = np.flatnonzero(kind)
        order = members[np.argsort(np.array(code)[members], kind="stable")]
        fold[order] = np.arange(len(order)) % FOLDS
    return fold


class Examples:
    """Pages as rows of a design matrix."""

    def __init__(self, pages: Sequence[Page], encoder: Encoder, progress: Progress) -> None:
        self.pages = pages
        hashed = HashedWords(BUCKETS)
        self.bags: list[Bag] = []
        meaning: list[Matrix] = []
        for start in range(0, len(pages), BATCH):
            batch = pages[start : start + BATCH]
            meaning.append(encoder([head(page) for page in batch]))
            self.bags.extend(hashed(page) for page in batch)
            progress("reading", len(self.bags), len(pages))
        self.meaning = np.concatenate(meaning)
        self._counts = counts_of(self.bags)
        self._distinct = [np.unique(bag.buckets) for bag in self.bags]

    def __len__(self) -> int:
        return len(self.pages)

    def idf(self, chosen: Mask) -> Vector:
        """Return the idf of each bucket on the chosen pages."""
        return idf_of([self._distinct[number] for number in np.flatnonzero(chosen).tolist()])

    def rows(self, idf: Vector) -> Rows:
        """The design matrix: vectors of meaning, and normalised tf-idf by bucket."""
        return Rows(self.meaning, *tfidf(self._counts, idf, len(self)), BUCKETS)

    def strongest(self, model: Model, target: Mask, count: int = 10) -> tuple[str, ...]:
        """Return the words that add most to the sum of the positive pages' logits."""
        total: Counter[str] = Counter()
        for number in np.flatnonzero(target).tolist():
            bag = self.bags[number]
            shares = model.shares(bag).tolist()
            for word, share in zip(bag.words, shares, strict=True):
                total[word] += share
        best = sorted(total, key=lambda word: (-total[word], word))[:count]
        return tuple(word for word in best if total[word] > 0)
