"""One reward for each target: further pages of a target that was found are not relevant."""

from collections.abc import Callable, Sequence
from dataclasses import replace

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
    refusal_by,
)
from honeyguide.guards.lists import relisted
from honeyguide.urls.patterns import UrlLists


class OncePerTarget:
    """Counts the first page of each target and no other; another guard decides on the rest."""

    def __init__(self, guard: Guard, target_in: Callable[[Verdict], str]) -> None:
        self._guard = guard
        self._target_in = target_in
        self._pages: dict[str, int] = {}  # target -> the page that counts for it

    def refuses(self, memory: MemoryView, url: str) -> str:
        """As the wrapped guard says."""
        return refusal_by(self._guard, memory, url)

    def screen(self, memory: MemoryView, urls: Sequence[str]) -> Mask:
        """As the wrapped guard decides."""
        return self._guard.screen(memory, urls)

    def admit(self, memory: MemoryView, found: Outlinks) -> Mask:
        """As the wrapped guard decides."""
        return self._guard.admit(memory, found)

    def allows(self, memory: MemoryView, id: int, link: Link) -> bool:
        """As the wrapped guard decides."""
        return self._guard.allows(memory, id, link)

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Visit:
        """The visit, without its relevance if another page of its target was found before."""
        visit = self._guard.note(memory, id, visit)
        target = self._target_in(visit.verdict) if visit.verdict.relevant else ""
        if not target or self._pages.setdefault(target, id) == id:
            return visit
        return replace(visit, verdict=Verdict(0.0, False, (f"'{target}' was found before",)))

    def relist(self, lists: UrlLists) -> None:
        """Give the wrapped guard other lists."""
        self._guard = relisted(self._guard, lists)

    @property
    def nbytes(self) -> int:
        """Size of the wrapped guard's tables in bytes; targets are few."""
        return nbytes_of(self._guard)

    def report(self) -> list[Cut]:
        """What the wrapped guard refused."""
        return self._guard.report()

    def state(self) -> State:
        """Everything that `load` restores."""
        return {"guard": self._guard.state(), "pages": dict(self._pages)}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._guard.load(state["guard"])
        self._pages = dict(state["pages"])
