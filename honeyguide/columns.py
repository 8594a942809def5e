"""Arrays that grow together: compact tables of millions of rows."""

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import State

LARGE = 1 << 20  # bytes; the C library may hand out used memory below some size, cleared at once


class Columns:
    """Named numpy columns of one length, grown by doubling; new rows are zero."""

    def __init__(self, capacity: int = 1024, **dtypes: Any) -> None:
        self.size = 0
        self._dtypes = dtypes
        self._arrays = {name: self._zeros(name, capacity) for name in dtypes}
        self._row_bytes = sum(array.nbytes // capacity for array in self._arrays.values())

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The whole column, spare rows included."""
        return self._arrays[name]

    def __len__(self) -> int:
        return self.size

    @property
    def nbytes(self) -> int:
        """Bytes of the rows in use."""
        return self.size * self._row_bytes

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Keep these rows only, in this order, and give back the memory of the others."""
        for name, old in self._arrays.items():
            self._arrays[name] = kept = self._zeros(name, len(old))  # room costs nothing
            np.take(old, rows, axis=0, out=kept[: len(rows)], mode="clip")  # "raise" copies
        self.size = len(rows)

    def extend(self, count: int) -> slice:
        """Add rows of zeros and say where they are."""
        self.reserve(count)
        start, self.size = self.size, self.size + count
        return slice(start, self.size)

    def append(self) -> int:
        """Add a row of zeros, where room was made, and say which it is: quicker than a slice."""
        row = self.size
        self.size = row + 1
        return row

    def reserve(self, count: int) -> None:
        """Make sure that so many rows can be added without moving the arrays."""
        capacity = len(next(iter(self._arrays.values())))
        if self.size + count > capacity:
            self._grow(max(self.size + count, 2 * capacity))

    def state(self) -> State:
        """A copy of the rows in use."""
        return {name: array[: self.size].copy() for name, array in self._arrays.items()}

    def load(self, state: State) -> None:
        """Replace all rows by saved ones."""
        self.size = len(next(iter(state.values())))
        for name in self._dtypes:
            self._arrays[name] = self._zeros(name, max(1024, self.size))
            self._arrays[name][: self.size] = state[name]

    def _zeros(self, name: str, capacity: int) -> NDArray[Any]:
        dtype = self._dtypes[name]
        kind, width = dtype if isinstance(dtype, tuple) else (dtype, None)
        return lazy_zeros(capacity if width is None else (capacity, width), kind)

    def _grow(self, capacity: int) -> None:
        for name, old in self._arrays.items():
            grown = self._zeros(name, capacity)
            grown[: len(old)] = old
            self._arrays[name] = grown


def lazy_zeros(shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Zeros that cost no memory until they are written, and give it back when they go."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if size < LARGE:
        return np.zeros(shape, dtype)
    memory = mmap.mmap(-1, size)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)  # a matrix product reads it several times faster
    return np.frombuffer(memory, dtype).reshape(shape)
