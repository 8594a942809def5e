"""--allow and --deny: which URLs are fetched at all (Lim 2016, §9.3)."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from honeyguide.contracts import (
    Cut,
    Guard,
    Link,
    Mask,
    MemoryView,
    Outlinks,
    State,
    Visit,
    nbytes_of,
)
from honeyguide.disk.line_files import read_lines
from honeyguide.errors import HoneyguideError
from honeyguide.guards.traps import FILE_TYPES
from honeyguide.guards.wrapping import screened_by
from honeyguide.urls.patterns import listed

NO_TEXT = "file without text"
_ending = re.compile(r"\.([a-z0-9]{1,8})$", re.IGNORECASE).search


class Lists:
    """Refuses what lists and file names say, and asks another guard about the rest."""

    def __init__(
        self,
        guard: Guard,
        allow: Sequence[str] = (),
        deny: Sequence[str] = (),
        host_globs: bool = True,  # as Patterns takes it
    ) -> None:
        self._guard = guard
        self._listed = listed(allow, deny, host_globs)
        self._tally: dict[str, list[int | str]] = {}  # reason -> count, first URL

    def refusal(self, url: str) -> str:
        """Why a URL is never fetched; empty when it may be."""
        ending = _ending(url.partition("?")[0])
        is_no_text = ending is not None and ending[1].lower() in FILE_TYPES
        return self._listed(url) or (NO_TEXT if is_no_text else "")

    def screen(self, memory: MemoryView, urls: Sequence[str]) -> Mask:
        """What no list speaks against, if the other guard lets it through."""
        open_to = np.array([self._count(url) for url in urls], np.bool_)
        return screened_by(self._guard, memory, urls, open_to)

    def admit(self, memory: MemoryView, found: Outlinks) -> Mask:
        """Links that no list speaks against, if the other guard admits them."""
        open_to = np.array([self._count(link.url) for link in found.links], np.bool_)
        if not open_to.any():
            return open_to
        allowed: Mask = open_to & self._guard.admit(memory, found)
        return allowed

    def allows(self, memory: MemoryView, id: int, link: Link) -> bool:
        """The same, when a link's turn has come."""
        return not self.refusal(link.url) and self._guard.allows(memory, id, link)

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Visit:
        """What the other guard says."""
        return self._guard.note(memory, id, visit)

    @property
    def nbytes(self) -> int:
        """Bytes of the other guard's tables."""
        return nbytes_of(self._guard)

    def report(self) -> list[Cut]:
        """What was cut, by other reasons first; a link counts each time that it is found."""
        cuts = [Cut(reason, int(n), str(url)) for reason, (n, url) in self._tally.items()]
        return self._guard.report() + sorted(cuts, key=lambda cut: (-cut.count, cut.reason))

    def state(self) -> State:
        """All of it."""
        tally = {reason: list(cut) for reason, cut in self._tally.items()}
        return {"guard": self._guard.state(), "tally": tally}

    def load(self, state: State) -> None:
        """Become what was saved."""
        self._guard.load(state["guard"])
        self._tally = {reason: list(cut) for reason, cut in state["tally"].items()}

    def _count(self, url: str) -> bool:
        reason = self.refusal(url)
        if reason:
            cut = self._tally.setdefault(reason, [0, url])
            cut[0] = int(cut[0]) + 1
        return not reason


def read_list(said: Iterable[str]) -> tuple[str, ...]:
    """Patterns as they are, and those in files: one a line, # begins a comment."""
    return tuple(pattern for one in said for pattern in _patterns(one.strip()))


def _patterns(said: str) -> list[str]:
    """One pattern, or those of a file; none at all would allow everything."""
    file = Path(said)
    if not said:
        raise HoneyguideError("an empty text is no list: name a host, a URL, a pattern or a file")
    if file.is_dir():
        raise HoneyguideError(f"the list {said} is a folder, not a file")
    if not file.is_file():
        return [_checked_port(said)]
    lines = [line.partition("#")[0].strip() for line in read_lines(file)]
    if not any(lines):
        raise HoneyguideError(f"the list {said} is empty")
    return [_checked_port(line) for line in lines if line]


def _checked_port(pattern: str) -> str:
    """Refuse "localhost:8000": hosts are compared without ports, so it would match nothing."""
    if re.fullmatch(r"[^/*]+:\d+", pattern):
        raise HoneyguideError(f"{pattern!r} names a port: say '{pattern}/', with a slash")
    return pattern
