"""Teach a judge by a person's yes or no about pages of a crawl.

    read = ReadPages(pages, encoder)
    lessons = Lessons(read, JudgeSpec("topic", "wordllama", {"topic": "geology"}))
    answers = {}  # number of a page -> yes or no
    while (asked := next_question(lessons, answers)) is not None:
        answers[asked] = ask(pages[asked])
        print(sureness(lessons, answers), *remarks(lessons, answers))
    teach(lessons, answers).save(Path("geology.judge"))  # --judge taught:geology.judge

The learner is a Gaussian process over the logits of pages (Rasmussen and Williams 2006, chapter 3).
Its mean is what the base judge thinks, so that pages of which the base is sure count, too; pages
covary that are close in meaning or share words. Reading the pages is the slow part and is done
once. All else depends on the pages and the answers alone: the same answers give the same judge, in
whatever order they came.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from honeyguide.contracts import Calibrated, Encoder, Judge, Mask, Matrix, Page, Vector, Verdict
from honeyguide.judges.classifier import PROBE
from honeyguide.judges.closeness import head
from honeyguide.judges.hashed_words import HashedWords
from honeyguide.judges.page_rows import BUCKETS, counts_of, idf_of, tfidf
from honeyguide.judges.taught import lean, teachable
from honeyguide.judges.taught_model import TaughtModel, lead_of
from honeyguide.learning import kernel_logistic
from honeyguide.learning.logistic import Numbers, Rows, sigmoid
from honeyguide.text.words import counted
from honeyguide.web.judge_spec import JudgeSpec

# Chosen on the development topics of benchmarks/teaching.py; variances of a logit
MEANING, WORDS, LEAD_WORDS = 12.0, 200.0, 120.0
BIAS = 2.0
BASE = 30.0  # of the base's slope
SLOPE = 6.0  # of the base's leaning in the logit before any answer
THRESHOLD = -0.5  # logit from which on a page is relevant, after the first answer
YES_WEIGHT = 4.0  # of an answer "yes"; that of a "no" is 1
NEAREST = 60  # pages nearest to the threshold, one of which is asked about
WITHOUT_YES = 8  # answers after which the likeliest page is asked about, until one is relevant
ALIKE = 15.0  # of a logit, that the mean cosine to the others of them is worth
BATCH = 256  # pages encoded at a time

LATELY = 10  # answers that must have changed little before more are said to be of little use
FEWEST_YES = 3  # answers "yes" before that
STAYED = 0.9  # of the relevant pages

Answers = Mapping[int, bool]  # number of a page -> whether it is relevant


class ReadPages:
    """The words and the meaning of pages, as a learner needs them."""

    def __init__(self, pages: Sequence[Page], encoder: Encoder) -> None:
        self.pages, self.encoder = pages, encoder
        hashed = HashedWords(BUCKETS)
        bags = [hashed(page) for page in pages]
        leads = [hashed(lead_of(page)) for page in pages]
        self.readable: Mask = np.array([bool(bag.words) for bag in bags], bool)
        self.idf = idf_of([np.unique(bag.buckets) for bag in bags])
        words = tfidf(counts_of(bags), self.idf, len(pages))
        lead = tfidf(counts_of(leads), self.idf, len(pages))
        vectors = _vectors(pages, encoder)
        self.centre: Vector = vectors.sum(axis=0) / np.float32(max(1, len(pages)))
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
        self.usual[: encoder.width] = 0
        self._columns: dict[int, Numbers] = {}

    def column(self, number: int) -> Numbers:
        """How alike all pages are to one, by words and meaning."""
        if number not in self._columns:
            one = np.zeros(len(self.pages))
            one[number] = 1.0
            apart = self.rows.transposed_times(one) - self.usual
            self._columns[number] = self.rows.times(apart) - float(self.usual @ apart)
        return self._columns[number]

    def weights(self, factors: Numbers) -> Numbers:
        """What words and meaning count for, if each page counts for its factor."""
        usual: Numbers = self.usual * factors.sum()
        return self.rows.transposed_times(factors) - usual


class Lessons:
    """The pages of a crawl, and what its judge thinks of them.

    `verdicts` are those of the base judge, if they are known already.
    """

    def __init__(
        self, read: ReadPages, base: JudgeSpec, verdicts: Sequence[Verdict] | None = None
    ) -> None:
        teachable(base.judge)
        self.read, self.base = read, base
        judge = base.make(read.encoder)
        found = [judge(page) for page in read.pages] if verdicts is None else verdicts
        self.leaning, self.calibration = _judged(judge, found)

    def __len__(self) -> int:
        return len(self.read.pages)

    @property
    def prior(self) -> Numbers:
        """The logits before any answer."""
        return SLOPE * self.leaning

    def column(self, number: int) -> Numbers:
        """How alike all pages are to one: a column of the kernel."""
        of_base: Numbers = BIAS + BASE * self.leaning[number] * self.leaning
        return self.read.column(number) + of_base

    def factors(self, answers: Answers) -> Numbers:
        """How much each page counts: positive for a yes, negative for a no, else 0."""
        factors = np.zeros(len(self))
        if answers:
            asked = np.array(sorted(answers), np.intp)
            kernel = np.stack([self.column(number)[asked] for number in asked.tolist()])
            target = np.array([float(answers[number]) for number in asked.tolist()])
            weight = np.where(target > 0.5, YES_WEIGHT, 1.0)
            factors[asked] = kernel_logistic.fit(kernel, self.prior[asked], target, weight)
        return factors

    def logits(self, answers: Answers) -> Numbers:
        """Positive for relevant pages after these answers; far below 0 for one without a word."""
        factors = self.factors(answers)
        found = self.prior
        for number in np.flatnonzero(factors).tolist():
            found += factors[number] * self.column(number)
        return np.where(self.read.readable, found - (THRESHOLD if answers else 0.0), -np.inf)


class Sureness(NamedTuple):
    """How sure a judge has become."""

    answers: int
    relevant: int  # pages that it calls relevant
    right: float  # the share of these that it expects to be relevant
    unsure: int  # pages that may as well be relevant as not
    is_enough: bool  # whether more answers will change little

    def __str__(self) -> str:
        sentence = (
            f"{counted(self.answers, 'answer')}: {counted(self.relevant, 'relevant page')},"
            f" about {self.right:.0%} of them rightly; {counted(self.unsure, 'page')} in doubt"
        )
        return f"{sentence}. More answers will change little." if self.is_enough else sentence


def teach(lessons: Lessons, answers: Answers) -> TaughtModel:
    """The judge after these answers; without any it decides as the base judge does."""
    read, factors = lessons.read, lessons.factors(answers)
    weights = read.weights(factors)
    width = read.encoder.width
    words, lead = weights[width : width + BUCKETS], weights[width + BUCKETS :]
    bias = BIAS * factors.sum() - read.usual @ weights - (THRESHOLD if answers else 0.0)
    return TaughtModel(
        base=lessons.base.judge,
        told=_plain(lessons.base.told),
        calibration=lessons.calibration,
        encoder=lessons.base.encoder,
        probe=read.encoder([PROBE])[0],
        centre=read.centre,
        meaning=(MEANING**0.5 * weights[:width]).astype(np.float32),
        words=(WORDS**0.5 * words).astype(np.float32),
        lead=(LEAD_WORDS**0.5 * lead).astype(np.float32),
        idf=read.idf,
        slope=float(SLOPE + BASE * (factors @ lessons.leaning)),
        bias=float(bias),
        answers={read.pages[number].url: said for number, said in sorted(answers.items())},
    )


def next_question(lessons: Lessons, answers: Answers, skipped: Collection[int] = ()) -> int | None:
    """The page whose answer teaches most; None if there is none left to ask about."""
    free = lessons.read.readable.copy()
    free[[*answers, *skipped]] = False
    if not free.any():
        return None
    logits = lessons.logits(answers)
    if len(answers) >= WITHOUT_YES and not any(answers.values()):
        return int(np.argmax(np.where(free, logits, -np.inf)))
    apart = np.where(free, np.abs(logits), np.inf)
    near = np.argsort(apart, kind="stable")[: min(NEAREST, int(free.sum()))]
    meaning = lessons.read.rows.dense[near] / np.float32(MEANING**0.5)
    alike = meaning @ meaning.mean(axis=0)  # an answer about a usual page says more
    return int(near[np.argmax(ALIKE * alike - apart[near])])


def probabilities(lessons: Lessons, answers: Answers) -> Numbers:
    """How probable it is that each page is relevant; 1 or 0 for pages asked about."""
    found = sigmoid(lessons.logits(answers))
    for number, said in answers.items():
        found[number] = float(said)
    return found


def sureness(lessons: Lessons, answers: Answers) -> Sureness:
    """How sure the judge is after these answers, the last of which come last."""
    likely = probabilities(lessons, answers)
    relevant = likely >= 0.5
    right = float(likely[relevant].mean()) if relevant.any() else 1.0
    unsure = int(((likely > 0.25) & (likely < 0.75)).sum())
    count = int(relevant.sum())
    return Sureness(len(answers), count, right, unsure, _is_enough(lessons, answers, relevant))


def remarks(lessons: Lessons, answers: Answers) -> Iterator[str]:
    """What is odd about the answers: a sentence each."""
    if len(answers) >= LATELY and len(set(answers.values())) == 1:
        said, other = ("yes", "no") if next(iter(answers.values())) else ("no", "yes")
        yield f"all answers are {said}: the judge learns little before the first {other}"
    pages = lessons.read.pages
    by_text: dict[str, int] = {}
    for number in answers:
        twin = by_text.setdefault(" ".join(pages[number].text.split()), number)
        if answers[twin] != answers[number]:
            yield (
                f"{pages[twin].url} and {pages[number].url} have the same text, and only one was"
                " called relevant: each keeps its answer"
            )


def _is_enough(lessons: Lessons, answers: Answers, relevant: Mask) -> bool:
    """Whether the last answers have changed few verdicts of other pages."""
    if len(answers) < 2 * LATELY or sum(answers.values()) < FEWEST_YES:
        return False
    earlier = dict(list(answers.items())[:-LATELY])
    before = probabilities(lessons, earlier) >= 0.5
    either = int((before | relevant).sum())
    return int((before & relevant).sum()) >= STAYED * either


def _judged(judge: Judge, verdicts: Sequence[Verdict]) -> tuple[Numbers, dict[str, Any] | None]:
    """How the base leans on each page, and its calibration to them if it has one."""
    if not isinstance(judge, Calibrated) or not any(each.measures for each in verdicts):
        return np.array([lean(each.relevance, each.relevant) for each in verdicts], float), None
    calibration = judge.calibration()
    measured = [number for number, verdict in enumerate(verdicts) if verdict.measures]
    measures = np.array([verdicts[number].measures for number in measured], np.float32)
    calibration.fit(measures)
    relevance, relevant = calibration.decide(measures)
    leaning = np.array([lean(each.relevance, each.relevant) for each in verdicts], float)
    decided = zip(relevance.tolist(), relevant.tolist(), strict=True)
    leaning[measured] = [lean(*each) for each in decided]
    return leaning, calibration.state()


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
