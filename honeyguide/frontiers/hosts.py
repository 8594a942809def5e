"""Which hosts may be asked now: a few requests in flight each, a delay between two."""

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import Columns
from honeyguide.contracts import UNASKED, Ids, Mask, State


class Hosts:
    """The rest that each host is owed; hosts are numbers from zero."""

    def __init__(self, delay: float = 0.0, per_host: int = 1) -> None:
        self.delay = delay  # seconds between two requests to a host
        self.per_host = per_host  # requests in flight to a host
        self._rows = Columns(64, ready=np.float64, busy=np.int32)
        self._flying = 0  # requests to all hosts
        self._latest = 0.0  # when all have rested

    def __len__(self) -> int:
        return len(self._rows)

    def know(self, count: int) -> None:
        """Make room for hosts below this number."""
        self._rows.grow(count)

    def available(self, now: float) -> Mask:
        """Which hosts may be asked now."""
        return (self.ready <= now) & ~self.full

    def at_rest(self, now: float) -> bool:
        """Whether every host may be asked now."""
        return self._flying == 0 and self._latest <= now

    def may_ask(self, hosts: Ids, now: float) -> Mask:
        """Which of these hosts may be asked now."""
        may: Mask = (self._rows["ready"][hosts] <= now) & (
            self._rows["busy"][hosts] < self.per_host
        )
        return may

    def soonest(self, hosts: Ids, now: float) -> float | None:
        """When one of these hosts may be asked; None when each waits for an answer."""
        free = hosts[self._rows["busy"][hosts] < self.per_host]
        return max(now, float(self._rows["ready"][free].min())) if len(free) else None

    @property
    def ready(self) -> NDArray[np.float64]:
        """When each host has rested."""
        return self._rows["ready"]

    @property
    def full(self) -> Mask:
        """Which hosts have as many requests in flight as they may."""
        return self._rows["busy"] >= self.per_host

    def start(self, host: int, now: float) -> float:
        """A request goes out; returns since when the host was ready."""
        before = float(self._rows["ready"][host])
        self._rows["busy"][host] += 1
        self._flying += 1
        self._rest(host, now + self.delay)
        return before

    def end(self, host: int, before: float, now: float, delay: float | None) -> None:
        """A request is over; the host rests for the delay from now."""
        if delay == UNASKED:
            self.cancel(host, before)
            return
        self._rows["busy"][host] -= 1
        self._flying -= 1
        self._rest(host, now + (self.delay if delay is None else delay))

    def cancel(self, host: int, before: float) -> None:
        """The request did not go out after all: the host is as ready as before."""
        self._rows["busy"][host] -= 1
        self._flying -= 1
        self._rows["ready"][host] = before

    def state(self) -> State:
        """All of it."""
        return self._rows.state()

    def load(self, state: State) -> None:
        """Become what was saved."""
        self._rows.load(state)
        self._flying = int(self._rows["busy"].sum())
        self._latest = float(self.ready.max(initial=0.0))

    def _rest(self, host: int, until: float) -> None:
        self._rows["ready"][host] = max(self._rows["ready"][host], until)
        self._latest = max(self._latest, until)
