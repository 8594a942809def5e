"""A linear page classifier: a weight for each number of a page's vector and for each word."""

import math
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from honeyguide.contracts import State, Vector
from honeyguide.judges.hashed_words import Bag
from honeyguide.judges.trained_file import is_array, read_trained, write_trained

KIND = "honeyguide judge"


@dataclass(frozen=True, slots=True)
class LinearModel:
    """The calibrated linear classifier that a file contains."""

    encoder: str  # the name of the encoder it was trained with
    probe: Vector  # that encoder's vector of PROBE
    meaning: Vector  # weights of a page's vector
    words: Vector  # weights by bucket
    idf: Vector  # by bucket; 0 where no word was seen
    bias: float

    def shares(self, bag: Bag) -> Vector:
        """What each word of a page adds to its logit: its normalised tf-idf times its weight."""
        return bag.shares(self.idf, self.words)

    def meaning_logit(self, vector: Vector) -> float:
        """What the meaning of a page adds to its logit."""
        return float(vector @ self.meaning)

    def save(self, path: Path) -> None:
        """Write the model to a file, atomically."""
        write_trained(path, KIND, asdict(self))

    @classmethod
    def read(cls, path: Path) -> "LinearModel":
        """Read a model from a file; raise HoneyguideError if it is damaged or no model."""
        return read_trained(path, KIND, cls, _fits)


def _fits(state: State) -> bool:
    """Whether a state has all fields, with the right types and shapes."""
    arrays = [state.get(name) for name in ("probe", "meaning", "words", "idf")]
    if not all(map(is_array, arrays)):
        return False
    probe, meaning, words, idf = (np.asarray(array) for array in arrays)
    return is_plain(state) and len(probe) == len(meaning) > 0 and len(words) == len(idf) > 0


def is_plain(state: State) -> bool:
    """Whether the name of the encoder and the bias are what they should be."""
    encoder, bias = state.get("encoder"), state.get("bias")
    return isinstance(encoder, str) and isinstance(bias, float) and math.isfinite(bias)
