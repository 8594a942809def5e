"""The file of a trained source finder: policy, threshold, page scorer, and what it finds."""

import math
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from honeyguide.contracts import Encoder, State
from honeyguide.disk.serialise import DamagedError, read_state, save_state
from honeyguide.errors import HoneyguideError
from honeyguide.registry import Outside, make, only_outside
from honeyguide.source_finder.policy import Policy
from honeyguide.source_finder.scorer import Scorer

KIND, VERSION = "honeyguide source finder", 1
SHIPPED = Path(__file__).parent
LARGEST = 1 << 24  # weights of a layer
_is_spec = re.compile(r"(?!.*\d{7})\w{1,40}(?::[^\x00-\x1f]{0,1000})?").fullmatch


@dataclass(frozen=True, slots=True)
class SourceModel:
    """A trained source finder for one kind of list page."""

    kind: str  # "events"
    encoder: str  # name of the encoder it was trained with
    policy: Policy
    threshold: float  # equation 5
    scorer: Scorer

    def save(self, path: Path) -> None:
        """Write the model to a file atomically."""
        save_state(path, self._state())

    def _state(self) -> State:
        half = {name: np.asarray(value, np.float32) for name, value in self.policy.weights.items()}
        return {
            "what": KIND,
            "version": VERSION,
            "kind": self.kind,
            "encoder": self.encoder,
            "threshold": float(self.threshold),
            "policy": half,
            "scorer": {name: np.asarray(v, np.float32) for name, v in self.scorer.weights.items()},
        }


@cache
def shared_encoder(name: str) -> Encoder:
    """Return the encoder of this name, created once: it may be large, and it caches vectors."""
    with only_outside(Outside()):  # a model is data: it names no code of a stranger
        encoder: Encoder = make("encoder", name)
    return encoder


@cache
def is_shipped(name: str) -> bool:
    """Return whether a model of this name comes with honeyguide."""
    return any(path.stem == name for path in SHIPPED.glob("*.model"))


def read_model(named: str = "events") -> SourceModel:
    """Return the model in a file, or the model of that name that comes with honeyguide."""
    path = SHIPPED / f"{named}.model" if is_shipped(named) else Path(named)
    try:
        state = read_state(path)
    except OSError as error:
        raise HoneyguideError(
            f"no source finder for {named!r} ({error.strerror}): "
            "make one with 'honeyguide train source_finder'"
        ) from None
    except DamagedError:
        state = {}
    if not isinstance(state, dict) or str(state.get("what")) != KIND:
        raise HoneyguideError(f"{path} is damaged or not a source finder")
    if str(state.get("version")) != str(VERSION) or not _fits(state):
        raise HoneyguideError(f"{path} was written by another version: train it again")
    _check_encoder(state["encoder"], path)
    return SourceModel(
        state["kind"],
        state["encoder"],
        Policy(state["policy"]),
        state["threshold"],
        Scorer(state["scorer"]),
    )


def _fits(state: State) -> bool:
    """Return whether all fields are there with the right types; their users check the shapes."""
    threshold = state.get("threshold")
    plain = isinstance(threshold, float) and math.isfinite(threshold)
    named = all(isinstance(state.get(name), str) for name in ("kind", "encoder"))
    return (
        plain and named and _are_weights(state.get("policy")) and _are_weights(state.get("scorer"))
    )


def _are_weights(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_layer, value.values()))


def _is_layer(array: Any) -> bool:
    if not isinstance(array, np.ndarray) or array.dtype != np.float32 or array.size > LARGEST:
        return False
    return array.ndim in (1, 2) and bool(np.isfinite(array).all())


def _check_encoder(spec: str, path: Path) -> None:
    """Refuse an encoder that reads a file outside the model's folder."""
    if not _is_spec(spec):
        raise HoneyguideError(f"{path} is damaged: it names no encoder")
    folder = path.resolve().parent
    for named in map(Path, re.split("[:+,=]", spec)[1:]):
        is_path = len(named.parts) > 1 or named.exists()
        if is_path and str(named) != "." and not named.resolve().is_relative_to(folder):
            raise HoneyguideError(f"{path} names a file outside its folder: {named}")
