"""Limits the hosts and links of each registrable domain, so that none fills the crawl."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import Columns
from honeyguide.contracts import MemoryView, State
from honeyguide.urls.domains import registrable

Codes = NDArray[np.uint8]
REASONS = (
    "",
    "domain with too many hosts",
    "domain with too many links",
    "domain with nothing new",
    "page with too many new hosts",
)
OPEN, MANY_HOSTS, MANY_LINKS, STALE, MANY_NEW = range(5)
NAME_BYTES = 200  # of a domain's name in memory, roughly


@dataclass(slots=True)
class Room:
    """The number of further hosts and links that a domain may have."""

    hosts: int
    links: int


class Domains:
    """Counts hosts, links, visits and relevant pages of each domain, and enforces its limits.

    A new relevant page allows `growth` more hosts and `link_growth` more links of its domain. That
    is more than a page has, so that the links of a relevant page are never refused.
    """

    def __init__(
        self,
        hosts: int = 1000,  # of a domain; Wikipedia has fewer languages
        links: int = 20_000,  # of a domain, known and not visited
        growth: int = 50,  # hosts for each new relevant page
        link_growth: int = 1000,  # links for each new relevant page
        page_growth: int = 20,  # links for each new page
        patience: int = 120,  # hosts in a row whose first page has nothing new
        page_hosts: int = 100,  # new hosts that every page may link to
        spare_hosts: int = 50_000,  # new hosts beyond these, of all pages together
    ) -> None:
        self.hosts, self.links = hosts, links
        self.growth, self.link_growth, self.page_growth = growth, link_growth, page_growth
        self.patience = patience
        self.page_hosts = page_hosts
        self.spare = spare_hosts  # that are left
        self._pages = 0  # URLs of the memory that are counted
        self._hosts = Columns(domain=np.int32, asked=np.bool_)  # by host
        self._rows = Columns(  # by domain
            hosts=np.int32,
            known=np.int32,  # number of links
            visited=np.int32,
            fresh=np.int32,  # visits with a new page
            relevant=np.int32,  # visits with a new relevant page
            dry=np.int32,  # hosts in a row whose first page had nothing new
            closed=np.bool_,
        )
        self._numbers: dict[str, int] = {}  # by name

    @property
    def nbytes(self) -> int:
        """Size of its tables in bytes."""
        return self._hosts.nbytes + self._rows.nbytes + NAME_BYTES * len(self._numbers)

    def screen(self, memory: MemoryView, hosts: Sequence[str]) -> Codes:
        """Why new links of a page to these hosts are refused, as places in REASONS; 0: allowed."""
        self._count(memory)
        page = _Page(self, memory)
        codes = np.array(list(map(page.place, hosts)), np.uint8)
        self.spare -= page.beyond
        return codes

    def refuses(self, memory: MemoryView, name: str) -> int:
        """Why links to a host are refused, without counting anything."""
        host = memory.urls.find_host(name)
        domain = self.number(host if host < len(self._hosts) else -1, name)
        room = self.room(domain)
        if self.is_closed(domain):
            return STALE
        if room.links <= 0:
            return MANY_LINKS
        return MANY_HOSTS if host < 0 and room.hosts <= 0 else OPEN

    def closed(self, memory: MemoryView, host: int) -> bool:
        """Whether the domain of a host is closed: its last hosts had nothing new."""
        domain = self._domain_of(memory, host)
        return bool(self._rows["closed"][domain])

    def visit(self, memory: MemoryView, id: int) -> None:
        """Count a visit, unless the page was visited before."""
        if not memory.is_visited(id):
            domain = self._domain_of(memory, memory.urls.host_of(id))
            self._rows["visited"][domain] += 1

    def note(self, memory: MemoryView, id: int, new: bool, relevant: bool) -> None:
        """Count the outcome of a visit."""
        host, rows = memory.urls.host_of(id), self._rows
        domain = self._domain_of(memory, host)
        rows["fresh"][domain] += new
        if new and relevant:
            rows["relevant"][domain] += 1
            self.spare += self.growth
        if new:
            rows["dry"][domain] = 0
        elif not self._hosts["asked"][host]:
            rows["dry"][domain] += 1
        self._hosts["asked"][host] = True
        fresh, dry = int(rows["fresh"][domain]), int(rows["dry"][domain])
        rows["closed"][domain] = dry >= self.patience + fresh // 4

    def state(self) -> State:
        """Everything that `load` restores; with names, since the public suffix list changes."""
        return {
            "pages": self._pages,
            "spare": self.spare,
            "hosts": self._hosts.state(),
            "rows": self._rows.state(),
            "names": list(self._numbers),
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._pages, self.spare = state["pages"], state["spare"]
        self._hosts.load(state["hosts"])
        self._rows.load(state["rows"])
        self._numbers = {name: number for number, name in enumerate(state["names"])}

    def room(self, domain: int) -> Room:
        """What a domain may still have; -1 is a new domain."""
        if domain < 0:
            return Room(self.hosts, self.links)
        names = ("hosts", "known", "visited", "fresh", "relevant")
        hosts, known, visited, fresh, relevant = (int(self._rows[name][domain]) for name in names)
        links = self.links + self.link_growth * relevant + self.page_growth * fresh
        return Room(self.hosts + self.growth * relevant - hosts, links - known + visited)

    def number(self, host: int, name: str) -> int:
        """The number of a host's domain; -1 for a new domain. A new host has the number -1."""
        if host >= 0:
            return int(self._hosts["domain"][host])
        return self._numbers.get(registrable(name), -1)

    def is_closed(self, domain: int) -> bool:
        """Whether a domain is closed; a new one, -1, is not."""
        return domain >= 0 and bool(self._rows["closed"][domain])

    def _domain_of(self, memory: MemoryView, host: int) -> int:
        self._add_new_hosts(memory)
        return int(self._hosts["domain"][host])

    def _add_new_hosts(self, memory: MemoryView) -> None:
        for host in range(len(self._hosts), memory.urls.host_count):
            self._add_host(memory.urls.host_name(host))

    def _count(self, memory: MemoryView) -> None:
        """Count the URLs and hosts that the memory has got since the last call."""
        self._add_new_hosts(memory)
        if self._pages < len(memory.urls):
            ids = np.arange(self._pages, len(memory.urls), dtype=np.int32)
            np.add.at(self._rows["known"], self._hosts["domain"][memory.host(ids)], 1)
            self._pages = len(memory.urls)

    def _add_host(self, name: str) -> None:
        domain = self._numbers.setdefault(registrable(name), len(self._numbers))
        if domain == len(self._rows):
            self._rows.add(1)
        self._rows["hosts"][domain] += 1
        self._hosts.add(1, domain=domain)


class _Page:
    """Checks the new links of one page against the limits."""

    def __init__(self, domains: Domains, memory: MemoryView) -> None:
        self._domains = domains
        self._find_host = memory.urls.find_host
        self._hosts: dict[str, Room | int] = {}  # by name: its domain's room, or a refusal
        self._rooms: dict[int | str, Room] = {}  # by number of a domain, or name of a new one
        self._new_hosts = 0

    @property
    def beyond(self) -> int:
        """New hosts beyond those that every page may link to."""
        return max(0, self._new_hosts - self._domains.page_hosts)

    def place(self, name: str) -> int:
        """Why a link to a host is refused, as a place in REASONS; 0: it is allowed and counted."""
        if name not in self._hosts:
            self._hosts[name] = self._check_host(name)
        room = self._hosts[name]
        if isinstance(room, int):
            return room
        if room.links <= 0:
            return MANY_LINKS
        room.links -= 1
        return OPEN

    def _check_host(self, name: str) -> Room | int:
        host = self._find_host(name)
        domain = self._domains.number(host, name)
        if self._domains.is_closed(domain):
            return STALE
        key = domain if domain >= 0 else registrable(name)
        if key not in self._rooms:
            self._rooms[key] = self._domains.room(domain)
        room = self._rooms[key]
        return room if host >= 0 or room.links <= 0 else self._take_host(room)

    def _take_host(self, room: Room) -> Room | int:
        if room.hosts <= 0:
            return MANY_HOSTS
        if self._new_hosts >= self._domains.page_hosts + max(0, self._domains.spare):
            return MANY_NEW
        room.hosts -= 1
        self._new_hosts += 1
        return room
