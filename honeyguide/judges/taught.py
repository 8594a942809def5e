"""A judge that a person has taught by answers, from a file of `honeyguide.training.teaching`."""

import math
from pathlib import Path

import numpy as np

from honeyguide.contracts import Calibrated, Calibration, Encoder, Judge, Page, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.judges.classifier import PROBE
from honeyguide.judges.closeness import head
from honeyguide.judges.hashed_words import HashedWords
from honeyguide.judges.taught_model import TaughtModel, lead_of
from honeyguide.registry import accepts, find, make, part, place_of, split

SHOWN = 3  # words that speak for a page, or against it
SAID = {True: "a person called it relevant", False: "a person called it not relevant"}
SPEAKS = 0.05  # of the logit: a word that adds less is not named


@part("judge", "taught", argument="file", files="file")
class Taught:
    """A judge that answers have corrected: relevant from a probability of the threshold on."""

    def __init__(self, file: str, encoder: Encoder, threshold: float = 0.5) -> None:
        self._model = model = TaughtModel.read(Path(file))
        probe = encoder([PROBE])[0]
        if probe.shape != model.probe.shape or np.abs(probe - model.probe).max() > 1e-3:
            raise HoneyguideError(
                f"{file} was taught with another encoder: say --encoder {model.encoder}"
            )
        self._base: Judge = make("judge", teachable(model.base), encoder=encoder, **model.told)
        self._calibration = _restored(self._base, model, file)
        self._encoder = encoder
        self._hashed = HashedWords(len(model.words))
        self._threshold = threshold

    def __call__(self, page: Page) -> Verdict:
        """Relevance is the probability; what a person said of the page holds."""
        if (said := self._model.answers.get(page.url)) is not None:
            return Verdict(float(said), said, (SAID[said],))
        bag = self._hashed(page)
        if not bag.words:
            return Verdict(0.0, False)
        model, base = self._model, self._base(page)
        shares = model.shares(bag, self._hashed(lead_of(page)))
        of_base = model.of_base(leaning(self._calibration, base))
        meaning = model.of_meaning(self._encoder([head(page)])[0])
        logit = of_base + meaning + sum(shares.values()) + model.bias
        relevance = 0.5 * (1 + math.tanh(0.5 * logit))
        return Verdict(relevance, relevance >= self._threshold, _reasons(shares) + base.reasons)


def teachable(judge: str) -> str:
    """The same judge, if it can be taught: one of honeyguide's that reads texts for a topic."""
    spec = split("judge", judge)
    is_own = not place_of("judge", judge)
    reads_files = is_own and bool(find("judge", spec.name).files and spec.settings)
    knows = [each for each in ("topic", "examples") if is_own and accepts("judge", judge, each)]
    reads_labels = is_own and accepts("judge", judge, "name")
    if reads_files or reads_labels or not knows:
        raise HoneyguideError(
            f"the judge {spec.name!r} cannot be taught: 'honeyguide resume DIR --judge topic' gives"
            " the crawl one that can"
        )
    return judge


def leaning(calibration: Calibration | None, verdict: Verdict) -> float:
    """How far the base is from being undecided, -0.5 to 0.5; positive if a page is relevant."""
    relevance, relevant = verdict.relevance, verdict.relevant
    if calibration is not None and verdict.measures:
        decided = calibration.decide(np.array([verdict.measures], np.float32))
        relevance, relevant = float(decided[0][0]), bool(decided[1][0])
    return lean(relevance, relevant)


def lean(relevance: float, relevant: bool) -> float:
    """The distance from 0.5, for judges whose own threshold is another, too."""
    if relevant == (relevance >= 0.5):
        return relevance - 0.5
    return relevance / 2 if relevant else relevance / 2 - 0.5


def _restored(base: Judge, model: TaughtModel, file: str) -> Calibration | None:
    if model.calibration is None or not isinstance(base, Calibrated):
        return None
    calibration = base.calibration()
    try:
        calibration.load(model.calibration)
    except (KeyError, TypeError, ValueError) as error:
        raise HoneyguideError(f"{file} was written by another version: teach it again") from error
    return calibration


def _reasons(shares: dict[str, float]) -> tuple[str, ...]:
    """The words that decide most, for and against."""
    ordered = sorted(shares, key=lambda word: (-shares[word], word))
    speaking = [word for word in ordered if abs(shares[word]) > SPEAKS]
    those_for = [word for word in speaking if shares[word] > 0][:SHOWN]
    against = [word for word in reversed(speaking) if shares[word] < 0][:SHOWN]
    return _said(those_for, "for it") + _said(against, "against it")


def _said(found: list[str], side: str) -> tuple[str, ...]:
    quoted = [f"'{word}'" for word in found]
    if not quoted:
        return ()
    *most, last = quoted
    verb = "speak" if most else "speaks"
    return (f"{', '.join(most)} and {last} {verb} {side}" if most else f"{last} {verb} {side}",)
