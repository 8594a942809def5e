"""Arrays that grow together: compact tables of millions of rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import State


class Columns:
    """Named numpy columns of one length, grown by doubling; new rows are zero."""

    def __init__(self, capacity: int = 1024, **dtypes: Any) -> None:
        self.size = 0
        self._dtypes = dtypes
        self._arrays = {name: self._zeros(name, capacity) for name in dtypes}

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The whole column, spare rows included."""
        return self._arrays[name]

    def __len__(self) -> int:
        return self.size

    def extend(self, count: int) -> slice:
        """Add rows of zeros and say where they are."""
        start, self.size = self.size, self.size + count
        capacity = len(next(iter(self._arrays.values())))
        if self.size > capacity:
            self._grow(max(self.size, 2 * capacity))
        return slice(start, self.size)

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
        # zeros come lazily from the system: spare rows cost no memory until they are written
        return np.zeros(capacity if width is None else (capacity, width), kind)

    def _grow(self, capacity: int) -> None:
        for name, old in self._arrays.items():
            grown = self._zeros(name, capacity)
            grown[: len(old)] = old
            self._arrays[name] = grown
