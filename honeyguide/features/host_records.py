"""What the visits to each host have brought."""

import numpy as np

from honeyguide.columns import Columns
from honeyguide.contracts import Ids, Matrix, State, Vector


class HostRecords:
    """Two features a host: how often it was visited, and its visits since the last relevant page.

    Each is scaled to about 1 and reduced by its mean over the hosts visited so far, so both are 0
    on a web of one host.
    """

    width = 2

    def __init__(self) -> None:
        self._hosts = Columns(64, visits=np.int32, barren=np.int32, row=(np.float32, self.width))
        self._visited = 0
        self._sum = np.zeros(self.width)  # over visited hosts; the rows of others are 0

    def __len__(self) -> int:
        return len(self._hosts)

    @property
    def nbytes(self) -> int:
        """Size of its table in bytes."""
        return self._hosts.nbytes

    def grow(self, hosts: Ids) -> None:
        """Add empty rows for hosts that have none."""
        self._hosts.grow(int(hosts.max(initial=-1)) + 1)

    def rows(self, hosts: Ids) -> Matrix:
        """The present features of hosts: shape (hosts, 2)."""
        rows: Matrix = self._hosts["row"][hosts] - self._mean()
        return rows

    def dot(self, hosts: Ids, weights: Vector) -> Vector:
        """rows(hosts) @ weights, computed once a distinct host."""
        by_host: Vector = (self._hosts["row"] - self._mean()) @ weights
        return by_host[hosts]

    def add_visit(self, host: int, relevant: float) -> None:
        """Count a visit to a host, with its reward."""
        hosts = self._hosts
        self._visited += not hosts["visits"][host]
        hosts["visits"][host] += 1
        hosts["barren"][host] = 0 if relevant else hosts["barren"][host] + 1
        visits, barren = int(hosts["visits"][host]), int(hosts["barren"][host])
        before = hosts["row"][host].astype(np.float64)
        hosts["row"][host] = visits / (visits + 1), 0.3 * np.log1p(barren)  # 30 visits give about 1
        self._sum += hosts["row"][host] - before

    def state(self) -> State:
        """Everything that `load` restores."""
        return {"hosts": self._hosts.state(), "visited": self._visited, "sum": self._sum.copy()}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._hosts.load(state["hosts"])
        self._visited, self._sum = state["visited"], state["sum"].copy()

    def _mean(self) -> Vector:
        return (self._sum / max(self._visited, 1)).astype(np.float32)
