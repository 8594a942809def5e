"""Limit an anonymous crawl (no --contact) to five hosts."""

from collections.abc import Sequence

import numpy as np

from honeyguide.contracts import (
    Cut,
    Guard,
    Link,
    Mask,
    MemoryView,
    Outlinks,
    State,
    Visit,
    nbytes_of,
)
from honeyguide.guards.wrapping import screened_by
from honeyguide.urls.patterns import ANOTHER_HOST, HostLimit
from honeyguide.urls.spelling import host as host_of


class FewHosts:
    """Keeps a crawl to the first few hosts it meets, and asks another guard about the rest."""

    def __init__(self, guard: Guard, hosts: int) -> None:
        self._guard = guard
        self._hosts: HostLimit[int] = HostLimit(hosts)  # by number
        self._count, self._example = 0, ""

    def screen(self, memory: MemoryView, urls: Sequence[str]) -> Mask:
        """What the other guard says; once there are enough hosts, links to others are not noted."""
        if not self._hosts.is_full:
            return self._guard.screen(memory, urls)
        known = {memory.urls.host_name(host) for host in self._hosts.hosts}
        near = np.array([host_of(url) in known for url in urls], np.bool_)
        if not near.all():
            self._cut(int((~near).sum()), urls[int(np.argmin(near))])
        return screened_by(self._guard, memory, urls, near)

    def admit(self, memory: MemoryView, found: Outlinks) -> Mask:
        """Links to the hosts at hand, or to new ones while there are few."""
        hosts = memory.host(found.ids).tolist()
        known = np.array([self._hosts.admits(host) for host in hosts], np.bool_)
        if not known.all():
            self._cut(int((~known).sum()), found.links[int(np.argmin(known))].url)
        allowed: Mask = known & self._guard.admit(memory, found)
        return allowed

    def allows(self, memory: MemoryView, id: int, link: Link) -> bool:
        """What the other guard says; a seed of yet another host is left out too."""
        if self._hosts.admits(int(memory.host(np.array([id], np.int32))[0])):
            return self._guard.allows(memory, id, link)
        self._cut(1, link.url)
        return False

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Visit:
        """What the other guard says."""
        return self._guard.note(memory, id, visit)

    @property
    def nbytes(self) -> int:
        """Bytes of the other guard's tables."""
        return nbytes_of(self._guard)

    def report(self) -> list[Cut]:
        """What was cut, the other hosts last."""
        own = [Cut(ANOTHER_HOST, self._count, self._example)] if self._count else []
        return self._guard.report() + own

    def state(self) -> State:
        """Everything that `load` restores."""
        return {
            "guard": self._guard.state(),
            "hosts": list(self._hosts.hosts),
            "count": self._count,
            "example": self._example,
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._guard.load(state["guard"])
        self._hosts = HostLimit(self._hosts.most, state["hosts"])
        self._count, self._example = state["count"], state["example"]

    def _cut(self, count: int, example: str) -> None:
        self._count += count
        self._example = self._example or example
