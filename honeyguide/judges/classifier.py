"""A trained page classifier (Pertejo 2021), from a file that `honeyguide train judge` writes."""

import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from honeyguide.contracts import Encoder, Page, State, Vector, Verdict
from honeyguide.disk.serialise import DamagedError, read_state, save_state
from honeyguide.errors import HoneyguideError
from honeyguide.judges.closeness import head
from honeyguide.judges.hashed_words import Bag, HashedWords
from honeyguide.registry import part

KIND, VERSION = "honeyguide judge", 1
PROBE = "The quick brown fox reads a page on geology, music and law."  # identifies an encoder
SHOWN = 3  # words that a verdict names
WIDEST = 1 << 24  # of a vector in a file


@dataclass(frozen=True, slots=True)
class Model:
    """The calibrated linear classifier that a file contains."""

    encoder: str  # the name of the encoder it was trained with
    probe: Vector  # that encoder's vector of PROBE
    meaning: Vector  # weights of a page's vector
    words: Vector  # weights by bucket
    idf: Vector  # by bucket; 0 where no word was seen
    bias: float

    def shares(self, bag: Bag) -> Vector:
        """What each word of a page adds to its logit: its normalised tf-idf times its weight."""
        tfidf = bag.weights * self.idf[bag.buckets]
        norm = math.sqrt(float(tfidf @ tfidf)) or 1.0
        shares: Vector = tfidf * self.words[bag.buckets] / np.float32(norm)
        return shares

    def save(self, path: Path) -> None:
        """Write the model to a file, atomically."""
        save_state(path, {"kind": KIND, "version": VERSION, **asdict(self)})

    @classmethod
    def read(cls, path: Path) -> "Model":
        """Read a model from a file; raise HoneyguideError if it is damaged or no model."""
        try:
            state = read_state(path)
        except OSError as error:
            raise HoneyguideError(f"cannot read the judge {path}: {error.strerror}") from None
        except DamagedError:
            state = {}
        if not isinstance(state, dict) or str(state.get("kind")) != KIND:
            raise HoneyguideError(
                f"{path} is damaged or no trained judge: make one with 'honeyguide train judge'"
            )
        if str(state.get("version")) != str(VERSION) or not _fits(state):
            raise HoneyguideError(f"{path} was written by another version: train it again")
        return cls(**{field.name: state[field.name] for field in fields(cls)})


def _fits(state: State) -> bool:
    """Whether a state has all fields, with the right types and shapes."""
    arrays = [state.get(name) for name in ("probe", "meaning", "words", "idf")]
    if not all(map(_is_vector, arrays)):
        return False
    probe, meaning, words, idf = (np.asarray(array) for array in arrays)
    encoder, bias = state.get("encoder"), state.get("bias")
    plain = isinstance(encoder, str) and isinstance(bias, float) and math.isfinite(bias)
    return plain and len(probe) == len(meaning) > 0 and len(words) == len(idf) > 0


def _is_vector(array: object) -> bool:
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != np.float32:
        return False
    return len(array) <= WIDEST and bool(np.isfinite(array).all())


@part("judge", "classifier", argument="file", files="file")
class Classifier:
    """A trained classifier: relevant with a calibrated probability of at least the threshold."""

    def __init__(self, file: str, encoder: Encoder, threshold: float = 0.5) -> None:
        self._model = Model.read(Path(file))
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
        meaning = float(self._encoder([head(page)])[0] @ self._model.meaning)
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
