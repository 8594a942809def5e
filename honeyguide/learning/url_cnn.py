"""A convolutional network from the word vectors of a URL to its value (Friar 2017, §3.6).

The vectors are fixed, so the product of each filter with each word is computed once a word. A
convolution then looks these products up, adds those of neighbouring words and takes the maximum.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from honeyguide.contracts import Matrix, Vector
from honeyguide.errors import HoneyguideError, unknown
from honeyguide.learning.parameters import Parameters, Spreads

SIZES = (1, 2, 3, 4)  # words under a filter
WIDEST = max(SIZES)
FILTERS = 4  # of each size
ALL = FILTERS * len(SIZES)
Words = NDArray[Any]  # rows of word numbers
WEIGHTS = ("glorot", "inputs")  # initial weights have the variance 2 / (in + out), or 1 / in
Products = NDArray[np.float32]  # of filters with words: shape (place in filter, word, filter)


class UrlCnn:
    """Convolution filters over word vectors, max pooling, and one output layer with a sigmoid.

    A second layer between them has `hidden` units with ReLU; Friar (2017, §3.6) found no gain.
    """

    def __init__(
        self,
        width: int,
        rng: np.random.Generator,
        step_size: float = 0.001,
        weights: str = "glorot",
        hidden: int = 0,
    ) -> None:
        if weights not in WEIGHTS:
            raise unknown("weights", weights, WEIGHTS)
        if hidden < 0:
            raise HoneyguideError("hidden, the units of a second layer, must be zero or more")
        shapes: dict[str, tuple[int, ...]] = {
            "filters": (WIDEST * width, ALL),  # a filter's places below one another
            "offsets": (ALL,),
            "last": (hidden or ALL, 1),
            "bias": (1,),
        }
        if hidden:  # last: crawls without a second layer have stored the others in this order
            shapes |= {"middle": (ALL, hidden), "middle_offsets": (hidden,)}
        spreads = _by_inputs(width, hidden) if weights == "inputs" else None
        self.parameters = Parameters(shapes, rng, step_size, spreads)
        # a narrow filter is a wide one with zeros at its last places
        used = np.repeat(np.arange(WIDEST)[:, None] < np.repeat(SIZES, FILTERS), width, axis=0)
        whole = torch.ones_like(self.parameters.data)
        whole[: used.size] = torch.from_numpy(used.ravel().astype(np.float32))
        self._mask = whole.detach()
        # memory address and arrays of the network itself (True) and of the copy used last (False)
        self._views: dict[bool, tuple[int, dict[str, Any]]] = {True: (0, {}), False: (0, {})}
        self.parameters.block[0] *= self._mask
        self._convolve = _Convolution()

    def products(self, vectors: Matrix, data: torch.Tensor | None = None) -> Products:
        """The product of each filter, at each of its places, with each word vector."""
        filters = self._arrays(data)["filters"].reshape(WIDEST, -1, ALL)
        products: Products = vectors @ filters
        return products

    def values(self, words: Words, products: Products, data: torch.Tensor | None = None) -> Vector:
        """The values of URLs, one row of word numbers each, from the products of all words."""
        arrays = self._arrays(data)
        strongest = self._convolve(trimmed(words), products).max(axis=0)
        hidden = _second(np.maximum(strongest + arrays["offsets"], 0.0), arrays)
        out = hidden @ arrays["last"][:, 0] + arrays["bias"][0]
        return _sigmoid(out)

    def learn(self, words: Words, vectors: Matrix, targets: Vector, weights: Vector) -> Vector:
        """Take one gradient step towards the targets and return the errors before it."""
        gradient, errors = self.gradient(words, vectors, targets, weights)
        self.parameters.descend(gradient)
        return errors

    def gradient(
        self, words: Words, vectors: Matrix, targets: Vector, weights: Vector
    ) -> tuple[torch.Tensor, Vector]:
        """The gradient of the mean weighted square of the errors, and the errors."""
        arrays, numbers = self._arrays(None), trimmed(words)
        used, places = np.unique(numbers, return_inverse=True)
        rows, known = places.reshape(numbers.shape), vectors[used]
        convolved = self._convolve(rows, self.products(known))
        where = convolved.argmax(axis=0)  # (URLs, filters)
        pooled = np.maximum(convolved.max(axis=0) + arrays["offsets"], 0.0)
        hidden = _second(pooled, arrays)
        values = _sigmoid(hidden @ arrays["last"][:, 0] + arrays["bias"][0])
        errors = targets - values
        # backwards, layer by layer
        last = -2 * weights * errors * values * (1 - values) / len(words)
        middle = last[:, None] * arrays["last"][:, 0] * (hidden > 0)
        two = "middle" in arrays
        strongest = (middle @ arrays["middle"].T) * (pooled > 0) if two else middle
        parts = [
            _filters_gradient(rows, known, where, strongest),
            strongest.sum(axis=0),
            hidden.T @ last,
            last.sum(keepdims=True),
            *((pooled.T @ middle, middle.sum(axis=0)) if two else ()),
        ]
        gradient = np.concatenate([part.ravel() for part in parts])
        return torch.from_numpy(gradient) * self._mask, errors

    def _arrays(self, data: torch.Tensor | None) -> dict[str, Any]:
        """The arrays of the network, or of the copy `data`; views are cached by memory address."""
        source = self.parameters.data if data is None else data
        where, arrays = self._views[data is None]
        if where != source.data_ptr():  # another copy, or the network was moved to shared memory
            arrays = self.parameters.arrays(source)
            self._views[data is None] = source.data_ptr(), arrays
        return arrays


class _Convolution:
    """Convolves filters over URLs: shape (places, URLs, filters), in a buffer that is reused."""

    def __init__(self) -> None:
        # allocating half a megabyte each time would cost as much as the sums
        self._buffer = np.empty((2, 0), np.float32)

    def __call__(self, rows: NDArray[np.intp], products: Products) -> NDArray[np.float32]:
        count = len(rows) - WIDEST + 1
        shape = (count, rows.shape[1], ALL)
        size = count * rows.shape[1] * ALL
        if size > self._buffer.shape[1]:
            self._buffer = np.empty((2, size), np.float32)
        sums, more = (buffer[:size].reshape(shape) for buffer in self._buffer)
        products[0].take(rows[:count], axis=0, out=sums, mode="clip")
        for place in range(1, WIDEST):
            products[place].take(rows[place : place + count], axis=0, out=more, mode="clip")
            sums += more
        return sums


def _by_inputs(width: int, hidden: int) -> Spreads:
    """Standard deviations for a variance of 1 / D, D being a unit's inputs (Friar 2017, §2.3.3)."""
    return {
        "filters": 1 / np.sqrt(np.repeat(SIZES, FILTERS) * width),
        "middle": 1 / np.sqrt(ALL),
        "last": 1 / np.sqrt(hidden or ALL),
    }


def _second(pooled: Matrix, arrays: dict[str, Any]) -> Matrix:
    """The units of the second layer if there is one, else those of the first."""
    if "middle" not in arrays:
        return pooled
    units: Matrix = np.maximum(pooled @ arrays["middle"] + arrays["middle_offsets"], 0.0)
    return units


def _filters_gradient(
    rows: NDArray[np.intp], vectors: Matrix, where: NDArray[np.intp], strongest: Matrix
) -> Matrix:
    """The gradient of the filters; gradients are summed by word before the product with vectors."""
    urls, filters = np.arange(rows.shape[1])[:, None], np.arange(ALL)
    parts = []
    for place in range(WIDEST):
        cells = rows[where + place, urls] * ALL + filters
        shares = np.bincount(cells.ravel(), strongest.ravel(), len(vectors) * ALL)
        parts.append(vectors.T @ shares.reshape(-1, ALL).astype(np.float32))
    return np.concatenate(parts)


def _sigmoid(x: Vector) -> Vector:
    return (1.0 / (1.0 + np.exp(-x))).astype(np.float32)


def trimmed(words: Words) -> NDArray[np.intp]:
    """One column a URL: its word numbers, then as many zeros as the widest filter has places."""
    longest = int((words > 0).sum(axis=1).max(initial=0))
    rows = np.zeros((longest + WIDEST, len(words)), np.intp)
    rows[:longest] = words[:, :longest].T
    return rows
