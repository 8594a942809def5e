"""The guard of live crawls: refuses and counts near-duplicates, soft 404s and traps."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from zlib import crc32

import numpy as np

from honeyguide.columns import Columns
from honeyguide.contracts import (
    Cut,
    Ids,
    Link,
    Mask,
    MemoryView,
    Outlinks,
    Page,
    State,
    Verdict,
    Visit,
)
from honeyguide.guards import domains
from honeyguide.guards.copies import (
    FEW_WORDS,
    LONGEST,
    Fingerprints,
    fingerprint,
    is_soft_404,
    mentions_error,
)
from honeyguide.guards.domains import Domains
from honeyguide.guards.traps import OPEN, REASONS, Codes, Kind, Traps, shape
from honeyguide.registry import part
from honeyguide.text.words import words
from honeyguide.urls.same_page import names_same_page
from honeyguide.urls.spelling import host as host_of

DUPLICATE, SOFT_404 = "near-duplicate page", "soft 404"
OTHER_ADDRESS = "other address of a page"
REPEATS = 2  # earlier near-duplicates after which a page that mentions an error is a soft 404
BITS = 1 << 22  # of a hash set that counts each refused new URL once; collisions are accepted
_OVERLOADED = ("status 408", "status 425", "status 429")
_PAGE_FAILURES = frozenset({"", "content type", "not recorded", "too large"})
# beginnings of names of days and months, in which empty calendar pages differ
_DATES = frozenset(
    "mon tue wed thu fri sat sun jan feb mar mär apr avr abr may mai mag mei jun jui giu jul"
    " lug aug aoû ago sep set oct okt ott nov dec dez déc dic die mit don fre sam son lun mie"
    " mer jue jeu vie ven gio dom".split()
)


class LiveGuard:
    """Checks every link and every visit for traps and copies, in bounded memory."""

    def __init__(
        self,
        traps: Traps | None = None,
        seen: Fingerprints | None = None,
        limits: Domains | None = None,  # of domains
        bounded: bool = True,  # False: no limits of domains, for crawls begun by earlier versions
    ) -> None:
        self.traps = traps or Traps()
        self._seen = seen or Fingerprints()
        self._domains = (limits or Domains()) if bounded else None
        self._unnoted = np.zeros(BITS // 8, np.uint8)  # a bit a URL: whether it is in the tally
        self._cut = Columns(cut=np.bool_)  # by page: whether it is in the tally
        self._tally: dict[str, list[int | str]] = {}  # reason -> count, first URL

    @property
    def nbytes(self) -> int:
        """Size in bytes of the tables that grow."""
        of_domains = self._domains.nbytes if self._domains else 0
        return self.traps.nbytes + self._cut.nbytes + self._seen.nbytes + of_domains

    def screen(self, memory: MemoryView, urls: Sequence[str]) -> Mask:
        """URLs that are not refused by their form, nor on a closed host, pattern or domain."""
        if self._domains is None:
            return np.ones(len(urls), np.bool_)
        names = list(map(host_of, urls))
        codes = self.traps.screen(np.array(list(map(memory.urls.find_host, names)), np.int32), urls)
        let_through: Mask = codes == OPEN
        if np.count_nonzero(codes):
            self._count_unnoted(urls, codes, REASONS)
            urls, names = (list(compress(each, let_through.tolist())) for each in (urls, names))
        codes = self._domains.screen(memory, names)
        if np.count_nonzero(codes):
            self._count_unnoted(urls, codes, domains.REASONS)
            let_through[let_through] = codes == OPEN
        return let_through

    def refuses(self, memory: MemoryView, url: str) -> str:
        """The trap that a URL belongs to, or the limit of its domain."""
        name = host_of(url)
        reason = self.traps.refuses(memory.urls.find_host(name), url)
        if reason or self._domains is None:
            return reason
        return domains.REASONS[self._domains.refuses(memory, name)]

    def admit(self, memory: MemoryView, found: Outlinks) -> Mask:
        """Links that are not refused by their form, nor on a closed host or pattern."""
        urls = [link.url for link in found.links]
        codes = self.traps.check(found.ids, memory.host(found.ids), urls)
        self._count(found.ids, urls, codes)
        admitted: Mask = codes == OPEN
        return admitted

    def allows(self, memory: MemoryView, id: int, link: Link) -> bool:
        """Whether a link's host, pattern and domain are still open; a seed is always allowed."""
        if link.depth == 0:
            return True
        ids = np.array([id], np.int32)
        hosts = memory.host(ids)
        codes = self.traps.check(ids, hosts, [link.url], by_form=False)
        self._count(ids, [link.url], codes)
        if codes[0] != OPEN:
            return False
        return self._domains is None or not self._is_of_closed_domain(memory, id, link.url)

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Visit:
        """Update traps and domains with a visit; return it as irrelevant if it is a copy."""
        like = shape(visit.link.url)
        counted, new = visit, False
        if self._domains is not None:
            self._domains.visit(memory, id)
        if visit.page is not None:
            mark = fingerprint(_text_of(visit.page, like.kind))
            counted, new = self._compare(memory, id, visit, visit.page, mark)
            if self._led_to_visited(memory, id, visit, visit.page):
                counted = self._without_links(counted)
        elif not _is_of_page(visit):
            return visit  # a failed request says nothing about the page
        self.traps.note(memory.urls.host_of(id), like, new, counted.verdict.relevant)
        if self._domains is not None:
            self._domains.note(memory, id, new, counted.verdict.relevant)
        return counted

    def report(self) -> list[Cut]:
        """Numbers of refused links and pages by reason, the most frequent first."""
        cuts = [Cut(reason, int(n), str(url)) for reason, (n, url) in self._tally.items()]
        return sorted(cuts, key=lambda cut: (-cut.count, cut.reason))

    def state(self) -> State:
        """Everything that `load` restores."""
        return {
            "traps": self.traps.state(),
            "seen": self._seen.state(),
            "cut": self._cut.state(),
            "tally": {reason: list(cut) for reason, cut in self._tally.items()},
            "domains": self._domains.state() if self._domains else None,
            "unnoted": self._unnoted.copy(),
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.traps.load(state["traps"])
        self._seen.load(state["seen"])
        self._cut.load(state["cut"])
        self._tally = {reason: list(cut) for reason, cut in state["tally"].items()}
        if self._domains is not None:
            self._domains.load(state["domains"])
            self._unnoted = state["unnoted"].copy()

    def _compare(
        self, memory: MemoryView, id: int, visit: Visit, page: Page, mark: bytes
    ) -> tuple[Visit, bool]:
        """The visit as it counts, and whether its page is new: no copy and no soft 404."""
        near = self._seen.find(mark) if mark else None
        address, named = _checksum(page.url), _canonical(page)
        if near is not None and near.address == address:
            return visit, False  # the same page again, through another link
        original = self._original(memory, id, page, named, mark) if near is None else ""
        if near is not None:
            self._seen.repeat(near)
        elif mark:
            self._seen.add(mark, id, address, _checksum(named or page.url))
        if is_soft_404(page) or (near and near.repeats >= REPEATS and mentions_error(page)):
            self._add(SOFT_404, page.url)
            return self._without_links(_irrelevant(visit, SOFT_404, 0.0)), False
        if original:
            self._add(OTHER_ADDRESS, page.url)
            reason = f"another address of {original}"
        elif near is None:
            return visit, bool(mark) or visit.verdict.relevant
        else:
            self._add(DUPLICATE, page.url)
            reason = f"near-duplicate of {memory.urls.url(near.page)}"
        return self._without_links(_irrelevant(visit, reason, visit.verdict.relevance)), False

    def _original(self, memory: MemoryView, id: int, page: Page, named: str, mark: bytes) -> str:
        """The URL of a page that was read at another address before; empty if it was not.

        Sites name one canonical URL for many pages by mistake; then their texts differ.
        """
        was_counted = memory.is_visited(id)  # by its canonical URL, or a walk revisits it
        if was_counted if named else not was_counted:
            return ""
        if named and not _is_visited(memory, named):
            return ""
        known = self._seen.of_canonical(_checksum(named or page.url))
        if not known:
            return named
        if any(each.address == _checksum(page.url) for each in known):
            return ""
        is_short = len(page.text.split(None, FEW_WORDS)) < FEW_WORDS
        same = is_short or self._seen.resembles(mark, known)
        return memory.urls.url(known[0].page) if same else ""

    def _led_to_visited(self, memory: MemoryView, id: int, visit: Visit, page: Page) -> bool:
        """Whether a new URL redirected to a page that was visited before."""
        if page.url == visit.link.url:  # no redirect; a walk may revisit a page
            return False
        end = int(memory.urls.find([page.url])[0])
        return end >= 0 and memory.is_visited(end) and not memory.is_visited(id)

    def _without_links(self, visit: Visit) -> Visit:
        """The visit without links, which are those of the original; a seed keeps its links."""
        if self._domains is None or visit.page is None or visit.link.depth == 0:
            return visit
        return replace(visit, page=replace(visit.page, links=()))

    def _is_of_closed_domain(self, memory: MemoryView, id: int, url: str) -> bool:
        assert self._domains is not None  # noqa: S101 for the type checker
        closed = self._domains.closed(memory, memory.urls.host_of(id))
        if closed and not self._cut["cut"][id]:
            self._cut["cut"][id] = True
            self._add(domains.REASONS[domains.STALE], url)
        return closed

    def _count_unnoted(self, urls: Sequence[str], codes: Codes, reasons: Sequence[str]) -> None:
        """Count refused URLs that have no number in the memory, each once."""
        for place in np.flatnonzero(codes).tolist():
            byte, bit = divmod(_checksum(urls[place]) % BITS, 8)
            if not self._unnoted[byte] & (1 << bit):
                self._unnoted[byte] |= 1 << bit
                self._add(reasons[codes[place]], urls[place])

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


def _checksum(url: str) -> int:
    return crc32(url.encode("utf-8", "surrogatepass"))


def _is_visited(memory: MemoryView, url: str) -> bool:
    page = int(memory.urls.find([url])[0])
    return page >= 0 and memory.is_visited(page)


def _canonical(page: Page) -> str:
    """The canonical URL that a page names for itself, if it can be believed; else empty."""
    named = page.metadata.canonical
    return named if names_same_page(page.url, named) else ""


def _text_of(page: Page, kind: Kind) -> str:
    """The text of a page, without dates if it is of a calendar."""
    if kind != Kind.CALENDAR:
        return page.text
    kept = (word for word in words(page.text[:LONGEST]) if word.isalpha())
    return " ".join(word for word in kept if word[:3] not in _DATES)


@part("guard", "watch")
def watch(year: int | None = None, bounded: bool = True) -> LiveGuard:
    """Refuses traps, near-duplicates and soft 404s; with a year, also dates far in the future."""
    return LiveGuard(Traps(year=year), bounded=bounded)


def _is_of_page(visit: Visit) -> bool:
    """Whether a failure is permanent and of the page, not of the network or of this crawler."""
    # from its name, since a resumed crawl has no responses
    return visit.failure in _PAGE_FAILURES or (
        visit.failure.startswith("status 4") and visit.failure not in _OVERLOADED
    )


def _irrelevant(visit: Visit, reason: str, relevance: float) -> Visit:
    verdict = Verdict(relevance, False, (*visit.verdict.reasons, reason))
    return replace(visit, verdict=verdict)
