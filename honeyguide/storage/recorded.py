"""A navigator whose every event is kept."""

from collections.abc import Sequence

from honeyguide.contracts import Frontier, Link, Step, Visit
from honeyguide.engine.memory import Memory
from honeyguide.engine.navigator import Lease, Navigator
from honeyguide.storage.store import Store


class Recorded:
    """Steers a crawl like its navigator does, which it has brought to where the crawl was."""

    def __init__(
        self,
        navigator: Navigator,
        store: Store,
        max_bytes: int | None = None,  # of the tables, from now on; None: as before
    ) -> None:
        self.navigator = navigator
        self.store = store
        self.started_at = store.replay(navigator)  # on the crawl's own clock, which goes on
        self._max_bytes = max_bytes
        self._first = [lease.link for lease in navigator.leases.values()]

    @property
    def leases(self) -> dict[str, Lease]:
        """The links that are being visited, by URL."""
        return self.navigator.leases

    @property
    def frontier(self) -> Frontier:
        """The links that wait."""
        return self.navigator.frontier

    @property
    def memory(self) -> Memory:
        """The crawled graph so far."""
        return self.navigator.memory

    @property
    def stopped(self) -> bool:
        """Whether the agent found nothing worth a fetch."""
        return self.navigator.stopped

    def seed(self, links: Sequence[Link]) -> None:
        """Start from these pages, unless the crawl has started already."""
        if not self.store.begun:
            self.navigator.seed(links)
            self.store.seeded(links, self.started_at)
        if self._max_bytes is not None and self._max_bytes != self.navigator.max_bytes:
            self.navigator.bound(self._max_bytes)
            self.store.bounded(self._max_bytes, self.started_at)

    def choose(self, now: float) -> Link | None:
        """The next link to visit: first those whose visits were cut off."""
        if self._first:
            return self._first.pop(0)
        moved = self.navigator.moved
        link = self.navigator.choose(now)
        if link is not None:
            self.store.took(link, now)
        elif self.navigator.moved > moved:
            self.store.looked(now)
        return link

    def absorb(self, visit: Visit, now: float) -> Step:
        """Take in what came of a link, and keep it."""
        score = self.navigator.leases[visit.link.url].score
        step = self.navigator.absorb(visit, now)
        waiting, in_flight = len(self.frontier), len(self.leases)
        self.store.absorbed(visit, score, now, step.verdict, waiting=waiting, in_flight=in_flight)
        if self.store.wants_snapshot(len(self.memory)):
            self.store.snapshot(self.navigator.state())
        return step
