"""The gate that lets every link through."""

import numpy as np

from honeyguide.contracts import GateRow, Ids, Link, MemoryView, Outlinks, State, Vector, Visit
from honeyguide.registry import part


@part("gate", "none")
class NoGate:
    """Lets every link through."""

    def see(self, found: Outlinks) -> None:
        """Do nothing."""

    def opens(self, memory: MemoryView, id: int, link: Link, foreseen: float | None) -> bool:
        """Always fetch the link."""
        return True

    def worths(self, memory: MemoryView, ids: Ids) -> Vector:
        """Zero for every link."""
        return np.zeros(len(ids), np.float32)

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Ids:
        """No links: none was skipped."""
        return np.empty(0, np.int32)

    def policy(self) -> list[GateRow]:
        """An empty table: nothing is learnt."""
        return []

    def state(self) -> State:
        """An empty state: nothing is kept."""
        return {}

    def load(self, state: State) -> None:
        """Do nothing: there is no state."""
