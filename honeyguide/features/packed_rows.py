"""Rows of bytes: vectors in 8 bits a number, words as bucket numbers, evidence in 16 bits."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import FeatureRows, Ids, Matrix, Vector

MOST_WORDS = 16  # hashed words of a link; 99 in 100 links have no more
# columns of the 16-bit integers of a row; numbers follow
MENTIONS, SCALES, SHARE, SPARE, NUMBERS = 0, slice(1, 3), 3, 4, 5
NUMBER = np.float32(2**-12)  # unit of numbers: they are between -8 and 8
SCALE = np.float32(2**-21)  # unit of the scales of vectors
PART = np.float32(2**-11)  # unit of what a word is worth: 1 / sqrt(words), so that a row has norm 1
MOST = 32767
# by the number of words: what each is worth, and what the unused places of `bucket` are worth
PARTS = np.array([0, *np.rint(np.arange(1, MOST_WORDS + 1) ** -0.5 / PART)], np.int16)
SPARES = (MOST_WORDS - np.arange(MOST_WORDS + 1)) * PARTS
ONES = np.ones(MOST_WORDS, np.float32)
Places = NDArray[np.integer[Any]]


class PackedRows:
    """The layout of a row: a host, a count of mentions, some numbers, words and two vectors.

    A vector has 8 bits a number, and a scale. Words are buckets; unused places are bucket 0. A row
    of zeros stands for a link that was never mentioned.
    """

    def __init__(self, numbers: int, buckets: int, dimensions: int) -> None:
        self.numbers, self.buckets, self.dimensions = numbers, buckets, dimensions
        self._dtype = np.dtype(
            [
                ("host", np.int32),
                ("small", np.int16, (NUMBERS + numbers,)),
                ("bucket", np.min_scalar_type(buckets - 1), (MOST_WORDS,)),
                ("vector", np.int8, (2 * dimensions,)),
            ]
        )
        self.width = self._dtype.itemsize
        self._floats: Matrix = np.empty((0, 2 * dimensions), np.float32)  # to convert into

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
        small[:, MENTIONS] = np.minimum(mentions, MOST)
        small[:, NUMBERS:] = np.rint(numbers / NUMBER).clip(-MOST, MOST)
        self._pack_words(rows["bucket"], small, words)
        self._pack_vectors(rows["vector"], small, vectors)
        return rows.view(np.uint8).reshape(len(rows), self.width)

    def mentions(self, x: FeatureRows) -> Vector:
        """How often each link was mentioned."""
        mentions: Vector = self.records(x)["small"][:, MENTIONS].astype(np.float32)
        return mentions

    def hosts(self, x: FeatureRows) -> Ids:
        """The host of each link."""
        hosts: Ids = self.records(x)["host"]
        return hosts

    def small_numbers(self, x: FeatureRows) -> Matrix:
        """The numbers of each link, shape (links, numbers)."""
        numbers: Matrix = self.records(x)["small"][:, NUMBERS:] * NUMBER
        return numbers

    def vectors(self, x: FeatureRows) -> Matrix:
        """Both vectors of each link, side by side."""
        rows = self.records(x)
        scales = np.repeat(rows["small"][:, SCALES] * SCALE, self.dimensions, axis=1)
        vectors: Matrix = rows["vector"] * scales
        return vectors

    def words(self, x: FeatureRows) -> Matrix:
        """The hashed words of each link, shape (links, buckets)."""
        rows = self.records(x)
        buckets, worth = rows["bucket"], rows["small"][:, SHARE] * PART
        words = np.zeros((len(rows), self.buckets), np.float32)
        words[np.arange(len(rows))[:, None], buckets] = worth[:, None]
        words[:, 0] = np.where(buckets[:, 0] == 0, worth, 0)  # buckets ascend; unused ones are 0
        return words

    def records(self, x: FeatureRows) -> NDArray[Any]:
        """The rows as records; a wrapper or a frontier may have made other numbers of the bytes."""
        return np.ascontiguousarray(x, np.uint8).view(self._dtype)[:, 0]

    def floats(self, rows: NDArray[Any]) -> Matrix:
        """The vectors without their scales, in memory that is used again by the next call."""
        if len(self._floats) < len(rows):
            self._floats = np.empty((len(rows), 2 * self.dimensions), np.float32)
        floats = self._floats[: len(rows)]
        np.copyto(floats, rows["vector"])
        return floats

    def _pack_words(
        self, buckets: NDArray[Any], small: NDArray[np.int16], words: Sequence[Places]
    ) -> None:
        few = [of_link[:MOST_WORDS] for of_link in words]
        counts = np.array([len(of_link) for of_link in few], np.intp)
        small[:, SHARE], small[:, SPARE] = PARTS[counts], SPARES[counts]
        used = np.arange(MOST_WORDS) < counts[:, None]
        buckets[used] = np.concatenate([*few, np.empty(0, np.intp)])

    def _pack_vectors(
        self, packed: NDArray[np.int8], small: NDArray[np.int16], vectors: Matrix
    ) -> None:
        apart = vectors.reshape(len(packed), 2, self.dimensions)
        largest = np.abs(apart).max(axis=2, initial=0.0)
        units = np.minimum(np.ceil(largest / (127 * SCALE)), MOST)
        small[:, SCALES] = units
        apart = np.rint(apart / (np.maximum(units, 1) * SCALE)[:, :, None])
        packed[:] = apart.clip(-127, 127).reshape(vectors.shape)


class PackedWeights(NamedTuple):
    """Weights of packed rows, prepared for products with many of them."""

    layout: PackedRows
    small: Matrix  # weights of the 16-bit integers, shape (integers, columns)
    words: Vector
    vectors: tuple[Vector, Vector]

    @classmethod
    def of(
        cls, layout: PackedRows, numbers: Matrix, words: Vector, first: Vector, second: Vector
    ) -> "PackedWeights":
        """Prepare weights of numbers, shape (numbers, columns), of words and of both vectors."""
        small = np.zeros((NUMBERS + layout.numbers, numbers.shape[1]), np.float32)
        small[NUMBERS:] = numbers * NUMBER
        small[SPARE, 0] = -words[0] * PART  # unused places of `bucket` count as bucket 0
        return cls(layout, small, words * PART, (first * SCALE, second * SCALE))

    def dot(self, rows: NDArray[Any]) -> Matrix:
        """Products with each column of numbers; those with words and vectors are in the first."""
        small = rows["small"].astype(np.float32)
        products: Matrix = small @ self.small
        total = products[:, 0]
        # "clip" skips the check of each bucket number
        total += (self.words.take(rows["bucket"], mode="clip") @ ONES) * small[:, SHARE]
        floats, size = self.layout.floats(rows), self.layout.dimensions
        first, second = self.vectors
        total += (floats[:, :size] @ first) * small[:, SCALES.start]
        total += (floats[:, size:] @ second) * small[:, SCALES.stop - 1]
        return products
