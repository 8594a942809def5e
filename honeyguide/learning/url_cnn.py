"""The value of a URL from the vectors of its words, by a small convolution (Friar 2017, §3.6).

The vectors are fixed, so what the filters make of a word need be known only once a word; what is
left is to look that up, add neighbours, and take the strongest.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from honeyguide.contracts import Matrix, Vector
from honeyguide.learning.parameters import Parameters

SIZES = (1, 2, 3, 4)  # words that a filter sees at once
WIDEST = max(SIZES)
FILTERS = 4  # of each size
ALL = FILTERS * len(SIZES)
Words = NDArray[Any]  # rows of word numbers
Made = NDArray[np.float32]  # what filters make of words: (place in the filter, word, filter)


class UrlCnn:
    """Filters over word vectors, the strongest answer of each, and one last layer."""

    def __init__(self, width: int, rng: np.random.Generator, step_size: float = 0.001) -> None:
        shapes = {
            "filters": (WIDEST * width, ALL),  # a filter's words below one another
            "offsets": (ALL,),
            "last": (ALL, 1),
            "bias": (1,),
        }
        self.parameters = Parameters(shapes, rng, step_size)
        # narrow filters are wide ones that ignore some places
        seen = np.repeat(np.arange(WIDEST)[:, None] < np.repeat(SIZES, FILTERS), width, axis=0)
        whole = torch.ones_like(self.parameters.data)
        whole[: seen.size] = torch.from_numpy(seen.ravel().astype(np.float32))
        self._mask = whole.detach()
        # where the numbers of the network itself, and of the copy asked last, lie in memory
        self._seen: dict[bool, tuple[int, dict[str, Any]]] = {True: (0, {}), False: (0, {})}
        self.parameters.block[0] *= self._mask
        self._answers = _Answers()

    def made(self, vectors: Matrix, data: torch.Tensor | None = None) -> Made:
        """What each filter makes of each word at each of its places."""
        filters = self._arrays(data)["filters"].reshape(WIDEST, -1, ALL)
        made: Made = vectors @ filters
        return made

    def values(self, words: Words, made: Made, data: torch.Tensor | None = None) -> Vector:
        """The values of URLs, given what filters make of words."""
        arrays = self._arrays(data)
        strongest = self._answers(trimmed(words), made).max(axis=0)
        hidden = np.maximum(strongest + arrays["offsets"], 0.0)
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
        answers = self._answers(rows, self.made(known))
        where = answers.argmax(axis=0)  # (URLs, filters)
        hidden = np.maximum(answers.max(axis=0) + arrays["offsets"], 0.0)
        values = _sigmoid(hidden @ arrays["last"][:, 0] + arrays["bias"][0])
        errors = targets - values
        # backwards, layer by layer
        last = -2 * weights * errors * values * (1 - values) / len(words)
        strongest = last[:, None] * arrays["last"][:, 0] * (hidden > 0)
        parts = (
            _filters_gradient(rows, known, where, strongest),
            strongest.sum(axis=0),
            hidden.T @ last,
            last.sum(keepdims=True),
        )
        gradient = np.concatenate([part.ravel() for part in parts])
        return torch.from_numpy(gradient) * self._mask, errors

    def _arrays(self, data: torch.Tensor | None) -> dict[str, Any]:
        """Each array of the network, or of a copy: they share its memory, so they are made once."""
        source = self.parameters.data if data is None else data
        where, arrays = self._seen[data is None]
        if where != source.data_ptr():  # another copy, or memory that others see too
            arrays = self.parameters.arrays(source)
            self._seen[data is None] = source.data_ptr(), arrays
        return arrays


class _Answers:
    """What each filter makes of each place in URLs: (places, URLs, filters), until asked again."""

    def __init__(self) -> None:
        # made once: taking and clearing half a megabyte each time would cost as much as the sums
        self._room = np.empty((2, 0), np.float32)

    def __call__(self, rows: NDArray[np.intp], made: Made) -> NDArray[np.float32]:
        count = len(rows) - WIDEST + 1
        shape = (count, rows.shape[1], ALL)
        size = count * rows.shape[1] * ALL
        if size > self._room.shape[1]:
            self._room = np.empty((2, size), np.float32)
        together, more = (room[:size].reshape(shape) for room in self._room)
        made[0].take(rows[:count], axis=0, out=together, mode="clip")
        for place in range(1, WIDEST):
            made[place].take(rows[place : place + count], axis=0, out=more, mode="clip")
            together += more
        return together


def _filters_gradient(
    rows: NDArray[np.intp], vectors: Matrix, where: NDArray[np.intp], strongest: Matrix
) -> Matrix:
    """The gradient of the filters: shares are summed up by word before vectors are looked at."""
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
    """A column for each URL; of the zeros that it ends with stay as many as a filter may see."""
    longest = int((words > 0).sum(axis=1).max(initial=0))
    rows = np.zeros((longest + WIDEST, len(words)), np.intp)
    rows[:longest] = words[:, :longest].T
    return rows
