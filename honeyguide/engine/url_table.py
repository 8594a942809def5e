"""An exact set of URLs that numbers them from zero, in a few dozen bytes each."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import Columns, lazy_zeros
from honeyguide.contracts import Ids, State
from honeyguide.urls.spelling import host as host_of

RECENT = 1 << 15  # URLs whose numbers are at hand
NAME_BYTES = 500  # of a host: its name twice, in a list and in a dict each


class UrlTable:
    """URL -> number and back: an open-addressing hash over one block of bytes."""

    def __init__(self) -> None:
        self._rows = Columns(hash=np.uint32, end=np.uint32, prefix=np.int32)
        self._rows.add(1)  # row 0 is where the first path begins; page n is row n + 1
        self._paths = bytearray()
        self._prefixes: dict[str, int] = {}  # "https://example.org" -> number
        self._prefix_names: list[str] = []
        self._prefix_hosts = Columns(64, host=np.int32)
        self._recent: dict[str, int] = {}  # menus name the same pages again and again
        self._hosts: dict[str, int] = {}
        self._host_names: list[str] = []
        self._slots: NDArray[np.int32] = np.zeros(4096, np.int32)  # rows; 0 is a free slot
        self._look()

    def __len__(self) -> int:
        return len(self._rows) - 1

    def find(self, urls: Sequence[str]) -> Ids:
        """The number of each URL; -1 for one never seen."""
        numbers = list(map(self._recent.get, urls))
        if None in numbers:
            for place, url in enumerate(urls):
                if numbers[place] is None:
                    numbers[place] = self._find(url)
        return np.array(numbers, np.int32)

    def find_host(self, name: str) -> int:
        """The number of a host; -1 for one never seen."""
        return self._hosts.get(name, -1)

    def add(self, urls: Sequence[str]) -> Ids:
        """The number of each URL, new numbers for new ones."""
        self._make_room(len(urls))
        recent = self._recent
        if len(recent) > RECENT:
            recent.clear()
        numbers = list(map(recent.get, urls))
        if None in numbers:
            for place, url in enumerate(urls):
                if numbers[place] is None:
                    numbers[place] = recent[url] = self._number(url)
        return np.array(numbers, np.int32)

    def url(self, id: int) -> str:
        """The URL of a number."""
        path = self._paths[self._ends[id] : self._ends[id + 1]]
        name = self._prefix_names[self._prefix_of[id + 1]]
        return name + path.decode("utf-8", "surrogatepass")

    def host(self, ids: Ids) -> Ids:
        """The number of each URL's host."""
        hosts: Ids = self._prefix_hosts["host"][self._rows["prefix"][ids + 1]]
        return hosts

    def host_of(self, id: int) -> int:
        """The number of one URL's host, quicker than of many."""
        return int(self._prefix_hosts["host"][self._prefix_of[id + 1]])

    def host_name(self, host: int) -> str:
        """The name of a host by its number."""
        return self._host_names[host]

    @property
    def host_count(self) -> int:
        """How many hosts have been seen."""
        return len(self._hosts)

    @property
    def nbytes(self) -> int:
        """Bytes of all that was seen; about, since names are texts."""
        slots, names = 2 * len(self._rows) * 4, len(self._prefix_names) * NAME_BYTES
        return self._rows.nbytes + slots + len(self._paths) + names

    def state(self) -> State:
        """What the hash slots follow from."""
        rows = self._rows.state()
        return {
            "ends": rows["end"],
            "prefix": rows["prefix"],
            "paths": np.frombuffer(bytes(self._paths), np.uint8),
            "prefixes": list(self._prefix_names),
        }

    def load(self, state: State) -> None:
        """Become what was saved, in a table that is still empty."""
        for prefix in state["prefixes"]:
            self._prefix_number(prefix)
        self._paths = bytearray(state["paths"].tobytes())
        self._rows.grow(len(state["ends"]))
        self._rows["end"][:] = state["ends"]
        self._rows["prefix"][:] = state["prefix"]
        self._look()
        hashes = [_hash(self.url(id)) for id in range(len(self))]
        self._rows["hash"][1:] = hashes
        self._grow_slots(2 * len(self._rows))
        self._look()

    def _find(self, url: str) -> int:
        number = int(self._slot_view[self._slot(url, _hash(url))]) - 1
        if number >= 0 and len(self._recent) <= RECENT:
            self._recent[url] = number
        return number

    def _number(self, url: str) -> int:
        hashed = _hash(url)
        slot = self._slot(url, hashed)
        if row := self._slot_view[slot]:
            return row - 1
        row = self._rows.append()
        prefix, path = _split(url)
        self._paths += path.encode("utf-8", "surrogatepass")
        self._hashes[row] = hashed
        self._ends[row] = len(self._paths)
        self._prefix_of[row] = self._prefix_number(prefix)
        self._slot_view[slot] = row
        return row - 1

    def _slot(self, url: str, hashed: int) -> int:
        """The slot that holds a URL, or the free one where it belongs."""
        slots, hashes, mask = self._slot_view, self._hashes, self._mask
        slot = hashed & mask
        while row := slots[slot]:
            if hashes[row] == hashed and self._is(row, url):
                break
            slot = (slot + 1) & mask
        return slot

    def _is(self, row: int, url: str) -> bool:
        prefix = self._prefix_names[self._prefix_of[row]]
        if not url.startswith(prefix):
            return False
        path = self._paths[self._ends[row - 1] : self._ends[row]]
        return path == url[len(prefix) :].encode("utf-8", "surrogatepass")

    def _make_room(self, count: int) -> None:
        """Grow before a batch, so that rows and slots stay where they are while it is added."""
        self._rows.reserve(count)
        wanted = 2 * (len(self._rows) + count)
        if wanted > len(self._slots):
            self._grow_slots(wanted)
        self._look()

    def _grow_slots(self, wanted: int) -> None:
        """Give each row a free slot, a round of collisions at a time."""
        self._slots = lazy_zeros(max(4096, 1 << wanted.bit_length()), np.int32)
        mask = np.uint32(len(self._slots) - 1)
        rows = np.arange(1, len(self._rows), dtype=np.int32)
        slots = self._rows["hash"][rows] & mask
        while len(rows):
            free = self._slots[slots] == 0
            self._slots[slots[free]] = rows[free]  # of several, the last one written stays
            placed = self._slots[slots] == rows
            rows, slots = rows[~placed], (slots[~placed] + np.uint32(1)) & mask

    def _look(self) -> None:
        """Views of the arrays whose single items are quick to read and write."""
        self._hashes = self._rows.reserved("hash")
        self._ends = self._rows.reserved("end")
        self._prefix_of = self._rows.reserved("prefix")
        self._slot_view = self._slots.data
        self._mask = len(self._slots) - 1

    def _prefix_number(self, prefix: str) -> int:
        number = self._prefixes.get(prefix)
        if number is None:
            number = self._prefixes[prefix] = len(self._prefix_names)
            self._prefix_names.append(prefix)
            self._prefix_hosts.add(1, host=self._host_number(_host_of(prefix)))
        return number

    def _host_number(self, name: str) -> int:
        number = self._hosts.get(name)
        if number is None:
            number = self._hosts[name] = len(self._host_names)
            self._host_names.append(name)
        return number


def _hash(url: str) -> int:
    """Python's own hash: quick and safe against floods; it differs between processes."""
    return hash(url) & 0xFFFFFFFF


def _host_of(prefix: str) -> str:
    name = prefix.partition("://")[2]
    return host_of(prefix + "/") if ":" in name or "@" in name else name


def _split(url: str) -> tuple[str, str]:
    """Scheme and host, and the rest."""
    scheme_end = url.find("://")
    path = url.find("/", scheme_end + 3) if scheme_end >= 0 else 0
    return (url, "") if path < 0 else (url[:path], url[path:])
