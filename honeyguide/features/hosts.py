"""Which hosts of a crawl are new, and which have brought nothing for long."""

import numpy as np

from honeyguide.columns import Columns
from honeyguide.contracts import Ids, Matrix, State, Vector


class HostRecords:
    """Two numbers a host: how well it is known, and how long it has brought nothing relevant.

    Both less their mean over the hosts visited so far: on a web of one host they are 0, since
    there is nothing to choose.
    """

    width = 2

    def __init__(self) -> None:
        self._hosts = Columns(64, visits=np.int32, barren=np.int32, row=(np.float32, self.width))
        self._visited = 0
        self._sum = np.zeros(self.width)  # over visited hosts; the rows of others are 0

    def __len__(self) -> int:
        return len(self._hosts)

    def meet(self, hosts: Ids) -> None:
        """Make room for hosts."""
        self._hosts.grow(int(hosts.max(initial=-1)) + 1)

    def rows(self, hosts: Ids) -> Matrix:
        """What is known of hosts now."""
        rows: Matrix = self._hosts["row"][hosts] - self._mean()
        return rows

    def worth(self, hosts: Ids, weights: Vector) -> Vector:
        """rows(hosts) @ weights, with one product a host."""
        by_host: Vector = (self._hosts["row"] - self._mean()) @ weights
        return by_host[hosts]

    def credit(self, host: int, relevant: float) -> None:
        """Note a visit."""
        hosts = self._hosts
        self._visited += not hosts["visits"][host]
        hosts["visits"][host] += 1
        hosts["barren"][host] = 0 if relevant else hosts["barren"][host] + 1
        visits, barren = int(hosts["visits"][host]), int(hosts["barren"][host])
        before = hosts["row"][host].astype(np.float64)
        hosts["row"][host] = visits / (visits + 1), 0.3 * np.log1p(barren)  # thirty are about one
        self._sum += hosts["row"][host] - before

    def state(self) -> State:
        """All of it."""
        return {"hosts": self._hosts.state(), "visited": self._visited, "sum": self._sum.copy()}

    def load(self, state: State) -> None:
        """Become what was saved."""
        self._hosts.load(state["hosts"])
        self._visited, self._sum = state["visited"], state["sum"].copy()

    def _mean(self) -> Vector:
        return (self._sum / max(self._visited, 1)).astype(np.float32)
