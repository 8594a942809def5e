"""Not falling for it: what keeps a crawl out of traps and from counting a page twice."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Protocol

from honeyguide.contracts import Link, Mask, Outlinks, State, Visit
from honeyguide.engine.memory import Memory


@dataclass(frozen=True, slots=True)
class Cut:
    """What was left out and why, for the report."""

    reason: str
    count: int  # of distinct URLs
    example: str  # URL of the first


class Guard(Protocol):
    """Refuses links that lead nowhere new, and says what a visit counts for."""

    def screen(self, memory: Memory, urls: Sequence[str]) -> Mask:
        """Which URLs of a page, never seen before, are worth noting at all."""
        ...

    def admit(self, memory: Memory, found: Outlinks) -> Mask:
        """Which of these links may wait."""
        ...

    def allows(self, memory: Memory, id: int, link: Link) -> bool:
        """Whether a link whose turn has come is still worth a visit."""
        ...

    def note(self, memory: Memory, id: int, visit: Visit) -> Visit:
        """Take in a visit, before the memory does, and say what it counts for."""
        ...

    def report(self) -> list[Cut]:
        """All that was cut so far."""
        ...

    def state(self) -> State: ...

    def load(self, state: State) -> None: ...


def screened_by(guard: Guard, memory: Memory, urls: Sequence[str], near: Mask) -> Mask:
    """Those of some URLs that another guard lets through as well."""
    let_through = near.copy()
    if near.any():
        let_through[near] = guard.screen(memory, list(compress(urls, near.tolist())))
    return let_through
