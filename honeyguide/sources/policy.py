"""Anchor-Net, Tag-Net and what joins them, as they are used; learning.py trains the same."""

from collections.abc import Mapping

import numpy as np

from honeyguide.contracts import Matrix, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.sources.inputs import TAGS, PageInputs

ANCHOR, TAG = 64, 24  # widths of Anchor-Net's and, in each direction, of Tag-Net's layers
JOINT = 32

Weights = Mapping[str, Matrix]


def shapes(width: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of all weights for an encoder of this width."""
    lstm: dict[str, tuple[int, ...]] = {}
    for end in ("", "_reverse"):
        lstm |= {f"tags.weight_ih_l0{end}": (4 * TAG, len(TAGS))}
        lstm |= {f"tags.weight_hh_l0{end}": (4 * TAG, TAG)}
        lstm |= {f"tags.bias_ih_l0{end}": (4 * TAG,), f"tags.bias_hh_l0{end}": (4 * TAG,)}
    both = JOINT + 2 * TAG
    layers = {
        "anchor.0": (ANCHOR, width),
        "anchor.2": (JOINT, ANCHOR),
        "joint.0": (JOINT, both),
        "joint.2": (1, JOINT),
        "layout": (12, both),
    }
    for name, shape in layers.items():
        lstm |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    return lstm


class Policy:
    """Probabilities that links lead to a source page: sigmoid of both nets, joined."""

    def __init__(self, weights: Weights) -> None:
        width = int(np.shape(weights.get("anchor.0.weight", np.empty((0, 0))))[-1])
        wrong = {
            name
            for name, shape in shapes(width).items()
            if name not in weights or np.shape(weights[name]) != shape
        }
        if wrong:
            raise HoneyguideError(f"weights of the source finder are missing: {min(wrong)}")
        self.width = width
        self.weights = {name: np.asarray(weights[name], np.float32) for name in shapes(width)}

    def __call__(self, page: PageInputs) -> Vector:
        """One probability a link."""
        if not len(page):
            return np.empty(0, np.float32)
        text = _relu(self._layer("anchor.2", _relu(self._layer("anchor.0", page.anchors))))
        tags = [self._lstm(page.tags, ""), self._lstm(page.tags[::-1], "_reverse")[::-1]]
        joined = np.concatenate([text, *tags], axis=1)
        logits = self._layer("joint.2", _relu(self._layer("joint.0", joined)))[:, 0]
        return _sigmoid(logits)

    def _layer(self, name: str, x: Matrix) -> Matrix:
        rows: Matrix = x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return rows

    def _lstm(self, x: Matrix, end: str) -> Matrix:
        weights = self.weights
        bias = weights[f"tags.bias_ih_l0{end}"] + weights[f"tags.bias_hh_l0{end}"]
        given = x @ weights[f"tags.weight_ih_l0{end}"].T + bias
        recurrent = weights[f"tags.weight_hh_l0{end}"].T.copy()
        hidden, cell = np.zeros(TAG, np.float32), np.zeros(TAG, np.float32)
        out = np.empty((len(x), TAG), np.float32)
        for row, known in zip(out, given, strict=True):
            gates = known + hidden @ recurrent  # in the order input, forget, cell, output
            opened = _sigmoid(gates)
            cell = opened[TAG : 2 * TAG] * cell + opened[:TAG] * np.tanh(gates[2 * TAG : 3 * TAG])
            hidden = opened[3 * TAG :] * np.tanh(cell)
            row[:] = hidden
        return out


def _relu(x: Matrix) -> Matrix:
    return np.maximum(x, np.float32(0))


def _sigmoid(x: Matrix) -> Matrix:
    rows: Matrix = (0.5 * np.tanh(0.5 * x) + 0.5).astype(np.float32, copy=False)
    return rows
