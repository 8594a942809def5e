"""Growing tables of numpy columns, for millions of rows."""

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import State

LARGE = 1 << 20  # bytes; smaller arrays may be cleared at once, not when they are written


class Columns:
    """Named numpy columns of one length, grown by doubling; new rows are zero.

    `columns[name]` is an array of exactly the rows in use: it does not include rows that are added
    later, and it becomes read-only when the table moves in memory.
    """

    def __init__(self, capacity: int = 1024, **dtypes: Any) -> None:
        self._size = 0
        self._dtypes = dtypes
        self._buffers: dict[str, mmap.mmap] = {}  # of large columns
        self._arrays = {name: self._zeros(name, capacity) for name in dtypes}
        self._views: dict[str, NDArray[Any]] = {}  # the rows in use, created on first access
        self._row_bytes = sum(array.nbytes // capacity for array in self._arrays.values())

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The rows in use of a column; get it again after rows were added."""
        view = self._views.get(name)
        if view is None:
            view = self._views[name] = self._arrays[name][: self._size]
        return view

    def __len__(self) -> int:
        return self._size

    @property
    def nbytes(self) -> int:
        """Bytes of the rows in use."""
        return self._size * self._row_bytes

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Remove all rows but these, reorder them as given, and free the memory of the others."""
        self._retire()
        for name, old in self._arrays.items():
            self._arrays[name] = kept = self._zeros(name, len(old))  # unused rows cost no memory
            np.take(old, rows, axis=0, out=kept[: len(rows)], mode="clip")  # "raise" copies
        self._size = len(rows)

    def add(self, count: int, **values: Any) -> range:
        """Add `count` rows with these values (zero by default); return their numbers."""
        self.reserve(count)
        added = range(self._size, self._size + count)
        self._resize(added.stop)
        for name, value in values.items():
            self[name][added.start :] = value
        return added

    def grow(self, rows: int, **values: Any) -> None:
        """Grow to at least `rows` rows; new ones get these values (zero by default)."""
        if rows > self._size:
            self.add(rows - self._size, **values)

    def append(self) -> int:
        """Add a row of zeros and return its number; faster than `add`, but call `reserve` first."""
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
        """Make room, so that `count` more rows can be added without moving the arrays."""
        capacity = len(next(iter(self._arrays.values())))
        if self._size + count > capacity:
            self._move(max(self._size + count, 2 * capacity))

    def reserved(self, name: str) -> memoryview:
        """A memoryview of a column with its spare rows, fast to read and write one item at a time.

        It is valid until rows are reserved, added or loaded.
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
        shape, dtype = self._shape(name, capacity)
        size = int(np.prod(shape)) * dtype.itemsize
        self._buffers.pop(name, None)
        if size < LARGE:
            return np.zeros(shape, dtype)
        self._buffers[name] = _lazy_buffer(size)
        return np.frombuffer(self._buffers[name], dtype).reshape(shape)

    def _shape(self, name: str, capacity: int) -> tuple[tuple[int, ...], np.dtype[Any]]:
        dtype = self._dtypes[name]
        kind, width = dtype if isinstance(dtype, tuple) else (dtype, None)
        return (capacity,) if width is None else (capacity, width), np.dtype(kind)

    def _resize(self, size: int) -> None:
        self._size = size
        self._views = {}

    def _move(self, capacity: int) -> None:
        self._retire()
        for name in self._dtypes:
            if not self._extend(name, capacity):
                old = self._arrays[name]
                self._arrays[name] = moved = self._zeros(name, capacity)
                moved[: self._size] = old[: self._size]

    def _extend(self, name: str, capacity: int) -> bool:
        """Make a large column longer without a copy; False if that is not possible."""
        if name not in self._buffers:
            return False
        before = len(self._arrays.pop(name))  # while an array uses the buffer, it cannot grow
        shape, dtype = self._shape(name, capacity)
        extended = _resize(self._buffers[name], int(np.prod(shape)) * dtype.itemsize)
        shape, dtype = self._shape(name, capacity if extended else before)
        self._arrays[name] = np.frombuffer(self._buffers[name], dtype).reshape(shape)
        return extended

    def _retire(self) -> None:
        """Make arrays that are about to be replaced read-only: writes to them would be lost."""
        for view in self._views.values():
            view.flags.writeable = False
        self._views = {}


def lazy_zeros(shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Zeros that take no memory until they are written, and free it when deleted."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if size < LARGE:
        return np.zeros(shape, dtype)
    return np.frombuffer(_lazy_buffer(size), dtype).reshape(shape)


def _lazy_buffer(size: int) -> mmap.mmap:
    """Zeroed memory that belongs to this process alone, so that it can be made longer."""
    if hasattr(mmap, "MAP_PRIVATE"):
        buffer = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    else:
        buffer = mmap.mmap(-1, size)
    _use_huge_pages(buffer)
    return buffer


def _resize(buffer: mmap.mmap, size: int) -> bool:
    """Make a buffer longer, in place or elsewhere; False if it is in use or the system cannot."""
    try:
        buffer.resize(size)
    except (BufferError, OSError, SystemError):
        return False
    _use_huge_pages(buffer)
    return True


def _use_huge_pages(buffer: mmap.mmap) -> None:
    """Ask for large pages of memory: a matrix product reads them several times faster."""
    if hasattr(mmap, "MADV_HUGEPAGE"):
        buffer.madvise(mmap.MADV_HUGEPAGE)
