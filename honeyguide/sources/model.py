"""A trained source finder in one file: what kind it finds, its policy, its page scorer."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from honeyguide.contracts import Encoder, State
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make
from honeyguide.serialise import DamagedError, read_state, write_state
from honeyguide.sources.policy import Policy
from honeyguide.sources.scorer import Scorer

KIND, VERSION = "honeyguide source finder", 1
SHIPPED = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class SourceModel:
    """All that finding one kind of list pages needs."""

    kind: str  # "events"
    encoder: str  # the name of the encoder it was trained with
    policy: Policy
    threshold: float  # equation 5
    scorer: Scorer

    def save(self, path: Path) -> None:
        """Write it to one file, whole or not at all."""
        beginning = path.with_name(f".{path.name}.part")
        try:
            with beginning.open("wb") as file:
                write_state(file, self._state())
            beginning.replace(path)
        except OSError as error:
            beginning.unlink(missing_ok=True)
            raise HoneyguideError(f"cannot write {path}: {error.strerror}") from None

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
    """The encoder of this name, made once: it may be large, and keeps vectors of known texts."""
    encoder: Encoder = make("encoder", name)
    return encoder


@cache
def is_shipped(name: str) -> bool:
    """Whether a model of this name comes with honeyguide."""
    return any(path.stem == name for path in SHIPPED.glob("*.model"))


def read_model(named: str = "events") -> SourceModel:
    """The model in a file, or the one that comes with honeyguide for a kind."""
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
    if not isinstance(state, dict) or state.get("what") != KIND:
        raise HoneyguideError(f"{path} is damaged or no source finder")
    if state.get("version") != VERSION:
        raise HoneyguideError(f"{path} was written by another version: train it again")
    return SourceModel(
        str(state["kind"]),
        str(state["encoder"]),
        Policy(state["policy"]),
        float(state["threshold"]),
        Scorer(state["scorer"]),
    )
