"""An exact set of URLs that numbers them from zero, in a few dozen bytes each."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import Columns
from honeyguide.contracts import Ids, State
from honeyguide.urls import host as host_of


class UrlTable:
    """URL -> number and back: an open-addressing hash over one block of bytes."""

    def __init__(self) -> None:
        self._rows = Columns(hash=np.uint32, offset=np.uint32, prefix=np.int32)
        self._paths = bytearray()
        self._prefixes: dict[str, int] = {}  # "https://example.org" -> number
        self._prefix_names: list[str] = []
        self._prefix_hosts = Columns(64, host=np.int32)
        self._hosts: dict[str, int] = {}
        self._host_names: list[str] = []
        self._slots: NDArray[np.int32] = np.full(4096, -1, np.int32)

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, urls: Sequence[str]) -> Ids:
        """The number of each URL; -1 for one never seen."""
        hashes = np.array([_fingerprint(url) for url in urls], np.uint32)
        return self._find(urls, hashes)

    def add(self, urls: Sequence[str]) -> Ids:
        """The number of each URL, new numbers for new ones."""
        hashes = np.array([_fingerprint(url) for url in urls], np.uint32)
        ids = self._find(urls, hashes)
        fresh: dict[str, int] = {}  # URL -> its place in the batch
        for place in np.flatnonzero(ids < 0).tolist():
            fresh.setdefault(urls[place], place)
        if fresh:
            numbers = self._append(list(fresh), hashes[list(fresh.values())])
            for place in np.flatnonzero(ids < 0).tolist():
                ids[place] = numbers[urls[place]]
        return ids

    def url(self, id: int) -> str:
        """The URL of a number."""
        offsets = self._rows["offset"]
        end = int(offsets[id + 1]) if id + 1 < len(self) else len(self._paths)
        path = self._paths[int(offsets[id]) : end].decode("utf-8", "surrogatepass")
        return self._prefix_names[int(self._rows["prefix"][id])] + path

    def host(self, ids: Ids) -> Ids:
        """The number of each URL's host."""
        hosts: Ids = self._prefix_hosts["host"][self._rows["prefix"][ids]]
        return hosts

    def host_name(self, host: int) -> str:
        """The name of a host by its number."""
        return self._host_names[host]

    @property
    def host_count(self) -> int:
        """How many hosts have been seen."""
        return len(self._hosts)

    def state(self) -> State:
        """All of it, without the hash slots, which follow from it."""
        return {
            "rows": self._rows.state(),
            "paths": np.frombuffer(bytes(self._paths), np.uint8),
            "prefixes": list(self._prefix_names),
        }

    def load(self, state: State) -> None:
        """Become what was saved, in a table that is still empty."""
        for prefix in state["prefixes"]:
            self._prefix_number(prefix)
        self._rows.load(state["rows"])
        self._paths = bytearray(state["paths"].tobytes())
        self._slots = np.full(_power_of_two_above(2 * max(len(self), 2048)), -1, np.int32)
        self._place(np.arange(len(self), dtype=np.int32))

    def _find(self, urls: Sequence[str], hashes: NDArray[np.uint32]) -> Ids:
        found = np.full(len(urls), -1, np.int32)
        known, mask = self._rows["hash"], np.uint32(len(self._slots) - 1)
        open_ = np.arange(len(urls))
        slots = hashes & mask
        while len(open_):
            ids = self._slots[slots]
            same = (ids >= 0) & (known[ids] == hashes[open_])
            for place in np.flatnonzero(same):
                if self.url(ids[place]) == urls[open_[place]]:
                    found[open_[place]] = ids[place]
                else:  # two URLs of one fingerprint: look further
                    same[place] = False
            further = (ids >= 0) & ~same
            open_, slots = open_[further], (slots[further] + np.uint32(1)) & mask
        return found

    def _append(self, urls: list[str], hashes: NDArray[np.uint32]) -> dict[str, int]:
        rows = self._rows.extend(len(urls))
        prefixes, paths = zip(*map(_split, urls), strict=True)
        encoded = [_bytes(path) for path in paths]
        lengths = np.array([0, *map(len, encoded[:-1])])
        self._rows["hash"][rows] = hashes
        self._rows["offset"][rows] = len(self._paths) + np.cumsum(lengths)
        self._rows["prefix"][rows] = [self._prefix_number(prefix) for prefix in prefixes]
        self._paths += b"".join(encoded)
        if 2 * len(self) > len(self._slots):
            self._slots = np.full(_power_of_two_above(2 * len(self)), -1, np.int32)
            self._place(np.arange(len(self), dtype=np.int32))
        else:
            self._place(np.arange(rows.start, rows.stop, dtype=np.int32))
        return {url: id for id, url in enumerate(urls, rows.start)}

    def _place(self, ids: Ids) -> None:
        """Give each number a free slot, a round of collisions at a time."""
        mask = np.uint32(len(self._slots) - 1)
        slots = self._rows["hash"][ids] & mask
        while len(ids):
            free = self._slots[slots] < 0
            self._slots[slots[free]] = ids[free]  # of several, the last one written stays
            placed = self._slots[slots] == ids
            ids, slots = ids[~placed], (slots[~placed] + np.uint32(1)) & mask

    def _prefix_number(self, prefix: str) -> int:
        number = self._prefixes.get(prefix)
        if number is None:
            number = self._prefixes[prefix] = len(self._prefix_names)
            self._prefix_names.append(prefix)
            place = self._prefix_hosts.extend(1)
            self._prefix_hosts["host"][place] = self._host_number(host_of(prefix + "/"))
        return number

    def _host_number(self, name: str) -> int:
        number = self._hosts.get(name)
        if number is None:
            number = self._hosts[name] = len(self._host_names)
            self._host_names.append(name)
        return number


def _fingerprint(url: str) -> int:
    return int.from_bytes(hashlib.blake2b(_bytes(url), digest_size=4).digest(), "little")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # no URL is too broken to be remembered


def _split(url: str) -> tuple[str, str]:
    """Scheme and host, and the rest."""
    scheme_end = url.find("://")
    path = url.find("/", scheme_end + 3) if scheme_end >= 0 else 0
    return (url, "") if path < 0 else (url[:path], url[path:])


def _power_of_two_above(number: int) -> int:
    return 1 << number.bit_length()
