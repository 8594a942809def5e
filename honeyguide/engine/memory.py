"""The crawled graph so far: URLs and their numbers, links between pages, relevance of pages."""

from collections.abc import Callable, Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import Columns, lazy_zeros
from honeyguide.contracts import Ids, Link, Mask, Outlinks, Page, State, Vector, Visit
from honeyguide.features.link_words import first_with_anchor
from honeyguide.urls.spelling import host as host_of

RECENT_URLS = 1 << 15  # URLs whose numbers are cached in a dict
NAME_BYTES = 500  # estimated memory of one host: its name is in two lists and two dicts


class UrlTable:
    """URL -> number and back: an open-addressing hash table over one block of bytes."""

    def __init__(self) -> None:
        self._rows = Columns(hash=np.uint32, end=np.uint32, prefix=np.int32)
        self._rows.add(1)  # row 0 is where the first path begins; page n is row n + 1
        self._paths = bytearray()
        self._prefixes: dict[str, int] = {}  # "https://example.org" -> number
        self._prefix_names: list[str] = []
        self._prefix_hosts = Columns(64, host=np.int32)
        self._recent: dict[str, int] = {}  # a cache: menus repeat the same URLs on every page
        self._hosts: dict[str, int] = {}
        self._host_names: list[str] = []
        self._slots: NDArray[np.int32] = np.zeros(4096, np.int32)  # rows; 0 is a free slot
        self._refresh_views()

    def __len__(self) -> int:
        return len(self._rows) - 1

    def find(self, urls: Sequence[str]) -> Ids:
        """The number of each URL, shape (urls,); -1 for one never seen."""
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
        """The number of each URL, shape (urls,); URLs never seen get the next free numbers."""
        self._make_room(len(urls))
        recent = self._recent
        if len(recent) > RECENT_URLS:
            recent.clear()
        numbers = list(map(recent.get, urls))
        if None in numbers:
            for place, url in enumerate(urls):
                if numbers[place] is None:
                    numbers[place] = recent[url] = self._number(url)
        return np.array(numbers, np.int32)

    def url(self, id: int) -> str:
        """The URL with this number."""
        path = self._paths[self._ends[id] : self._ends[id + 1]]
        name = self._prefix_names[self._prefix_of[id + 1]]
        return name + path.decode("utf-8", "surrogatepass")

    def host(self, ids: Ids) -> Ids:
        """The number of each URL's host."""
        hosts: Ids = self._prefix_hosts["host"][self._rows["prefix"][ids + 1]]
        return hosts

    def host_of(self, id: int) -> int:
        """The number of one URL's host; faster than `host` for a single URL."""
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
        """Bytes of the tables; an estimate, because the sizes of host names are not measured."""
        slots, names = 2 * len(self._rows) * 4, len(self._prefix_names) * NAME_BYTES
        return self._rows.nbytes + slots + len(self._paths) + names

    def state(self) -> State:
        """All but the hashes and slots, which `load` computes again."""
        rows = self._rows.state()
        return {
            "ends": rows["end"],
            "prefix": rows["prefix"],
            "paths": np.frombuffer(bytes(self._paths), np.uint8),
            "prefixes": list(self._prefix_names),
        }

    def load(self, state: State) -> None:
        """Restore a saved state into an empty table."""
        for prefix in state["prefixes"]:
            self._prefix_number(prefix)
        self._paths = bytearray(state["paths"].tobytes())
        self._rows.grow(len(state["ends"]))
        self._rows["end"][:] = state["ends"]
        self._rows["prefix"][:] = state["prefix"]
        self._refresh_views()
        hashes = [_hash(self.url(id)) for id in range(len(self))]
        self._rows["hash"][1:] = hashes
        self._grow_slots(2 * len(self._rows))
        self._refresh_views()

    def _find(self, url: str) -> int:
        number = int(self._slot_view[self._slot(url, _hash(url))]) - 1
        if number >= 0 and len(self._recent) <= RECENT_URLS:
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
            if hashes[row] == hashed and self._row_has_url(row, url):
                break
            slot = (slot + 1) & mask
        return slot

    def _row_has_url(self, row: int, url: str) -> bool:
        prefix = self._prefix_names[self._prefix_of[row]]
        if not url.startswith(prefix):
            return False
        path = self._paths[self._ends[row - 1] : self._ends[row]]
        return path == url[len(prefix) :].encode("utf-8", "surrogatepass")

    def _make_room(self, count: int) -> None:
        """Grow before a batch is added, so that the arrays do not move while it is."""
        self._rows.reserve(count)
        wanted = 2 * (len(self._rows) + count)
        if wanted > len(self._slots):
            self._grow_slots(wanted)
        self._refresh_views()

    def _grow_slots(self, wanted: int) -> None:
        """Make a larger slot table and place all rows, one round of linear probing at a time."""
        self._slots = lazy_zeros(max(4096, 1 << wanted.bit_length()), np.int32)
        mask = np.uint32(len(self._slots) - 1)
        rows = np.arange(1, len(self._rows), dtype=np.int32)
        slots = self._rows["hash"][rows] & mask
        while len(rows):
            free = self._slots[slots] == 0
            self._slots[slots[free]] = rows[free]  # rows may share a slot: the last one gets it
            placed = self._slots[slots] == rows
            rows, slots = rows[~placed], (slots[~placed] + np.uint32(1)) & mask

    def _refresh_views(self) -> None:
        """Make memoryviews of the arrays, which read and write single items faster than numpy."""
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
    """Python's hash, 32 bits: fast, safe against flooding, different in every process."""
    return hash(url) & 0xFFFFFFFF


def _host_of(prefix: str) -> str:
    name = prefix.partition("://")[2]
    return host_of(prefix + "/") if ":" in name or "@" in name else name


def _split(url: str) -> tuple[str, str]:
    """Split a URL into scheme and host, and the rest."""
    scheme_end = url.find("://")
    path = url.find("/", scheme_end + 3) if scheme_end >= 0 else 0
    return (url, "") if path < 0 else (url[:path], url[path:])


Screen = Callable[[Sequence[str]], Mask]  # URLs never seen before -> which to add to the table
FARTHEST = 9  # cap of the distance to the last relevant ancestor (Han et al. 2018)


class Memory:
    """Every URL seen, visited or not, with statistics of its parents (pages that link to it)."""

    def __init__(self, beta: float = 0.4) -> None:
        self.beta = beta  # weight of the page itself in the smoothed relevance of its ancestors
        self.urls = UrlTable()
        self._rows = Columns(
            visit=np.int32,  # its row in _visits; 0 when not visited
            depth=np.uint16,
            distance=np.uint8,  # hops from the last relevant ancestor
            parents=np.uint32,
            relevant_parents=np.uint32,
            parent_sum=np.float32,
            relevant_parent_sum=np.float32,
            parent_smoothed=np.float32,  # the best among the parents
            last_parent=np.int32,  # 1 + row in _edges; 0 for none
        )
        self._visits = Columns(
            relevant=np.bool_,
            linked=np.bool_,  # its links have been added
            relevance=np.float32,
            smoothed=np.float32,  # relevance of the page and its ancestors
            known_links=np.int32,  # to pages that had been visited when its links were added
            good_links=np.int32,  # those of known_links that lead to relevant pages
        )
        self._visits.add(1)  # row 0 stands for all pages that were not visited
        self._edges = Columns(parent=np.int32, earlier=np.int32)
        self.visits = 0
        self.relevant_found = 0
        self._last_relevant = 0

    def __len__(self) -> int:
        return len(self.urls)

    @property
    def barren(self) -> int:
        """Visits since the last one that found a new relevant page."""
        return self.visits - self._last_relevant

    def seed(self, links: Sequence[Link]) -> Outlinks:
        """Add the pages to start from, each URL once."""
        links = tuple({link.url: link for link in links}.values())
        return Outlinks(None, -1, links, self._number(links))

    def visit(self, id: int, visit: Visit) -> int:
        """Record the visit of the link to page `id`; return the page it led to after redirects."""
        end = id
        if visit.page is not None and visit.page.url != visit.link.url:
            moved = Link(visit.page.url)
            end = int(self._number([moved], int(self._rows["depth"][id]))[0])
        self.visits += 1
        if visit.verdict.relevant and not self._rows["visit"][end]:
            self.relevant_found += 1
            self._last_relevant = self.visits
        for page in {id, end}:
            self._mark(page, visit)
        return end

    def visit_also(self, url: str, page: int, visit: Visit) -> int | None:
        """Record the visit of `page` for another address of it; None if that was visited before."""
        other = int(self._number([Link(url)], int(self._rows["depth"][page]))[0])
        if self._rows["visit"][other]:
            return None
        self._mark(other, visit)
        return other

    def link(self, source: int, page: Page, screen: Screen | None = None) -> Outlinks:
        """Add the links of a visited page, each target once, without links to the page itself.

        URLs that were never seen before are added only if `screen` is true for them.
        """
        depth = min(int(self._rows["depth"][source]) + 1, 65_535)
        distinct = {link.url: link for link in page.links}
        if len(distinct) < len(page.links):  # of several to one page, the first with an anchor
            distinct = first_with_anchor(page.links)
        for itself in (page.url, self.urls.url(source)):
            distinct.pop(itself, None)
        links = tuple(distinct.values())
        if screen is None:
            ids = self._number(links, depth)
        else:
            links, ids = self._screened(links, depth, screen)
        visit = self._rows["visit"][source]
        if not self._visits["linked"][visit]:
            self._add_parent(source, ids)
        self._visits["linked"][visit] = True
        return Outlinks(page, source, links, ids)

    def depth(self, page: int) -> int:
        """Hops from a seed, along the first path found."""
        return int(self._rows["depth"][page])

    def visited(self, ids: Ids) -> Mask:
        """Which pages have been visited."""
        return self._rows["visit"][ids] > 0

    def is_visited(self, page: int) -> bool:
        """Whether one page has been visited; faster than `visited` for a single page."""
        return bool(self._rows["visit"][page])

    def relevant(self, ids: Ids) -> Mask:
        """Which pages were visited and found relevant."""
        relevant: Mask = self._visits["relevant"][self._rows["visit"][ids]]
        return relevant

    def relevance(self, ids: Ids) -> Vector:
        """Relevance of visited pages, 0 for others."""
        relevance: Vector = self._visits["relevance"][self._rows["visit"][ids]]
        return relevance

    def parent_count(self, ids: Ids) -> Vector:
        """How many known parents each page has."""
        return self._rows["parents"][ids].astype(np.float32)

    def relevant_parent_count(self, ids: Ids) -> Vector:
        """How many known relevant parents each page has."""
        return self._rows["relevant_parents"][ids].astype(np.float32)

    def parent_relevance(self, ids: Ids) -> Vector:
        """Mean relevance of all known parents, 0 without any."""
        return _mean(self._rows["parent_sum"][ids], self.parent_count(ids))

    def relevant_parent_relevance(self, ids: Ids) -> Vector:
        """Mean relevance of the relevant known parents, 0 without any."""
        return _mean(self._rows["relevant_parent_sum"][ids], self.relevant_parent_count(ids))

    def ancestor_relevance(self, ids: Ids) -> Vector:
        """Smoothed relevance of all ancestors, along the best parent (Han et al. 2018, §3.1)."""
        return self._rows["parent_smoothed"][ids]

    def distance(self, ids: Ids) -> Vector:
        """Hops from the last relevant ancestor, along the nearest parent; at most 9."""
        return self._rows["distance"][ids].astype(np.float32)

    def parents(self, page: int, most: int | None = None) -> Ids:
        """The known parents of a page, oldest first; with `most`, only the latest so many."""
        chain: list[int] = []
        edge = int(self._rows["last_parent"][page])
        while edge and len(chain) != most:
            chain.append(self._edges["parent"][edge - 1])
            edge = int(self._edges["earlier"][edge - 1])
        return np.array(chain[::-1], np.int32)

    def known_links(self, page: int) -> tuple[int, int]:
        """How many links of a page led to pages visited before it, and to relevant ones of them."""
        visit = self._rows["visit"][page]
        return int(self._visits["known_links"][visit]), int(self._visits["good_links"][visit])

    def last_parent(self, page: int) -> int:
        """The parent in which a page was found last; -1 for a seed."""
        edge = int(self._rows["last_parent"][page])
        return int(self._edges["parent"][edge - 1]) if edge else -1

    def host(self, ids: Ids) -> Ids:
        """The number of each page's host."""
        return self.urls.host(ids)

    def state(self) -> State:
        """Everything that `load` needs."""
        return {
            "urls": self.urls.state(),
            "rows": self._rows.state(),
            "visit_rows": self._visits.state(),
            "edges": self._edges.state(),
            "visits": self.visits,
            "relevant_found": self.relevant_found,
            "last_relevant": self._last_relevant,
        }

    def load(self, state: State) -> None:
        """Restore a saved state into an empty memory."""
        self.urls.load(state["urls"])
        self._rows.load(state["rows"])
        self._visits.load(state["visit_rows"])
        self._edges.load(state["edges"])
        self.visits = state["visits"]
        self.relevant_found = state["relevant_found"]
        self._last_relevant = state["last_relevant"]

    @property
    def nbytes(self) -> int:
        """Bytes of all tables."""
        tables = (self._rows, self._visits, self._edges)
        return self.urls.nbytes + sum(table.nbytes for table in tables)

    def _screened(
        self, links: tuple[Link, ...], depth: int, screen: Screen
    ) -> tuple[tuple[Link, ...], Ids]:
        """The links to URLs that were seen before or that `screen` admits, and their numbers."""
        ids = self.urls.find([link.url for link in links])
        unseen = np.flatnonzero(ids < 0)
        if not len(unseen):
            return links, ids
        fresh = [links[place] for place in unseen.tolist()]
        admitted = screen([link.url for link in fresh])
        ids[unseen[admitted]] = self._number(list(compress(fresh, admitted.tolist())), depth)
        if np.count_nonzero(admitted) == len(unseen):
            return links, ids
        known = ids >= 0
        return tuple(compress(links, known.tolist())), ids[known]

    def _number(self, links: Sequence[Link], depth: int = 0) -> Ids:
        ids = self.urls.add([link.url for link in links])
        self._rows.grow(len(self.urls), distance=FARTHEST, depth=depth)
        return ids

    def _mark(self, id: int, visit: Visit) -> None:
        rows, visits, verdict = self._rows, self._visits, visit.verdict
        if not rows["visit"][id]:
            rows["visit"][id] = visits.add(1).start
        row = rows["visit"][id]
        visits["relevant"][row] |= verdict.relevant  # a second visit cannot make it irrelevant
        visits["relevance"][row] = max(visits["relevance"][row], verdict.relevance)
        if verdict.relevant:
            rows["distance"][id] = 0
        past = rows["parent_smoothed"][id] if rows["parents"][id] else verdict.relevance
        visits["smoothed"][row] = self.beta * verdict.relevance + (1 - self.beta) * past

    def _add_parent(self, parent: int, children: Ids) -> None:
        rows, visit = self._rows, self._rows["visit"][parent]
        relevance, smoothed = self._visits["relevance"][visit], self._visits["smoothed"][visit]
        known = rows["visit"][children]
        self._visits["known_links"][visit] = np.count_nonzero(known)
        self._visits["good_links"][visit] = np.count_nonzero(self._visits["relevant"][known])
        earlier = rows["parents"][children]
        rows["parents"][children] = earlier + 1
        if relevance:
            rows["parent_sum"][children] += relevance
        if self._visits["relevant"][visit]:
            rows["relevant_parents"][children] += 1
            rows["relevant_parent_sum"][children] += relevance
        if smoothed:  # it is never below 0, the initial value
            best = np.maximum(rows["parent_smoothed"][children], smoothed)
            rows["parent_smoothed"][children] = np.where(earlier == 0, smoothed, best)
        nearer = int(rows["distance"][parent]) + 1
        if nearer < FARTHEST:
            rows["distance"][children] = np.minimum(rows["distance"][children], nearer)
        earlier_edges = rows["last_parent"][children]
        edges = self._edges.add(len(children), parent=parent, earlier=earlier_edges)
        rows["last_parent"][children] = np.arange(edges.start + 1, edges.stop + 1)


def _mean(total: Vector, count: Vector) -> Vector:
    return np.divide(total, np.maximum(count, 1), dtype=np.float32)
