"""A neural page classifier (proposed by Pertejo 2021, §5.2): a hidden layer and word weights.

logit = out . relu(vector hidden + hidden_offset) + words . tfidf + bias. It is trained with torch
(`honeyguide.training.network_judge`) and used without it.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from honeyguide.contracts import Matrix, State, Vector
from honeyguide.judges.hashed_words import Bag
from honeyguide.judges.linear_model import is_plain
from honeyguide.judges.trained_file import is_array, read_trained, write_trained

KIND = "honeyguide network judge"


@dataclass(frozen=True, slots=True)
class NetworkModel:
    """The calibrated network that a file contains."""

    encoder: str  # the name of the encoder it was trained with
    probe: Vector  # that encoder's vector of PROBE
    hidden: Matrix  # shape (width of the encoder, hidden units)
    hidden_offset: Vector
    out: Vector  # weights of the hidden units
    words: Vector  # weights by bucket
    idf: Vector  # by bucket; 0 where no word was seen
    bias: float

    def shares(self, bag: Bag) -> Vector:
        """What each word of a page adds to its logit besides the meaning of the whole page."""
        return bag.shares(self.idf, self.words)

    def meaning_logit(self, vector: Vector) -> float:
        """What the meaning of a page adds to its logit."""
        return float(np.maximum(vector @ self.hidden + self.hidden_offset, 0) @ self.out)

    def save(self, path: Path) -> None:
        """Write the model to a file, atomically."""
        write_trained(path, KIND, asdict(self))

    @classmethod
    def read(cls, path: Path) -> "NetworkModel":
        """Read a model from a file; raise HoneyguideError if it is damaged or no model."""
        return read_trained(path, KIND, cls, _fits)


def _fits(state: State) -> bool:
    """Whether a state has all fields, with the right types and shapes."""
    vectors = [state.get(name) for name in ("probe", "hidden_offset", "out", "words", "idf")]
    hidden = state.get("hidden")
    if not (is_plain(state) and is_array(hidden, 2) and all(map(is_array, vectors))):
        return False
    probe, offset, out, words, idf = (len(np.asarray(vector)) for vector in vectors)
    fits = np.asarray(hidden).shape == (probe, out) and offset == out and words == idf
    return fits and min(probe, out, words) > 0
