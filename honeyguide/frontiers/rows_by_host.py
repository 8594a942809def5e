"""An index of the rows of each host, for tables of millions of rows."""

from array import array

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Ids

LIST_BYTES = 200  # of an array and its place in a dict


class RowsByHost:
    """Rows of each host; a row stays in the list of a host after it was freed."""

    def __init__(self, hosts: Ids) -> None:
        order = np.argsort(hosts, kind="stable").astype(np.int32)
        ends = np.cumsum(np.bincount(hosts))
        parts = np.split(order, ends[:-1])
        self._size = len(hosts)
        self._rows = {
            host: array("i", rows.tobytes()) for host, rows in enumerate(parts) if len(rows)
        }

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, host: int) -> NDArray[np.intp]:
        """The rows of a host, ascending, freed ones included."""
        return np.unique(np.array(self._rows.get(host, ()), np.intp))

    @staticmethod
    def measure(rows: int, hosts: int) -> int:
        """Bytes of so many rows of so many hosts."""
        return 4 * rows + LIST_BYTES * hosts

    def add(self, hosts: Ids, rows: NDArray[np.int32]) -> None:
        """Add rows of these hosts."""
        lists = self._rows
        self._size += len(rows)
        for host, row in zip(hosts.tolist(), rows.tolist(), strict=True):
            of_host = lists.get(host)
            if of_host is None:
                of_host = lists[host] = array("i")
            of_host.append(row)

    def replace(self, host: int, rows: NDArray[np.intp]) -> None:
        """Replace the rows of a host by those that it still has."""
        self._size += len(rows) - len(self._rows.get(host, ()))
        self._rows[host] = array("i", rows.astype(np.int32).tobytes())
