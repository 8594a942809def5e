"""The file of a trained source finder: policy, threshold, page scorer, and what it finds."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from honeyguide.contracts import Encoder, Page, State
from honeyguide.disk.serialise import DamagedError, read_state, save_state
from honeyguide.errors import HoneyguideError
from honeyguide.registry import Outside, make, only_outside
from honeyguide.source_finder.page_model import PageModel
from honeyguide.source_finder.policy import Policy
from honeyguide.source_finder.scorer import Scorer, encoded, page_texts
from honeyguide.source_finder.stopping import Calibrated, Equation5, Reporting, Stopping

KIND, VERSION = "honeyguide source finder", 2
READABLE = ("1", "2")  # version 1 has no page model and no rules
RULES = ("calibrated", "thorough", "equation5")  # when a search of a site stops
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
    scorer: Scorer  # the document's network
    page: PageModel | None = None  # the network over structure; None: the document's alone
    calibrated: Calibrated | None = None
    reporting: Reporting = field(default_factory=Reporting)

    def score(self, page: Page, encoder: Encoder) -> float:
        """Return the probability that a page is a source page."""
        if self.page is not None:
            return self.page(page, encoder)
        return float(self.scorer(encoded([page_texts(page)], encoder))[0])

    def stopping(self, rule: str) -> Stopping:
        """Return the rule of a name: one of RULES; older models have equation5 alone."""
        if rule == "equation5" or self.calibrated is None:
            return Equation5(self.threshold)
        return self.calibrated if rule == "calibrated" else self.calibrated.thorough()

    def save(self, path: Path) -> None:
        """Write the model to a file atomically."""
        save_state(path, self._state())

    def _state(self) -> State:
        return {
            "what": KIND,
            "version": VERSION,
            "kind": self.kind,
            "encoder": self.encoder,
            "threshold": float(self.threshold),
            "policy": _arrays(self.policy.weights),
            "scorer": _arrays(self.scorer.weights),
            "page": _arrays(self.page.weights if self.page else {}),
            "rules": _rules(self),
        }


def _arrays(weights: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(value, np.float32) for name, value in weights.items()}


def _rules(model: SourceModel) -> dict[str, float]:
    """Return all numbers of the rules by name; those of a rule that is missing are left out."""
    rules = {f"report_{name}": value for name, value in asdict(model.reporting).items()}
    if model.calibrated:
        rules |= {f"stop_{name}": value for name, value in asdict(model.calibrated).items()}
    return {name: float(value) for name, value in rules.items()}


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
        known = path.stat()
        return _read(path, known.st_mtime_ns, known.st_size)
    except OSError as error:
        raise HoneyguideError(
            f"no source finder for {named!r} ({error.strerror}): "
            "make one with 'honeyguide train source_finder'"
        ) from None


def model_of(model: str | SourceModel) -> SourceModel:
    """Return a model itself, or the one of this name or file."""
    return model if isinstance(model, SourceModel) else read_model(model)


@lru_cache(8)
def _read(path: Path, modified: int, size: int) -> SourceModel:
    """Read a model file once, as long as it stays the same."""
    try:
        state = read_state(path)
    except DamagedError:
        state = {}
    if not isinstance(state, dict) or str(state.get("what")) != KIND:
        raise HoneyguideError(f"{path} is damaged or not a source finder")
    if str(state.get("version")) not in READABLE or not _fits(state):
        raise HoneyguideError(f"{path} was written by another version: train it again")
    _check_encoder(state["encoder"], path)
    scorer, rules = Scorer(state["scorer"]), state.get("rules", {})
    return SourceModel(
        state["kind"],
        state["encoder"],
        Policy(state["policy"]),
        state["threshold"],
        scorer,
        PageModel(scorer, state["page"]) if state.get("page") else None,
        _rule(Calibrated, "stop_", rules),
        _rule(Reporting, "report_", rules) or Reporting(),
    )


R = TypeVar("R", Calibrated, Reporting)


def _rule(kind: type[R], prefix: str, rules: Mapping[str, float]) -> R | None:
    """Return a rule made of its numbers; None if one of them is missing."""
    names = [each.name for each in fields(kind)]
    if not all(prefix + name in rules for name in names):
        return None
    return kind(**{name: rules[prefix + name] for name in names})


def _fits(state: State) -> bool:
    """Return whether all fields are there with the right types; their users check the shapes."""
    threshold = state.get("threshold")
    plain = isinstance(threshold, float) and math.isfinite(threshold)
    named = all(isinstance(state.get(name), str) for name in ("kind", "encoder"))
    weights = (state.get("policy"), state.get("scorer"), state.get("page", {}))
    return plain and named and all(map(_are_weights, weights)) and _are_numbers(state)


def _are_numbers(state: State) -> bool:
    rules = state.get("rules", {})
    return isinstance(rules, dict) and all(
        isinstance(value, float) and math.isfinite(value) for value in rules.values()
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
