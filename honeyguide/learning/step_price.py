"""The price of a step, by the measured seconds of its host (Friar 2017, §4.2.3)."""

from honeyguide.contracts import State, Visit
from honeyguide.errors import HoneyguideError
from honeyguide.urls.spelling import host


class StepPrice:
    """A price for each second that visits to a host took in the mean so far."""

    def __init__(self, price: float) -> None:
        if not price >= 0:
            raise HoneyguideError("second_price, the price of a second, must be zero or more")
        self.price = price
        self._sums: dict[str, tuple[int, float]] = {}  # by host: visits, seconds

    def of(self, visit: Visit) -> float:
        """Count a visit's seconds and return the price of its step, in rewards."""
        if not self.price or not visit.seconds:  # a page that is known costs nothing
            return 0.0
        name = host(visit.link.url)
        visits, seconds = self._sums.get(name, (0, 0.0))
        visits, seconds = visits + 1, seconds + visit.seconds
        self._sums[name] = visits, seconds
        return self.price * seconds / visits

    def state(self) -> State:
        """Visits and seconds by host; empty without a price, as in crawls from before prices."""
        if not self.price:
            return {}
        return {"seconds": {name: list(sums) for name, sums in self._sums.items()}}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        found = state.get("seconds", {})
        self._sums = {name: (int(visits), float(taken)) for name, (visits, taken) in found.items()}
