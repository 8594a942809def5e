"""Teach a judge by a person's yes or no about pages of a crawl.

    lessons = Lessons(pages, JudgeSpec("topic", "wordllama", {"topic": "geology"}), encoder)
    answers = {}  # number of a page -> yes or no
    while (asked := next_question(lessons, answers)) is not None:
        answers[asked] = ask(pages[asked])
        print(sureness(lessons, answers), *remarks(lessons, answers))
    teach(lessons, answers).save(Path("geology.judge"))  # --judge taught:geology.judge

Reading the pages (`Lessons`) is the slow part and is done once. All else depends on the pages and
the answers alone: the same answers give the same judge, in whatever order they came.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from honeyguide.contracts import Calibrated, Encoder, Judge, Mask, Matrix, Page, Vector, Verdict
from honeyguide.judges.classifier import PROBE
from honeyguide.judges.closeness import head
from honeyguide.judges.hashed_words import HashedWords
from honeyguide.judges.page_rows import BUCKETS, counts_of, idf_of, tfidf
from honeyguide.judges.taught import teachable
from honeyguide.judges.taught_model import TaughtModel, lead_of
from honeyguide.learning import kernel_logistic
from honeyguide.learning.logistic import Numbers, Rows, sigmoid
from honeyguide.web.judge_spec import JudgeSpec

# Chosen on the development topics of benchmarks/teaching.py; variances of a logit
MEANING, WORDS, LEAD_WORDS = 12.0, 25.0, 15.0
BIAS = 0.5
BASE = 10.0  # of the base's slope
SLOPE = 4.0  # of the base's relevance in the logit before any answer
BATCH = 256  # pages encoded at a time

Answers = Mapping[int, bool]  # number of a page -> whether it is relevant


class Lessons:
    """The pages of a crawl as a learner sees them.

    `verdicts` are those of the base judge, if they are known already.
    """

    def __init__(
        self,
        pages: Sequence[Page],
        base: JudgeSpec,
        encoder: Encoder,
        verdicts: Sequence[Verdict] | None = None,
    ) -> None:
        teachable(base.judge)
        self.pages, self.base, self.encoder = pages, base, encoder
        judge = base.make(encoder)
        self.relevance, self.calibration = _judged(
            judge, [judge(page) for page in pages] if verdicts is None else verdicts
        )
        self._read(pages)
        self._columns: dict[int, Numbers] = {}

    def _read(self, pages: Sequence[Page]) -> None:
        hashed = HashedWords(BUCKETS)
        bags = [hashed(page) for page in pages]
        leads = [hashed(lead_of(page)) for page in pages]
        self.readable: Mask = np.array([bool(bag.words) for bag in bags], bool)
        self.idf = idf_of([np.unique(bag.buckets) for bag in bags])
        words = tfidf(counts_of(bags), self.idf, len(pages))
        lead = tfidf(counts_of(leads), self.idf, len(pages))
        vectors = _vectors(pages, self.encoder)
        self.centre: Vector = vectors.mean(axis=0) if len(pages) else np.zeros(self.encoder.width)
        self.rows = Rows(
            np.sqrt(np.float32(MEANING)) * _unit(vectors - self.centre),
            np.concatenate([words.row, lead.row]),
            np.concatenate([words.bucket, lead.bucket + BUCKETS]),
            np.concatenate([words.value * WORDS**0.5, lead.value * LEAD_WORDS**0.5]),
            2 * BUCKETS,
        )
        # the mean page, of which only the words are taken away: vectors are centred already
        share = np.full(len(pages), 1 / max(1, len(pages)))
        self.usual = self.rows.transposed_times(share)
        self.usual[: self.encoder.width] = 0

    def __len__(self) -> int:
        return len(self.pages)

    @property
    def prior(self) -> Numbers:
        """The logits before any answer."""
        return SLOPE * (self.relevance - 0.5)

    def column(self, number: int) -> Numbers:
        """How alike all pages are to one: a column of the kernel."""
        if number not in self._columns:
            one = np.zeros(len(self))
            one[number] = 1.0
            apart = self.rows.transposed_times(one) - self.usual
            leaning = self.relevance - 0.5
            self._columns[number] = (self.rows.times(apart) - self.usual @ apart) + (
                BIAS + BASE * leaning[number] * leaning
            )
        return self._columns[number]

    def factors(self, answers: Answers) -> Numbers:
        """How much each page counts: positive for a yes, negative for a no, else 0."""
        asked = np.array(sorted(answers), np.intp)
        factors = np.zeros(len(self))
        if len(asked):
            kernel = np.stack([self.column(number)[asked] for number in asked.tolist()])
            target = np.array([float(answers[number]) for number in asked.tolist()])
            factors[asked] = kernel_logistic.fit(kernel, self.prior[asked], target)
        return factors

    def logits(self, answers: Answers) -> Numbers:
        """The logit of each page after these answers; far below 0 for a page without a word."""
        factors = self.factors(answers)
        found = self.prior
        for number in answers:
            found += factors[number] * self.column(number)
        return np.where(self.readable, found, -np.inf)


def teach(lessons: Lessons, answers: Answers) -> TaughtModel:
    """The judge after these answers; without any it decides as the base judge does."""
    factors = lessons.factors(answers)
    weights = lessons.rows.transposed_times(factors) - lessons.usual * factors.sum()
    width = lessons.encoder.width
    words, lead = weights[width : width + BUCKETS], weights[width + BUCKETS :]
    yes = sum(answers.values())
    return TaughtModel(
        base=lessons.base.judge,
        told=_plain(lessons.base.told),
        calibration=lessons.calibration,
        encoder=lessons.base.encoder,
        probe=lessons.encoder([PROBE])[0],
        centre=lessons.centre.astype(np.float32),
        meaning=(MEANING**0.5 * weights[:width]).astype(np.float32),
        words=(WORDS**0.5 * words).astype(np.float32),
        lead=(LEAD_WORDS**0.5 * lead).astype(np.float32),
        idf=lessons.idf,
        slope=float(SLOPE + BASE * (factors @ (lessons.relevance - 0.5))),
        bias=float(BIAS * factors.sum() - lessons.usual @ weights),
        yes=yes,
        no=len(answers) - yes,
    )


def next_question(lessons: Lessons, answers: Answers) -> int | None:
    """The page whose answer teaches most; None if there is none left to ask about."""
    free = lessons.readable.copy()
    free[list(answers)] = False
    if not free.any():
        return None
    unsure = np.where(free, np.abs(lessons.logits(answers)), np.inf)
    return int(np.argmin(unsure))


def probabilities(lessons: Lessons, answers: Answers) -> Numbers:
    """How probable it is that each page is relevant; 1 or 0 for pages asked about."""
    found = sigmoid(lessons.logits(answers))
    for number, said in answers.items():
        found[number] = float(said)
    return found


def _judged(judge: Judge, verdicts: Sequence[Verdict]) -> tuple[Numbers, dict[str, Any] | None]:
    """The base's relevance of each page, and its calibration to them if it has one."""
    if not isinstance(judge, Calibrated) or not verdicts:
        return np.array([verdict.relevance for verdict in verdicts], float), None
    calibration = judge.calibration()
    measures: Matrix = np.array([verdict.measures for verdict in verdicts], np.float32)
    calibration.fit(measures)
    return calibration.decide(measures)[0].astype(float), calibration.state()


def _vectors(pages: Sequence[Page], encoder: Encoder) -> Matrix:
    batches = [pages[start : start + BATCH] for start in range(0, len(pages), BATCH)]
    found = [encoder([head(page) for page in batch]) for batch in batches]
    return np.concatenate([np.zeros((0, encoder.width), np.float32), *found])


def _unit(vectors: Matrix) -> Matrix:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Matrix = vectors / np.maximum(length, 1e-9)
    return unit


def _plain(told: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the base as a file can have them."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in told.items()}
