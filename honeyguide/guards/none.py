"""The guard that lets everything through."""

from collections.abc import Sequence

import numpy as np

from honeyguide.contracts import Cut, Link, Mask, MemoryView, Outlinks, State, Visit
from honeyguide.registry import part


@part("guard", "none")
class NoGuard:
    """Refuses nothing: for webs without traps."""

    def screen(self, memory: MemoryView, urls: Sequence[str]) -> Mask:
        """Let all through."""
        return np.ones(len(urls), np.bool_)

    def admit(self, memory: MemoryView, found: Outlinks) -> Mask:
        """Let all through."""
        return np.ones(len(found.links), np.bool_)

    def allows(self, memory: MemoryView, id: int, link: Link) -> bool:
        """Always visit."""
        return True

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Visit:
        """The visit unchanged."""
        return visit

    def report(self) -> list[Cut]:
        """An empty report: nothing is refused."""
        return []

    def state(self) -> State:
        """An empty state: nothing is kept."""
        return {}

    def load(self, state: State) -> None:
        """Do nothing: there is no state."""
