"""Arrays that grow together: compact tables of millions of rows."""

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import State

LARGE = 1 << 20  # bytes; the C library may hand out used memory below some size, cleared at once


class Columns:
    """Named numpy columns of one length, grown by doubling; new rows are zero.

    A column is an array of exactly the rows in use, so an index of a row that was added after the
    array was asked for is an error. An array that was asked for before the table moved in memory
    can no longer be written to.
    """

    def __init__(self, capacity: int = 1024, **dtypes: Any) -> None:
        self._size = 0
        self._dtypes = dtypes
        self._arrays = {name: self._zeros(name, capacity) for name in dtypes}
        self._views: dict[str, NDArray[Any]] = {}  # the rows in use, made when asked for

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The rows in use of a column; ask again after rows were added."""
        view = self._views.get(name)
        if view is None:
            view = self._views[name] = self._arrays[name][: self._size]
        return view

    def __len__(self) -> int:
        return self._size

    @property
    def nbytes(self) -> int:
        """Bytes of the rows in use."""
        return sum(self[name].nbytes for name in self._dtypes)

    def add(self, count: int, **values: Any) -> range:
        """Add rows with these values, zero where none are given, and say which they are."""
        self.reserve(count)
        added = range(self._size, self._size + count)
        self._resize(added.stop)
        for name, value in values.items():
            self[name][added.start :] = value
        return added

    def grow(self, rows: int, **values: Any) -> None:
        """Have at least so many rows; the new ones get these values, zero where none are given."""
        if rows > self._size:
            self.add(rows - self._size, **values)

    def append(self) -> int:
        """Add a row of zeros, where room was reserved, and say which it is: quicker than `add`."""
        row = self._size
        self._size = row + 1
        if self._views:
            self._views = {}
        return row

    def pop(self) -> None:
        """Remove the last row."""
        self._resize(self._size - 1)
        for array in self._arrays.values():
            array[self._size] = 0

    def reserve(self, count: int) -> None:
        """Make sure that so many rows can be added without moving the arrays."""
        capacity = len(next(iter(self._arrays.values())))
        if self._size + count > capacity:
            self._move(max(self._size + count, 2 * capacity))

    def reserved(self, name: str) -> memoryview:
        """A whole column with its spare rows, quick to read and write one at a time.

        It holds until rows are reserved, added or loaded.
        """
        return self._arrays[name].data

    def state(self) -> State:
        """A copy of the rows in use."""
        return {name: self[name].copy() for name in self._dtypes}

    def load(self, state: State) -> None:
        """Replace all rows by saved ones."""
        size = len(next(iter(state.values())))
        self._retire()
        self._size = size
        for name in self._dtypes:
            self._arrays[name] = self._zeros(name, max(1024, size))
            self._arrays[name][:size] = state[name]

    def _zeros(self, name: str, capacity: int) -> NDArray[Any]:
        dtype = self._dtypes[name]
        kind, width = dtype if isinstance(dtype, tuple) else (dtype, None)
        return lazy_zeros(capacity if width is None else (capacity, width), kind)

    def _resize(self, size: int) -> None:
        self._size = size
        self._views = {}

    def _move(self, capacity: int) -> None:
        self._retire()
        for name, old in self._arrays.items():
            moved = self._zeros(name, capacity)
            moved[: self._size] = old[: self._size]
            self._arrays[name] = moved

    def _retire(self) -> None:
        """Refuse writes to arrays that are about to be replaced: they would be lost."""
        for view in self._views.values():
            view.flags.writeable = False
        self._views = {}


def lazy_zeros(shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Zeros that cost no memory until they are written, and give it back when they go."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if size < LARGE:
        return np.zeros(shape, dtype)
    memory = mmap.mmap(-1, size)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)  # a matrix product reads it several times faster
    return np.frombuffer(memory, dtype).reshape(shape)
