"""Allow and deny lists of URLs and titles: --allow and --deny (Lim 2016, §9.3)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from honeyguide.contracts import (
    Cut,
    Guard,
    Link,
    Listed,
    Mask,
    MemoryView,
    Outlinks,
    State,
    Verdict,
    Visit,
    nbytes_of,
    refusal_by,
)
from honeyguide.disk.line_files import read_lines
from honeyguide.errors import HoneyguideError
from honeyguide.guards.titles import DENIED_TITLE, listed_titles
from honeyguide.guards.traps import FILE_TYPES
from honeyguide.guards.wrapping import screened_by
from honeyguide.urls.patterns import TITLE, UrlLists

NO_TEXT = "file without text"
_ending = re.compile(r"\.([a-z0-9]{1,8})$", re.IGNORECASE).search


class Lists:
    """Refuses URLs by allow and deny lists and by file type; another guard decides on the rest.

    A page whose title is refused counts as not relevant; if it is denied, its links are not
    followed either, unless it is a seed.
    """

    def __init__(
        self,
        guard: Guard,
        allow: Sequence[str] = (),
        deny: Sequence[str] = (),
        host_globs: bool = True,  # as Patterns takes it
    ) -> None:
        self._guard = guard
        self.relist(UrlLists(tuple(allow), tuple(deny), host_globs))
        self._tally: dict[str, list[int | str]] = {}  # reason -> count, first URL

    def relist(self, lists: UrlLists) -> None:
        """Use other lists from now on."""
        titles = listed_titles(lists.allow, lists.deny)
        self._listed, self._title_refusal = lists.refusal(), titles

    def refusal(self, url: str) -> str:
        """Why a URL is refused; empty if it is not."""
        ending = _ending(url.partition("?")[0])
        is_no_text = ending is not None and ending[1].lower() in FILE_TYPES
        return self._listed(url) or (NO_TEXT if is_no_text else "")

    def refuses(self, memory: MemoryView, url: str) -> str:
        """Why a list refuses a URL, or the wrapped guard."""
        return self.refusal(url) or refusal_by(self._guard, memory, url)

    def screen(self, memory: MemoryView, urls: Sequence[str]) -> Mask:
        """URLs that no list refuses, if the wrapped guard lets them through."""
        passing = np.array([self._count(url) for url in urls], np.bool_)
        return screened_by(self._guard, memory, urls, passing)

    def admit(self, memory: MemoryView, found: Outlinks) -> Mask:
        """Links that no list refuses, if the wrapped guard admits them."""
        passing = np.array([self._count(link.url) for link in found.links], np.bool_)
        if not passing.any():
            return passing
        allowed: Mask = passing & self._guard.admit(memory, found)
        return allowed

    def allows(self, memory: MemoryView, id: int, link: Link) -> bool:
        """Whether no list refuses a link, and the wrapped guard allows it."""
        return not self.refusal(link.url) and self._guard.allows(memory, id, link)

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Visit:
        """As the wrapped guard decides, if the page's title is not refused."""
        visit = self._guard.note(memory, id, visit)
        page = visit.page
        reason = self._title_refusal(page.title) if page is not None else ""
        if page is None or not reason:
            return visit
        self._add(reason, page.url)
        if reason == DENIED_TITLE and visit.link.depth > 0:
            page = replace(page, links=())
        return replace(visit, page=page, verdict=Verdict(0.0, False, (f"{reason}: {page.title}",)))

    @property
    def nbytes(self) -> int:
        """Size of the wrapped guard's tables in bytes."""
        return nbytes_of(self._guard)

    def report(self) -> list[Cut]:
        """What the wrapped guard refused, then the lists; a link counts each time it is found."""
        cuts = [Cut(reason, int(n), str(url)) for reason, (n, url) in self._tally.items()]
        return self._guard.report() + sorted(cuts, key=lambda cut: (-cut.count, cut.reason))

    def state(self) -> State:
        """Everything that `load` restores."""
        tally = {reason: list(cut) for reason, cut in self._tally.items()}
        return {"guard": self._guard.state(), "tally": tally}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._guard.load(state["guard"])
        self._tally = {reason: list(cut) for reason, cut in state["tally"].items()}

    def _count(self, url: str) -> bool:
        reason = self.refusal(url)
        if reason:
            self._add(reason, url)
        return not reason

    def _add(self, reason: str, url: str) -> None:
        cut = self._tally.setdefault(reason, [0, url])
        cut[0] = int(cut[0]) + 1


def relisted(guard: Guard, lists: UrlLists) -> Guard:
    """The guard with other allow and deny lists, wrapped if it had none."""
    if not isinstance(guard, Listed):
        return Lists(guard, *lists)
    guard.relist(lists)
    return guard


def read_list(said: Iterable[str]) -> tuple[str, ...]:
    """Patterns, and those in files where one is named: one a line, # begins a comment."""
    return tuple(pattern for one in said for pattern in _patterns(one.strip()))


def _patterns(said: str) -> list[str]:
    """The pattern itself, or those of a file; an empty list is refused: it would allow all URLs."""
    file = Path(said)
    if not said:
        raise HoneyguideError("an empty text is no list: name a host, a URL, a pattern or a file")
    if file.is_dir():
        raise HoneyguideError(f"the list {said} is a folder, not a file")
    if not file.is_file():
        return [check_pattern(said)]
    lines = [line.partition("#")[0].strip() for line in read_lines(file)]
    if not any(lines):
        raise HoneyguideError(f"the list {said} is empty")
    return [check_pattern(line) for line in lines if line]


def check_pattern(pattern: str) -> str:
    """Refuse "localhost:8000": hosts are compared without ports, so it would match nothing."""
    if not pattern.startswith(TITLE) and re.fullmatch(r"[^/*]+:\d+", pattern):
        raise HoneyguideError(f"{pattern!r} names a port: say '{pattern}/', with a slash")
    return pattern
