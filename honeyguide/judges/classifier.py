"""A trained page classifier (Pertejo 2021), from a file that `honeyguide train judge` writes."""

import math
from pathlib import Path

import numpy as np

from honeyguide.contracts import Encoder, Page, Vector, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.judges import network_model
from honeyguide.judges.closeness import head
from honeyguide.judges.hashed_words import HashedWords
from honeyguide.judges.linear_model import LinearModel
from honeyguide.judges.network_model import NetworkModel
from honeyguide.judges.trained_file import kind_of
from honeyguide.registry import part

PROBE = "The quick brown fox reads a page on geology, music and law."  # identifies an encoder
SHOWN = 3  # words that a verdict names
Model = LinearModel | NetworkModel


def read_model(path: Path) -> Model:
    """Read a linear classifier or a network from its file."""
    is_network = kind_of(path) == network_model.KIND
    return NetworkModel.read(path) if is_network else LinearModel.read(path)


@part("judge", "classifier", argument="file", files="file")
class Classifier:
    """A trained classifier: relevant with a calibrated probability of at least the threshold."""

    def __init__(self, file: str, encoder: Encoder, threshold: float = 0.5) -> None:
        self._model = read_model(Path(file))
        probe = encoder([PROBE])[0]
        if probe.shape != self._model.probe.shape or np.abs(probe - self._model.probe).max() > 1e-3:
            name = self._model.encoder
            raise HoneyguideError(f"{file} was trained with another encoder: say --encoder {name}")
        self._encoder = encoder
        self._hashed = HashedWords(len(self._model.words))
        self._threshold = threshold

    def __call__(self, page: Page) -> Verdict:
        """Relevance is the probability; a page without a word is not relevant."""
        bag = self._hashed(page)
        if not bag.words:
            return Verdict(0.0, False)
        shares = self._model.shares(bag)
        meaning = self._model.meaning_logit(self._encoder([head(page)])[0])
        logit = meaning + float(shares.sum()) + self._model.bias
        relevance = 0.5 * (1 + math.tanh(0.5 * logit))
        if relevance < self._threshold:
            return Verdict(relevance, False)
        return Verdict(relevance, True, _reasons(bag.words, shares))


def _reasons(words: list[str], shares: Vector) -> tuple[str, ...]:
    best = np.argsort(-shares, kind="stable")[:SHOWN].tolist()
    shown = [f"'{words[n]}'" for n in best if shares[n] > 0]
    if not shown:
        return ("means something close to its examples",)
    *most, last = shown
    return (f"{', '.join(most)} and {last} speak for it" if most else f"{last} speaks for it",)
