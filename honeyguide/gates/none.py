"""No gate."""

import numpy as np

from honeyguide.contracts import Ids, Link, Outlinks, State, Vector, Visit
from honeyguide.engine.memory import Memory
from honeyguide.gates import Row
from honeyguide.registry import part


@part("gate", "none")
class Open:
    """Lets every link through."""

    def see(self, found: Outlinks) -> None:
        """Nothing to make ready."""

    def opens(self, memory: Memory, id: int, link: Link, foreseen: float | None) -> bool:
        """Always."""
        return True

    def worths(self, memory: Memory, ids: Ids) -> Vector:
        """All the same."""
        return np.zeros(len(ids), np.float32)

    def note(self, memory: Memory, id: int, visit: Visit) -> Ids:
        """Nothing was set aside."""
        return np.empty(0, np.int32)

    def policy(self) -> list[Row]:
        """Nothing is learnt."""
        return []

    def state(self) -> State:
        """Nothing to keep."""
        return {}

    def load(self, state: State) -> None:
        """Nothing to bring back."""
