"""Bounds of a crawl: --max-depth, --max-per-host and --languages."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from honeyguide.contracts import (
    Cut,
    Guard,
    Link,
    Mask,
    MemoryView,
    Outlinks,
    State,
    Verdict,
    Visit,
    nbytes_of,
)
from honeyguide.guards.lists import relisted
from honeyguide.urls.patterns import UrlLists

TOO_DEEP = "deeper than --max-depth"
HOST_FULL = "beyond --max-per-host"
OTHER_LANGUAGE = "in another language"
_hreflang = re.compile(r".*\[hreflang=(\w\w)\]").fullmatch


class Bounds:
    """Keeps within a depth, a number of pages a host, and languages; another guard does the rest.

    A page in another language counts as not relevant; its links are followed, because they may
    lead back, but none that says to lead to another language. A page whose language is not clear
    is judged like others.
    """

    def __init__(
        self,
        guard: Guard,
        max_depth: int | None = None,  # hops from a seed
        max_per_host: int | None = None,  # pages fetched
        languages: Sequence[str] = (),  # two letters each; empty: all
    ) -> None:
        self._guard = guard
        self._max_depth = max_depth
        self._max_per_host = max_per_host
        self._languages = frozenset(languages)
        self._pages: Counter[int] = Counter()  # by host: absorbed
        self._under_way: dict[int, int] = {}  # page -> its host
        self._tally: dict[str, list[int | str]] = {}  # reason -> count, first URL

    def screen(self, memory: MemoryView, urls: Sequence[str]) -> Mask:
        """As the wrapped guard decides."""
        return self._guard.screen(memory, urls)

    def admit(self, memory: MemoryView, found: Outlinks) -> Mask:
        """Links within the bounds, if the wrapped guard admits them."""
        hosts = memory.host(found.ids).tolist()
        places = zip(found.ids.tolist(), hosts, found.links, strict=True)
        inside = [self._is_inside(memory, *place) for place in places]
        passing = np.array(inside, np.bool_)
        allowed: Mask = passing & self._guard.admit(memory, found)
        return allowed

    def allows(self, memory: MemoryView, id: int, link: Link) -> bool:
        """Whether a link's host has room for one more page, if the wrapped guard allows it."""
        host = int(memory.host(np.array([id], np.int32))[0])
        if id not in self._under_way and self._is_full(host, in_flight=True):
            self._cut(HOST_FULL, link.url)
            return False
        if not self._guard.allows(memory, id, link):
            return False
        if self._max_per_host is not None:
            self._under_way[id] = host
        return True

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Visit:
        """Count the page, and take its relevance away if it is in another language."""
        visit = self._guard.note(memory, id, visit)
        if (host := self._under_way.pop(id, None)) is not None:
            self._pages[host] += 1
        if not self._languages or visit.page is None or not visit.verdict.relevant:
            return visit
        language = visit.page.language
        if not language or language in self._languages:
            return visit
        self._cut(OTHER_LANGUAGE, visit.page.url)
        return replace(visit, verdict=Verdict(0.0, False, (f"{OTHER_LANGUAGE}: {language}",)))

    def relist(self, lists: UrlLists) -> None:
        """Give the wrapped guard other lists."""
        self._guard = relisted(self._guard, lists)

    @property
    def nbytes(self) -> int:
        """Size of the wrapped guard's tables in bytes; hosts are few."""
        return nbytes_of(self._guard)

    def report(self) -> list[Cut]:
        """What the wrapped guard refused, then what is out of bounds."""
        cuts = [Cut(reason, int(n), str(url)) for reason, (n, url) in self._tally.items()]
        return self._guard.report() + sorted(cuts, key=lambda cut: (-cut.count, cut.reason))

    def state(self) -> State:
        """Everything that `load` restores."""
        return {
            "guard": self._guard.state(),
            "pages": [list(pair) for pair in self._pages.items()],
            "under_way": [list(pair) for pair in self._under_way.items()],
            "tally": {reason: list(cut) for reason, cut in self._tally.items()},
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._guard.load(state["guard"])
        self._pages = Counter(dict(state["pages"]))
        self._under_way = dict(state["under_way"])
        self._tally = {reason: list(cut) for reason, cut in state["tally"].items()}

    def _is_inside(self, memory: MemoryView, id: int, host: int, link: Link) -> bool:
        if self._max_depth is not None and memory.depth(id) > self._max_depth:
            self._cut(TOO_DEEP, link.url)
            return False
        if self._is_full(host, in_flight=False):
            self._cut(HOST_FULL, link.url)
            return False
        said = _hreflang(link.tag_path) if self._languages else None
        if said is not None and said[1] not in self._languages:
            self._cut(OTHER_LANGUAGE, link.url)
            return False
        return True

    def _is_full(self, host: int, in_flight: bool) -> bool:
        if self._max_per_host is None:
            return False
        pages = self._pages[host]
        if in_flight:
            pages += sum(each == host for each in self._under_way.values())
        return pages >= self._max_per_host

    def _cut(self, reason: str, url: str) -> None:
        cut = self._tally.setdefault(reason, [0, url])
        cut[0] = int(cut[0]) + 1
