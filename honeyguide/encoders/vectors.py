"""Shared by encoders: pooling of word vectors, and a bounded cache of text vectors."""

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import lazy_zeros
from honeyguide.contracts import Matrix, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.text.vectors import unit


def flat(bags: Sequence[Collection[int]]) -> NDArray[np.intp]:
    """The numbers of all bags in one array."""
    return np.fromiter(chain.from_iterable(bags), np.intp, sum(map(len, bags)))


def pooled(
    bags: Sequence[Collection[int] | NDArray[np.integer[Any]]],
    vectors: NDArray[np.floating[Any]],
    weights: Vector | None = None,  # one for each number in `flat(bags)`
) -> Matrix:
    """For each bag of row numbers, the normalised sum of those rows; zero for an empty bag."""
    return unit(summed(bags, vectors, weights))


def summed(
    bags: Sequence[Collection[int] | NDArray[np.integer[Any]]],
    vectors: NDArray[np.floating[Any]],
    weights: Vector | None = None,  # one for each number in `flat(bags)`
) -> Matrix:
    """For each bag of row numbers, the sum of those rows."""
    sums = np.zeros((len(bags), vectors.shape[1]), np.float32)
    end = 0
    # one bag at a time: rows stay in the processor's cache, and results do not depend on the batch
    for row, bag in zip(sums, bags, strict=True):
        numbers = bag if isinstance(bag, np.ndarray) else np.fromiter(bag, np.intp, len(bag))
        rows = vectors.take(numbers, axis=0)
        if weights is not None:
            start, end = end, end + len(bag)
            rows = rows * weights[start:end, None]
        np.add.reduce(rows, axis=0, out=row)
    return sums


LONGEST = 1000  # bytes of a cached text; longer ones are pages, which seldom repeat
MOST_MEGABYTES = 16_384
ENTRY = LONGEST + 160  # bytes of an entry besides its vector


class Cached:
    """A cache of an encoder's vectors by text; when it is full, the oldest are replaced.

    It is safe for threads: pages are judged while links of others are scored.
    """

    def __init__(
        self, encode: Callable[[Sequence[str]], Matrix], width: int, megabytes: float
    ) -> None:
        if not 0 <= megabytes <= MOST_MEGABYTES:  # NaN is refused as well
            raise HoneyguideError(f"cache_megabytes must be 0 to {MOST_MEGABYTES:,}")
        self._encode = encode
        self._room = int(megabytes * 2**20) // (4 * width + ENTRY)
        self._rows: Matrix = lazy_zeros((self._room, width), np.float32)
        self._place: dict[str, int] = {}
        self._texts: list[str] = []  # by place
        self._next = 0
        self._clears = 0
        self._lock = Lock()  # for all of these; not held while texts are encoded

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """One row a text."""
        place = self._place
        try:
            with self._lock:
                return self._rows[[place[text] for text in texts]]
        except KeyError:
            return self._with_new(texts)
        except IndexError:  # there are no texts
            return np.empty((0, self._rows.shape[1]), np.float32)

    def clear(self) -> None:
        """Remove all vectors, and do not keep those that are being encoded now."""
        with self._lock:
            self._place.clear()
            self._texts.clear()
            self._next = 0
            self._clears += 1

    def __len__(self) -> int:
        return len(self._place)

    def _with_new(self, texts: Sequence[str]) -> Matrix:
        with self._lock:
            places = list(map(self._place.get, texts))
            rows, clears = self._copied(places), self._clears
        missing = [row for row, place in enumerate(places) if place is None]
        new = {text: n for n, text in enumerate(dict.fromkeys(texts[row] for row in missing))}
        fresh = self._encode(list(new))
        rows[missing] = fresh[[new[texts[row]] for row in missing]]
        with self._lock:
            if clears == self._clears:  # else the vectors are outdated
                self._keep(new, fresh)
        return rows

    def _copied(self, places: list[int | None]) -> Matrix:
        """The vectors at these places; an arbitrary one for None."""
        if not self._room:
            return np.empty((len(places), self._rows.shape[1]), np.float32)
        return self._rows[[place or 0 for place in places]]

    def _keep(self, texts: Iterable[str], vectors: Matrix) -> None:
        for text, vector in zip(texts, vectors, strict=True):
            if text.__sizeof__() > LONGEST or not self._room or text in self._place:
                continue
            at = self._next
            if at < len(self._texts):
                del self._place[self._texts[at]]
                self._texts[at] = text
            else:
                self._texts.append(text)
            self._place[text] = at
            self._rows[at] = vector
            self._next = (at + 1) % self._room
