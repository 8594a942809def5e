"""The guard of a live crawl: near-duplicates, soft 404s and traps, told apart and counted."""

from dataclasses import replace
from zlib import crc32

import numpy as np

from honeyguide.columns import Columns
from honeyguide.contracts import Ids, Link, Mask, Outlinks, Page, State, Verdict, Visit
from honeyguide.guards import Cut
from honeyguide.guards.duplicates import LONGEST, Fingerprints, fingerprint
from honeyguide.guards.shapes import Kind, shape
from honeyguide.guards.soft404 import is_soft_404, is_troubled
from honeyguide.guards.traps import OPEN, REASONS, Codes, Traps
from honeyguide.memory import Memory
from honeyguide.registry import part
from honeyguide.text import words

DUPLICATE, SOFT_404 = "near-duplicate page", "soft 404"
REPEATS = 2  # times that a host has shown a page of trouble before, until it is a soft 404
_OVERLOADED = ("status 408", "status 425", "status 429")
_OF_THE_PAGE = frozenset({"", "content type", "not recorded", "too large"})
# what an empty calendar changes from day to day: names of days and months, by their beginning
_DATES = frozenset(
    "mon tue wed thu fri sat sun jan feb mar mär apr avr abr may mai mag mei jun jui giu jul"
    " lug aug aoû ago sep set oct okt ott nov dec dez déc dic die mit don fre sam son lun mie"
    " mer jue jeu vie ven gio dom".split()
)


class Watch:
    """Looks at every link and every visit, in bounded memory."""

    def __init__(self, traps: Traps | None = None, seen: Fingerprints | None = None) -> None:
        self.traps = traps or Traps()
        self._seen = seen or Fingerprints()
        self._cut = Columns(cut=np.bool_)  # by page: it is in the tally
        self._tally: dict[str, list[int | str]] = {}  # reason -> count, first URL

    def admit(self, memory: Memory, found: Outlinks) -> Mask:
        """Which of these links may wait."""
        urls = [link.url for link in found.links]
        codes = self.traps.judge(found.ids, memory.host(found.ids), urls)
        self._count(found.ids, urls, codes)
        admitted: Mask = codes == OPEN
        return admitted

    def allows(self, memory: Memory, id: int, link: Link) -> bool:
        """Whether a link whose turn has come is still worth a visit; a seed always is."""
        if link.depth == 0:
            return True
        ids = np.array([id], np.int32)
        codes = self.traps.judge(ids, memory.host(ids), [link.url], by_looks=False)
        self._count(ids, [link.url], codes)
        return bool(codes[0] == OPEN)

    def note(self, memory: Memory, id: int, visit: Visit) -> Visit:
        """Take in a visit, and say what it counts for."""
        like = shape(visit.link.url)
        counted, new = visit, False
        if visit.page is not None:
            mark = fingerprint(_dateless(visit.page, like.kind))
            counted, new = self._weigh(memory, id, visit, visit.page, mark)
        elif not _was_answered(visit):
            return visit  # it says nothing about what is there
        host = int(memory.host(np.array([id], np.int32))[0])
        self.traps.note(host, like, new, counted.verdict.relevant)
        return counted

    def report(self) -> list[Cut]:
        """All that was cut so far, the most frequent first."""
        cuts = [Cut(reason, int(n), str(url)) for reason, (n, url) in self._tally.items()]
        return sorted(cuts, key=lambda cut: (-cut.count, cut.reason))

    def state(self) -> State:
        """All of it."""
        return {
            "traps": self.traps.state(),
            "seen": self._seen.state(),
            "cut": self._cut.state(),
            "tally": {reason: list(cut) for reason, cut in self._tally.items()},
        }

    def load(self, state: State) -> None:
        """Become what was saved."""
        self.traps.load(state["traps"])
        self._seen.load(state["seen"])
        self._cut.load(state["cut"])
        self._tally = {reason: list(cut) for reason, cut in state["tally"].items()}

    def _weigh(
        self, memory: Memory, id: int, visit: Visit, page: Page, mark: bytes
    ) -> tuple[Visit, bool]:
        """The visit as it counts, and whether it brought something new."""
        near = self._seen.find(mark) if mark else None
        address = crc32(page.url.encode("utf-8", "surrogatepass"))
        if near is not None and near.address == address:
            return visit, False  # the same page again, by another way
        if near is not None:
            self._seen.repeat(near)
        elif mark:
            self._seen.add(mark, id, address)
        if is_soft_404(page) or (near and near.repeats >= REPEATS and is_troubled(page)):
            self._add(SOFT_404, page.url)
            return _worthless(visit, SOFT_404, 0.0), False
        if near is None:
            return visit, bool(mark) or visit.verdict.relevant
        self._add(DUPLICATE, page.url)
        reason = f"near-duplicate of {memory.urls.url(near.page)}"
        return _worthless(visit, reason, visit.verdict.relevance), False

    def _count(self, ids: Ids, urls: list[str], codes: Codes) -> None:
        self._cut.grow(int(ids.max(initial=-1)) + 1)
        cut = self._cut["cut"]
        for place in np.flatnonzero(codes).tolist():
            if not cut[ids[place]]:
                cut[ids[place]] = True
                self._add(REASONS[codes[place]], urls[place])

    def _add(self, reason: str, url: str) -> None:
        cut = self._tally.setdefault(reason, [0, url])
        cut[0] = int(cut[0]) + 1


def _dateless(page: Page, kind: Kind) -> str:
    """The text of a page; of a calendar, without its dates."""
    if kind != Kind.CALENDAR:
        return page.text
    kept = (word for word in words(page.text[:LONGEST]) if word.isalpha())
    return " ".join(word for word in kept if word[:3] not in _DATES)


@part("guard", "watch")
def watch(year: int | None = None) -> Watch:
    """Cuts traps, near-duplicate pages and soft 404s; dates far from the year lead nowhere."""
    return Watch(Traps(year=year))


def _was_answered(visit: Visit) -> bool:
    """Whether a failure is the page's and not the network's, the moment's or our own."""
    # by its name, not by the response, which a crawl that is resumed no longer has
    return visit.failure in _OF_THE_PAGE or (
        visit.failure.startswith("status 4") and visit.failure not in _OVERLOADED
    )


def _worthless(visit: Visit, reason: str, relevance: float) -> Visit:
    verdict = Verdict(relevance, False, (*visit.verdict.reasons, reason))
    return replace(visit, verdict=verdict)
