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
    refusal_by,
)
from honeyguide.guards.lists import relisted
from honeyguide.guards.wrapping import screened_by
from honeyguide.urls.patterns import ANOTHER_HOST, HostLimit, UrlLists
from honeyguide.urls.spelling import host as host_of


class FewHosts:
    """Limits a crawl to the first hosts it finds; another guard decides on their links."""

    def __init__(self, guard: Guard, hosts: int) -> None:
        self._guard = guard
        self._hosts: HostLimit[int] = HostLimit(hosts)  # by number
        self._count, self._example = 0, ""

    def refuses(self, memory: MemoryView, url: str) -> str:
        """Whether a URL is on a host beyond the limit, or why the wrapped guard refuses it."""
        known = {memory.urls.host_name(host) for host in self._hosts.hosts}
        if self._hosts.is_full and host_of(url) not in known:
            return ANOTHER_HOST
        return refusal_by(self._guard, memory, url)

    def screen(self, memory: MemoryView, urls: Sequence[str]) -> Mask:
        """As the wrapped guard decides; with all hosts found, links to others are refused."""
        if not self._hosts.is_full:
            return self._guard.screen(memory, urls)
        known = {memory.urls.host_name(host) for host in self._hosts.hosts}
        on_known = np.array([host_of(url) in known for url in urls], np.bool_)
        if not on_known.all():
            self._cut(int((~on_known).sum()), urls[int(np.argmin(on_known))])
        return screened_by(self._guard, memory, urls, on_known)

    def admit(self, memory: MemoryView, found: Outlinks) -> Mask:
        """Links to the hosts found so far, or to new ones below the limit."""
        hosts = memory.host(found.ids).tolist()
        known = np.array([self._hosts.admits(host) for host in hosts], np.bool_)
        if not known.all():
            self._cut(int((~known).sum()), found.links[int(np.argmin(known))].url)
        allowed: Mask = known & self._guard.admit(memory, found)
        return allowed

    def allows(self, memory: MemoryView, id: int, link: Link) -> bool:
        """As the wrapped guard decides; a seed on a host beyond the limit is refused too."""
        if self._hosts.admits(int(memory.host(np.array([id], np.int32))[0])):
            return self._guard.allows(memory, id, link)
        self._cut(1, link.url)
        return False

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Visit:
        """As the wrapped guard decides."""
        return self._guard.note(memory, id, visit)

    def relist(self, lists: UrlLists) -> None:
        """Give the wrapped guard other lists."""
        self._guard = relisted(self._guard, lists)

    @property
    def nbytes(self) -> int:
        """Size of the wrapped guard's tables in bytes."""
        return nbytes_of(self._guard)

    def report(self) -> list[Cut]:
        """What the wrapped guard refused, then the links to further hosts."""
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
