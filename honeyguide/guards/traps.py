"""Traps: links refused by their looks, and by the record of their site and of their like."""

import math
from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import Columns
from honeyguide.contracts import Ids, State
from honeyguide.guards.shapes import Kind, Shape, refusal, shape

Codes = NDArray[np.uint8]
Record = NDArray[np.uint32]  # a row of six
Looks = tuple[int, int, int]  # why a URL is refused on sight, and the slots of its groups

SLOTS = 1 << 20  # groups of URLs; those that share a slot by chance share a record
MOST_FORMS = 40  # sets of parameters that one path may have
REASONS = (
    "",
    "file type",
    "deep path",
    "repeating path",
    "long query",
    "far date",
    "calendar",
    "session ids",
    "URL pattern with nothing relevant",
    "URL pattern with nothing new",
    "growing query",
    "host with nothing relevant",
    "host with nothing new",
)
OPEN = 0
_CODES = {reason: code for code, reason in enumerate(REASONS)}
_HOST_FULL, _HOST_STALE = _CODES["host with nothing relevant"], _CODES["host with nothing new"]
_GROWING = _CODES["growing query"]
_NONE = np.empty(0, np.int32)
_NO_ROWS = np.empty(0, np.intp)
_UNREAD = 255  # the URL has not been looked at


# columns of a record
_VISITED, _NEW, _RELEVANT, _DRY, _FORMS, _CLOSED = range(6)


class Limits(NamedTuple):
    """When a group of pages is closed, and why."""

    pages: float  # visits without anything relevant
    patience: int  # visits in a row without anything new
    full: int  # the reason when pages are used up
    stale: int  # the reason when patience is


class Traps:
    """Remembers what became of hosts and of groups of like URLs, and closes the hopeless."""

    def __init__(
        self,
        pattern_pages: int = 1000,  # of one URL pattern, plus `growth` for each relevant one
        calendar_pages: int = 60,  # of one calendar, plus the same
        host_pages: int = 20_000,  # of one host, plus the same
        growth: int = 50,
        patience: int = 20,  # visits in a row that bring nothing new
        year: int | None = None,  # the present one; without it no date is far
        far: int = 3,  # years ahead
    ) -> None:
        self.growth = growth
        self.latest = math.inf if year is None else year + far
        self._limits = _limits(pattern_pages, calendar_pages, patience)
        self._host_limits = Limits(host_pages, 3 * patience, _HOST_FULL, _HOST_STALE)
        self._links = Columns(code=np.uint8, narrow=np.int32, wide=np.int32)  # by page
        self._groups = _records(SLOTS)
        self._hosts = _records(0)
        self._looked: dict[str, Looks] = {}  # of the page whose links were looked at last

    @property
    def nbytes(self) -> int:
        """Bytes of its tables that grow."""
        return self._links.nbytes + self._hosts.nbytes

    def judge(self, ids: Ids, hosts: Ids, urls: Sequence[str], by_looks: bool = True) -> Codes:
        """Why each link is refused, as places in REASONS; 0 for those that are not."""
        self._know(ids, hosts)
        links = self._links
        looks: Codes = links["code"][ids]
        unread = np.flatnonzero(looks == _UNREAD)
        if len(unread):
            self._read(ids[unread], [urls[place] for place in unread.tolist()])
            looks = links["code"][ids]
        codes: Codes = self._hosts["record"][hosts, _CLOSED].astype(np.uint8)
        codes = self._closed(codes, links["wide"][ids], links["narrow"][ids])
        return np.where(looks, looks, codes) if by_looks else codes

    def look(self, hosts: Ids, urls: Sequence[str]) -> Codes:
        """The same for URLs that have no number yet; a host without one is -1."""
        self._looked = {url: self._looks(url) for url in urls}
        looks, narrow, wide = np.array(list(self._looked.values()), np.int32).reshape(-1, 3).T
        codes = np.zeros(len(urls), np.uint8)
        met = (hosts >= 0) & (hosts < len(self._hosts))
        codes[met] = self._hosts["record"][hosts[met], _CLOSED]
        codes = self._closed(codes, wide, narrow)
        return np.where(looks, looks, codes).astype(np.uint8)

    def note(self, host: int, like: Shape, new: bool, relevant: bool) -> None:
        """Take in what became of a link."""
        self._know(_NONE, np.array([host], np.int32))
        self._tally(self._hosts["record"][host], self._host_limits, new, relevant)
        if like.kind == Kind.SINGLE:
            return
        narrow, wide = (self._groups["record"][_slot(name)] for name in (like.narrow, like.wide))
        if like.wide.endswith(b"?") and not narrow[_VISITED]:
            wide[_FORMS] += 1
        for record, limits in zip((narrow, wide), self._limits[like.kind], strict=True):
            self._tally(record, limits, new, relevant)

    def state(self) -> State:
        """All records; what URLs look like is read again."""
        groups = self._groups["record"]
        used = np.flatnonzero(groups[:, _VISITED])
        return {
            "slots": used,
            "groups": groups[used],
            "hosts": self._hosts.state(),
            "pages": len(self._links),
        }

    def load(self, state: State) -> None:
        """Become what was saved, before any link is judged."""
        self._groups = _records(SLOTS)
        self._groups["record"][state["slots"]] = state["groups"]
        self._hosts.load(state["hosts"])
        self._links.keep(_NO_ROWS)
        self._links.grow(state.get("pages", 0), code=_UNREAD)  # older crawls did not count them

    def _closed(self, codes: Codes, wide: Ids, narrow: Ids) -> Codes:
        """Why hosts are closed, else their groups."""
        groups = self._groups["record"]
        for slots in (wide, narrow):
            codes = np.where(codes, codes, groups[slots, _CLOSED])
        return codes

    def _read(self, ids: Ids, urls: Sequence[str]) -> None:
        looks = [self._looked.get(url) or self._looks(url) for url in urls]
        codes, narrow, wide = zip(*looks, strict=True)
        self._links["code"][ids] = codes
        self._links["narrow"][ids] = narrow
        self._links["wide"][ids] = wide

    def _looks(self, url: str) -> Looks:
        like = shape(url)
        code = _CODES[refusal(url) or ("far date" if like.year > self.latest else "")]
        return code, _slot(like.narrow), _slot(like.wide)

    def _tally(self, record: Record, limits: Limits, new: bool, relevant: bool) -> None:
        visited, fresh, found, dry, forms, _ = record.tolist()
        visited, fresh, found = visited + 1, fresh + new, found + (new and relevant)
        dry = 0 if new else dry + 1
        if dry >= limits.patience + fresh // 4:
            closed = limits.stale
        elif visited >= limits.pages + self.growth * found:
            closed = limits.full
        elif forms > MOST_FORMS + found:
            closed = _GROWING
        else:
            closed = OPEN
        record[:] = visited, fresh, found, dry, forms, closed

    def _know(self, ids: Ids, hosts: Ids) -> None:
        self._links.grow(int(ids.max(initial=-1)) + 1, code=_UNREAD)
        self._hosts.grow(int(hosts.max(initial=-1)) + 1)


def _limits(
    pattern_pages: int, calendar_pages: int, patience: int
) -> dict[Kind, tuple[Limits, Limits]]:
    """The limits of the narrow and the wide groups of each kind."""
    full = _CODES["URL pattern with nothing relevant"]
    stale = _CODES["URL pattern with nothing new"]
    calendar, session = _CODES["calendar"], _CODES["session ids"]
    twice = 2 * patience
    return {
        Kind.NUMBERED: (
            Limits(pattern_pages, patience, full, stale),
            Limits(math.inf, twice, full, stale),
        ),
        Kind.CALENDAR: (
            Limits(calendar_pages, patience, calendar, calendar),
            Limits(math.inf, twice, calendar, calendar),
        ),
        Kind.SESSION: (
            Limits(pattern_pages, patience, session, session),
            Limits(math.inf, twice, session, session),
        ),
    }


def _records(rows: int) -> Columns:
    records = Columns(record=(np.uint32, 6))
    records.add(rows)
    return records


def _slot(name: bytes) -> int:
    """Where a group has its record; 0 for no group."""
    return 1 + crc32(name) % (SLOTS - 1) if name else 0
