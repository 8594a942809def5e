"""Rows of bytes: vectors in 8 bits a number, words as bucket numbers, evidence in 16 bits."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import FeatureRows, Ids, Matrix, Vector

MOST_WORDS = 15  # hashed words of a link; 99 in 100 links have no more
NUMBER = np.float32(1 / 4096)  # step of a number in 16 bits: from -8 to 8
SCALE = np.float32(2**-21)  # step of a vector's scale in 16 bits
MOST_MENTIONS = 1 << 14
MENTIONS, SCALES, NUMBERS = 0, slice(1, 3), 3  # places in the column "small"
Places = NDArray[np.integer[Any]]


class PackedRows:
    """The layout of a row: a host, a count of mentions, some numbers, words and two vectors.

    A vector has 8 bits a number, and a scale. Words are buckets, each worth 1 / sqrt(words). A row
    of zeros stands for a link that was never mentioned.
    """

    def __init__(self, numbers: int, buckets: int, dimensions: int) -> None:
        self.numbers, self.buckets, self.dimensions = numbers, buckets, dimensions
        self._dtype = np.dtype(
            [
                ("host", np.int32),
                ("small", np.int16, (NUMBERS + numbers,)),
                ("bucket", np.min_scalar_type(buckets - 1), (MOST_WORDS,)),
                ("words", np.uint8),
                ("vector", np.int8, (2 * dimensions,)),
            ]
        )
        self.width = self._dtype.itemsize
        count = np.arange(MOST_WORDS + 1, dtype=np.float32)
        self._share = np.reciprocal(np.sqrt(np.maximum(count, 1)))
        self._spare = MOST_WORDS - count  # places of `bucket` that are not in use, by words
        self._vectors: Matrix = np.empty((0, 2 * dimensions), np.float32)  # to convert into

    def pack(
        self,
        hosts: Ids,
        mentions: Vector,
        numbers: Matrix,
        words: Sequence[Places],
        vectors: Matrix,
    ) -> FeatureRows:
        """Rows of these values: `vectors` has the two vectors of each link side by side."""
        rows = np.zeros(len(hosts), self._dtype)
        rows["host"] = hosts
        small = rows["small"]
        small[:, MENTIONS] = np.minimum(mentions, MOST_MENTIONS)
        small[:, NUMBERS:] = np.rint(np.clip(numbers / NUMBER, -32767, 32767))
        self._pack_words(rows, words)
        self._pack_vectors(rows, vectors)
        return rows.view(np.uint8).reshape(len(rows), self.width)

    def mentions(self, x: FeatureRows) -> Vector:
        """How often each link was mentioned."""
        mentions: Vector = self._rows(x)["small"][:, MENTIONS].astype(np.float32)
        return mentions

    def hosts(self, x: FeatureRows) -> Ids:
        """The host of each link."""
        hosts: Ids = self._rows(x)["host"]
        return hosts

    def small_numbers(self, x: FeatureRows) -> Matrix:
        """The numbers of each link, shape (links, numbers)."""
        numbers: Matrix = self._rows(x)["small"][:, NUMBERS:] * NUMBER
        return numbers

    def vectors(self, x: FeatureRows) -> Matrix:
        """Both vectors of each link, side by side."""
        rows = self._rows(x)
        scales = np.repeat(rows["small"][:, SCALES] * SCALE, self.dimensions, axis=1)
        vectors: Matrix = rows["vector"] * scales
        return vectors

    def words(self, x: FeatureRows) -> Matrix:
        """The hashed words of each link, shape (links, buckets)."""
        rows = self._rows(x)
        words = np.zeros((len(rows), self.buckets), np.float32)
        which, place = np.nonzero(np.arange(MOST_WORDS) < rows["words"][:, None])
        words[which, rows["bucket"][which, place]] = self._share[rows["words"][which]]
        return words

    def dot(self, x: FeatureRows, numbers: Matrix, words: Vector, vectors: Vector) -> Matrix:
        """Products with each column of weights of numbers; words and vectors go to the first.

        `numbers` has the shape (numbers, any), the result (links, any).
        """
        rows = self._rows(x)
        small = rows["small"].astype(np.float32)
        weights = np.zeros((small.shape[1], numbers.shape[1]), np.float32)
        weights[NUMBERS:] = numbers * NUMBER
        products: Matrix = small @ weights
        first = products[:, 0]
        first += self._dot_words(rows, words)
        both = self._unscaled(rows)
        for place, scale in enumerate(range(SCALES.start, SCALES.stop)):
            which = slice(place * self.dimensions, (place + 1) * self.dimensions)
            first += (both[:, which] @ (vectors[which] * SCALE)) * small[:, scale]
        return products

    def _dot_words(self, rows: NDArray[Any], weights: Vector) -> Vector:
        buckets, count = rows["bucket"], rows["words"]
        # unused places repeat the first bucket; "clip" skips the check of each number
        total = weights.take(buckets, mode="clip") @ np.ones(MOST_WORDS, np.float32)
        total -= weights.take(buckets[:, 0], mode="clip") * self._spare[count]
        total *= self._share[count]
        return total

    def _unscaled(self, rows: NDArray[Any]) -> Matrix:
        """The vectors without their scales, in memory that is used again by the next call."""
        if len(self._vectors) < len(rows):
            self._vectors = np.empty((len(rows), 2 * self.dimensions), np.float32)
        vectors = self._vectors[: len(rows)]
        np.copyto(vectors, rows["vector"])
        return vectors

    def _pack_words(self, rows: NDArray[Any], words: Sequence[Places]) -> None:
        few = [of_link[:MOST_WORDS] for of_link in words]
        rows["words"] = counts = np.array([len(of_link) for of_link in few], np.uint8)
        firsts = [of_link[0] if len(of_link) else 0 for of_link in few]
        rows["bucket"] = np.array(firsts, np.int64)[:, None]
        which, place = np.nonzero(np.arange(MOST_WORDS) < counts[:, None])
        rows["bucket"][which, place] = np.concatenate(few) if few else 0

    def _pack_vectors(self, rows: NDArray[Any], vectors: Matrix) -> None:
        apart = vectors.reshape(len(rows), 2, self.dimensions)
        largest = np.abs(apart).max(axis=2, initial=0.0)
        rows["small"][:, SCALES] = steps = np.minimum(np.ceil(largest / (127 * SCALE)), 32767)
        apart = np.rint(apart / (np.maximum(steps, 1) * SCALE)[:, :, None])
        rows["vector"] = np.clip(apart, -127, 127).reshape(vectors.shape)

    def _rows(self, x: FeatureRows) -> NDArray[Any]:
        """The rows as records; a wrapper or a frontier may have made other numbers of the bytes."""
        return np.ascontiguousarray(x, np.uint8).view(self._dtype)[:, 0]
