"""The policy network (Anchor-Net, Tag-Net, joint layers) in NumPy; learning.py trains it."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from honeyguide.contracts import Matrix, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.source_finder.inputs import TAGS, PageInputs

ANCHOR, TAG = 64, 24  # widths of Anchor-Net and of Tag-Net in each direction
JOINT = 32  # width of the joint layer

Weights = Mapping[str, Matrix]


def shapes(width: int, ensemble_size: int = 1) -> dict[str, tuple[int, ...]]:
    """Return names and shapes of all weights of so many merged nets for an encoder's width."""
    anchor, tag, joint = ANCHOR * ensemble_size, TAG * ensemble_size, JOINT * ensemble_size
    lstm: dict[str, tuple[int, ...]] = {}
    for end in ("", "_reverse"):
        lstm |= {f"tags.weight_ih_l0{end}": (4 * tag, len(TAGS))}
        lstm |= {f"tags.weight_hh_l0{end}": (4 * tag, tag)}
        lstm |= {f"tags.bias_ih_l0{end}": (4 * tag,), f"tags.bias_hh_l0{end}": (4 * tag,)}
    both = joint + 2 * tag
    layers = {
        "anchor.0": (anchor, width),
        "anchor.2": (joint, anchor),
        "joint.0": (joint, both),
        "joint.2": (1, joint),
        "layout": (12, both),
    }
    for name, shape in layers.items():
        lstm |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    return lstm


class Policy:
    """Returns the probability of each link of a page that it leads to a source page."""

    def __init__(self, weights: Weights) -> None:
        first = np.shape(weights.get("anchor.0.weight", np.empty((0, 0))))
        self.width, self.ensemble_size = int(first[-1]), max(1, int(first[0]) // ANCHOR)
        wanted = shapes(self.width, self.ensemble_size)
        wrong = {
            name
            for name, shape in wanted.items()
            if name not in weights or np.shape(weights[name]) != shape
        }
        if wrong:
            raise HoneyguideError(
                f"weights of the source finder are missing or of the wrong shape: {min(wrong)}"
            )
        self.weights = {name: np.asarray(weights[name], np.float32) for name in wanted}

    def __call__(self, page: PageInputs) -> Vector:
        """Return a (links,) array of probabilities."""
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
        tag = len(recurrent)
        hidden, cell = np.zeros(tag, np.float32), np.zeros(tag, np.float32)
        out = np.empty((len(x), tag), np.float32)
        for row, known in zip(out, given, strict=True):
            gates = known + hidden @ recurrent  # in the order input, forget, cell, output
            opened = _sigmoid(gates)
            cell = opened[tag : 2 * tag] * cell + opened[:tag] * np.tanh(gates[2 * tag : 3 * tag])
            hidden = opened[3 * tag :] * np.tanh(cell)
            row[:] = hidden
        return out


def side_by_side(policies: Sequence[Policy]) -> Policy:
    """Return one wide policy whose logits are the mean of these policies' logits."""
    if len(policies) == 1:
        return policies[0]
    given = [policy.weights for policy in policies]  # each policy is a single net
    share = np.float32(1 / len(given))
    rows = {name: np.concatenate([one[name] for one in given]) for name in ("anchor.0.weight",)}
    rows |= {f"{n}.bias": np.concatenate([one[f"{n}.bias"] for one in given]) for n in _LAYERS}
    rows["anchor.2.weight"] = _blocks([one["anchor.2.weight"] for one in given])
    for end in ("", "_reverse"):
        for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
            rows[f"tags.{name}{end}"] = _gates([one[f"tags.{name}{end}"] for one in given], name)
    rows["joint.0.weight"] = _by_input([one["joint.0.weight"] for one in given], _blocks)
    rows["joint.2.weight"] = share * np.concatenate([one["joint.2.weight"] for one in given], 1)
    rows["layout.weight"] = share * _by_input(
        [one["layout.weight"] for one in given], lambda parts: np.concatenate(parts, axis=1)
    )
    for name in ("joint.2.bias", "layout.bias"):
        rows[name] = np.mean([one[name] for one in given], axis=0)
    return Policy(rows)


_LAYERS = ("anchor.0", "anchor.2", "joint.0")  # whose outputs are concatenated


def _blocks(matrices: Sequence[Matrix]) -> Matrix:
    """Return a block-diagonal matrix."""
    heights, widths = zip(*(matrix.shape for matrix in matrices), strict=True)
    whole = np.zeros((sum(heights), sum(widths)), np.float32)
    for number, matrix in enumerate(matrices):
        top, left = sum(heights[:number]), sum(widths[:number])
        whole[top : top + len(matrix), left : left + matrix.shape[1]] = matrix
    return whole


def _gates(matrices: Sequence[Matrix], name: str) -> Matrix:
    """Merge LSTM weights: for each of the four gates in turn, the rows of all LSTMs."""
    join = _blocks if name == "weight_hh_l0" else np.concatenate
    quarters = [np.split(matrix, 4) for matrix in matrices]
    return np.concatenate([join([one[gate] for one in quarters]) for gate in range(4)])


def _by_input(matrices: Sequence[Matrix], join: Callable[[Sequence[Matrix]], Matrix]) -> Matrix:
    """Merge weights on text, forward and backward LSTM: for each in turn, those of all nets."""
    parts = [np.split(matrix, [JOINT, JOINT + TAG], axis=1) for matrix in matrices]
    return np.concatenate([join([one[which] for one in parts]) for which in range(3)], axis=1)


def _relu(x: Matrix) -> Matrix:
    return np.maximum(x, np.float32(0))


def _sigmoid(x: Matrix) -> Matrix:
    rows: Matrix = (0.5 * np.tanh(0.5 * x) + 0.5).astype(np.float32, copy=False)
    return rows
