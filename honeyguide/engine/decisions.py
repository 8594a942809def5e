"""Decide from all pages of a crawl which are relevant, and revise earlier decisions."""

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from honeyguide.contracts import Calibration, Link, Page, State, Step, Verdict, Visit
from honeyguide.disk.serialise import (
    pack_links,
    pack_visit,
    text_from_bytes,
    text_to_bytes,
    unpack_links,
    unpack_visit,
)
from honeyguide.engine.orders import pack_order, unpack_order

if TYPE_CHECKING:
    from honeyguide.engine.navigator import Navigator

# measured pages after which the calibration is fitted and earlier verdicts are revised
FITS = (20, 40, 80, 160, 320)
# and after which it is fitted for the pages to come; then it stays as it is, so that it cannot
# drift with what the crawl prefers
LATE_FITS = (640, 1280)
ALL_FITS = FITS + LATE_FITS


def calibrated(calibration: Calibration, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts of a list of pages, by a calibration that is fitted to all of them."""
    rows = [verdict.measures for verdict in verdicts if verdict.measures]
    if len(rows) < FITS[0]:
        return list(verdicts)
    calibration.fit(np.array(rows, np.float32))
    return _decided(calibration, verdicts)


def _decided(calibration: Calibration, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts by a calibration, all at once: one by one takes fifty times as long."""
    rows = [verdict.measures for verdict in verdicts if verdict.measures]
    if not rows:
        return list(verdicts)
    relevance, relevant = calibration.decide(np.array(rows, np.float32))
    opinions = zip(relevance.tolist(), relevant.tolist(), strict=True)
    return [_with(each, *next(opinions)) if each.measures else each for each in verdicts]


def _with(verdict: Verdict, relevance: float, relevant: bool) -> Verdict:
    return replace(verdict, relevance=relevance, relevant=relevant)


class Event(NamedTuple):
    """Something that happened to a navigator."""

    kind: str  # "seed", "take", "visit", "bound" or "order"
    now: float
    what: Any  # links, the URL of a link, a Kept visit, bytes, or an order


class Kept(NamedTuple):
    """A visit as bytes: a page with many thousand links takes a tenth of the memory."""

    verdict: Verdict  # of the judge
    visit: bytes
    text: bytes
    link_words: object = None  # of its page, if they were read ahead

    @classmethod
    def of(cls, visit: Visit) -> "Kept":
        """Pack a visit."""
        page = visit.page or Page("")
        packed = zlib.compress(pack_visit(visit), 1)
        return cls(visit.verdict, packed, text_to_bytes(page.text), page.link_words)

    def unpacked(self) -> Visit:
        """The visit, without its response."""
        visit = unpack_visit(zlib.decompress(self.visit), text_from_bytes(self.text))
        if visit.page is None:
            return visit
        return replace(visit, page=replace(visit.page, link_words=self.link_words))


class Decisions:
    """Applies a calibration to visits; until it has settled, keeps all events to replay them."""

    def __init__(self, calibration: Calibration, anew: Callable[[], "Navigator"]) -> None:
        self._calibration = calibration
        self._anew = anew  # makes a navigator with new parts, which decides nothing
        self._events: list[Event] = []
        self._rows: list[tuple[float, ...]] = []  # measures of pages, until the last fit
        self._fits = 0  # how often it was fitted
        self.counted: list[Verdict] = []  # of each visit so far, after the guard

    @property
    def has_settled(self) -> bool:
        """Whether the verdicts so far stay as they are from now on."""
        return self._fits >= len(FITS)

    @property
    def fits_next(self) -> bool:
        """Whether the calibration is fitted after one more page, which may take a second."""
        return not self.has_settled and len(self._rows) + 1 >= FITS[self._fits]

    def note(self, kind: str, now: float, what: Any) -> None:
        """Note an event of the navigator, in order."""
        if not self.has_settled:
            self._events.append(Event(kind, now, what))

    def note_undone(self, link: Link) -> None:
        """Note that the last choice of a link was undone."""
        for place in range(len(self._events) - 1, -1, -1):
            if self._events[place][::2] == ("take", link.url):
                del self._events[place]
                return

    def decided(self, visit: Visit) -> Visit:
        """The visit with the verdict that the calibration gives now."""
        return replace(visit, verdict=self._verdicts([visit.verdict])[0]) if self._fits else visit

    def note_visit(self, visit: Visit, step: Step, now: float) -> bool:
        """Note an absorbed visit as the judge saw it; return whether verdicts change by a fit."""
        if not self.has_settled:
            self.note("visit", now, Kept.of(visit))
            self.counted.append(step.verdict)
        if not self._is_due(visit.verdict):
            return False
        judged = [visit.verdict for visit in self._visits()]
        before = self._verdicts(judged)
        self._calibration.fit(np.array(self._rows, np.float32))
        self._fits += 1
        return before != self._verdicts(judged)

    def _is_due(self, verdict: Verdict) -> bool:
        """Whether the calibration is fitted after this verdict."""
        if self._fits == len(ALL_FITS) or not verdict.measures:
            return False
        self._rows.append(verdict.measures)
        return len(self._rows) >= ALL_FITS[self._fits]

    def replay(self) -> "tuple[Navigator, Step]":
        """A new navigator after all events, with the verdicts as they are now, and the last step.

        The links that were chosen are followed, whatever the new navigator would choose.
        """
        navigator = self._anew()
        steps: list[Step] = []
        verdicts = iter(self._verdicts([visit.verdict for visit in self._visits()]))
        for kind, now, what in self._events:
            if kind == "seed":
                navigator.seed(what)
            elif kind == "take":
                navigator.follow(what, now)
            elif kind == "bound":
                navigator.limit_bytes(what)
            elif kind == "order":
                navigator.obey(what, now)
            else:
                visit = replace(what.unpacked(), verdict=next(verdicts))
                steps.append(navigator.absorb(visit, now))
        self.counted = [step.verdict for step in steps]
        return navigator, steps[-1]

    def settle(self) -> None:
        """Drop what is only needed to revise verdicts, once no more will be revised."""
        if self.has_settled:
            self._events, self.counted = [], []
        if self._fits == len(ALL_FITS):
            self._rows = []

    def state(self) -> State:
        """The calibration, and the events if they may be needed again."""
        return {
            "calibration": self._calibration.state(),
            "rows": np.array(self._rows, np.float32),
            "fits": self._fits,
            "events": [[kind, now, *_packed(kind, what)] for kind, now, what in self._events],
            "counted": [[v.relevance, v.relevant, list(v.reasons)] for v in self.counted],
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._calibration.load(state["calibration"])
        self._fits = state["fits"]
        self._events = [
            Event(kind, now, _unpacked(kind, *row)) for kind, now, *row in state["events"]
        ]
        if "rows" in state:
            self._rows = [tuple(row) for row in state["rows"].tolist()]
        else:  # saved before there were late fits
            self._load_without_rows()
        self.counted = [Verdict(r, bool(is_), tuple(why)) for r, is_, why in state["counted"]]

    def _load_without_rows(self) -> None:
        measures = [visit.verdict.measures for visit in self._visits()]
        self._rows = [row for row in measures if row]
        if self.has_settled:
            self._fits = len(ALL_FITS)

    def _verdicts(self, judged: Sequence[Verdict]) -> list[Verdict]:
        return _decided(self._calibration, judged) if self._fits else list(judged)

    def _visits(self) -> Iterator[Kept]:
        return (event.what for event in self._events if event.kind == "visit")


def _packed(kind: str, what: Any) -> Sequence[Any]:
    """What an event holds, as arrays of bytes, texts and numbers."""
    if kind == "seed":
        return (_array(pack_links(what)),)
    if kind == "visit":
        return _array(zlib.decompress(what.visit)), _array(what.text)
    return (pack_order(what).decode(),) if kind == "order" else (what,)


def _unpacked(kind: str, *row: Any) -> Any:
    if kind == "seed":
        return unpack_links(row[0].tobytes())
    if kind == "visit":
        return Kept.of(unpack_visit(row[0].tobytes(), text_from_bytes(row[1].tobytes())))
    return unpack_order(row[0].encode()) if kind == "order" else row[0]


def _array(data: bytes) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.frombuffer(data, np.uint8)
