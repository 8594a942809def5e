"""Read the journal of a crawl, and give its events to a navigator again."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from sqlite3 import Connection
from typing import Any, NamedTuple

from honeyguide.contracts import Page, Step, Verdict, Visit
from honeyguide.disk.serialise import DamagedError, text_from_bytes, unpack_links, unpack_visit
from honeyguide.engine.navigator import Navigator
from honeyguide.engine.orders import unpack_order
from honeyguide.errors import HoneyguideError
from honeyguide.storage.database import checksum_matches, repair_hint
from honeyguide.storage.ledger import clean
from honeyguide.storage.pieces import unpacked
from honeyguide.storage.verdicts import JudgeChange, unpack_judge

_MOST = 1 << 28  # bytes of a page's text or of a visit, at most
_EVENTS = """
SELECT journal.n, kind, now, journal.url, data, journal.checksum, pages.*
FROM journal LEFT JOIN pages ON pages.n = journal.n AND kind = 'visit'
WHERE journal.n > ? ORDER BY journal.n
"""
_LAST_JUDGE = "SELECT * FROM journal WHERE kind = 'judge' ORDER BY n DESC LIMIT 1"


class Event(NamedTuple):
    """A row of the journal, with the text of the page if it is a visit."""

    n: int
    kind: str
    now: float  # seconds on the crawl's own clock
    url: str | None
    data: bytes | None
    text: bytes | None  # compressed


class Journal:
    """The events of a crawl; each is verified by its checksum when it is read."""

    def __init__(self, database: Connection, folder: Path) -> None:
        self._database = database
        self._folder = folder
        self.last = 0  # number of the last event
        self.unchecked = 0  # the last event whose row has no checksum

    def events(self, after: int) -> Iterator[Event]:
        """The events after number `after`; a HoneyguideError if one is damaged or missing."""
        if after < self.last and self.first > after + 1:
            raise HoneyguideError(
                f"{self._folder} cannot be resumed: its snapshots are"
                f" damaged{repair_hint(self._folder)}"
            )
        n = after
        for row in self._database.execute(_EVENTS, (after,)):
            n += 1
            event, page = row[:6], row[6:]
            if event[0] != n or not self._is_intact(event):
                raise damaged(self._folder, f"event {n} of its journal")
            if event[1] == "visit" and not (page[0] == n and self._is_intact(page)):
                raise damaged(self._folder, f"the page of event {n}")
            n, kind, now, url, data = event[:5]
            yield Event(n, kind, now, url, data, page[-2])
        if n != self.last:
            raise damaged(self._folder, f"event {n + 1} of its journal")

    @property
    def first(self) -> int:
        """The number of the first event; folders of earlier versions may lack those before."""
        found = self._database.execute("SELECT min(n) FROM journal").fetchone()[0]
        return self.last + 1 if found is None else int(found)

    def last_judge(self) -> tuple[int, JudgeChange]:
        """The number of the event that brought the present judge, and what it says; 0 if none."""
        row = self._database.execute(_LAST_JUDGE).fetchone()
        if row is None:
            return 0, JudgeChange({})
        if not self._is_intact(row):
            raise damaged(self._folder, f"event {row[0]} of its journal")
        return int(row[0]), unpack_judge(unpacked(row[4], _MOST))

    def visits(self) -> Iterator[tuple[int, Visit]]:
        """All visits with the numbers of their events, as the judge of their time saw them.

        A HoneyguideError if the first events are gone.
        """
        if self.first > 1:
            raise HoneyguideError(
                f"the pages of {self._folder} cannot be judged again: the first events of its"
                " journal are gone (honeyguide 0.2 dropped them, and so does a repair)"
            )
        for event in self.events(0):
            if event.kind == "visit":
                yield event.n, visit_of(event)

    def _is_intact(self, row: tuple[Any, ...]) -> bool:
        """Whether the checksum of a row matches; rows of format 1 have none and count as intact."""
        return checksum_matches(row) or (row[-1] is None and row[0] <= self.unchecked)


class Replay:
    """Gives the events of a journal to a navigator."""

    def __init__(self, navigator: Navigator) -> None:
        self._navigator = navigator
        self.differing = 0  # recorded choices that this version would not make

    def apply(self, event: Event) -> None:
        """Repeat an event; the recorded choice holds, whatever the navigator would choose."""
        if event.kind in ("take", "look"):
            self._choose(event.url, event.now)
        else:
            self._apply(event, {})

    def apply_anew(self, event: Event, verdicts: Mapping[int, Verdict]) -> Step | None:
        """Repeat an event with another verdict; all choices are taken as they are recorded."""
        if event.kind == "take":
            self._navigator.follow(_text(event.url), event.now)
            return None
        return self._apply(event, verdicts)

    def _apply(self, event: Event, verdicts: Mapping[int, Verdict]) -> Step | None:
        navigator, now = self._navigator, event.now
        if event.kind == "visit":
            return self._absorb(visit_of(event, verdicts.get(event.n)), now)
        if event.kind == "seed":
            navigator.seed(unpack_links(_unpacked(event.data)))
        elif event.kind == "bound":
            navigator.limit_bytes(int(_text(event.url)))
        elif event.kind == "order":
            navigator.obey(unpack_order(_unpacked(event.data)), now)
        elif event.kind == "revise":
            navigator.revised = []  # they are recorded
        return None

    def _choose(self, url: str | None, now: float) -> None:
        """Choose the link that the journal names, even if another one would be chosen now."""
        navigator = self._navigator
        link = navigator.choose(now)
        if (link and clean(link.url)) == url:
            return
        self.differing += 1
        if link is not None:
            navigator.undo_choice(link, now)
        if url is not None:
            navigator.follow(url, now)

    def _absorb(self, visit: Visit, now: float) -> Step:
        if visit.link.url not in self._navigator.leases:  # `clean` changed the URL in the journal
            self._navigator.follow(visit.link.url, now)
        return self._navigator.absorb(visit, now)


def visit_of(event: Event, verdict: Verdict | None = None) -> Visit:
    """The visit of an event, with another verdict if one is given."""
    return unpack_visit(_unpacked(event.data), unpacked_text(event.text), verdict)


def visited_page(row: Sequence[Any]) -> Page | None:
    """The page in a row of the journal, without its text; None if it has none that can be read."""
    _, kind, _, _, data, *_ = row
    try:
        return unpack_visit(_unpacked(data), "").page if kind == "visit" else None
    except (DamagedError, HoneyguideError):
        return None


def damaged(folder: Path, what: str) -> HoneyguideError:
    """The error for a part of a crawl that is damaged."""
    return HoneyguideError(f"{folder} cannot be resumed: {what} is damaged{repair_hint(folder)}")


def unpacked_text(data: bytes | None) -> str:
    """Decompress a page's text from its row; "" if it has none."""
    return text_from_bytes(_unpacked(data)) if data else ""


def _unpacked(data: bytes | None) -> bytes:
    try:
        return unpacked(data or b"", _MOST)
    except DamagedError:
        raise HoneyguideError("a stored page is damaged") from None


def _text(url: str | None) -> str:
    if url is None:
        raise DamagedError("an event has no URL")
    return url
