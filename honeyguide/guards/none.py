"""No guard."""

from collections.abc import Sequence

import numpy as np

from honeyguide.contracts import Link, Mask, Outlinks, State, Visit
from honeyguide.engine.memory import Memory
from honeyguide.guards import Cut
from honeyguide.registry import part


@part("guard", "none")
class Unguarded:
    """Lets everything through: for webs without traps."""

    def screen(self, memory: Memory, urls: Sequence[str]) -> Mask:
        """All of them."""
        return np.ones(len(urls), np.bool_)

    def admit(self, memory: Memory, found: Outlinks) -> Mask:
        """All of them."""
        return np.ones(len(found.links), np.bool_)

    def allows(self, memory: Memory, id: int, link: Link) -> bool:
        """Always."""
        return True

    def note(self, memory: Memory, id: int, visit: Visit) -> Visit:
        """It counts for what the world said."""
        return visit

    def report(self) -> list[Cut]:
        """Nothing was cut."""
        return []

    def state(self) -> State:
        """Nothing to keep."""
        return {}

    def load(self, state: State) -> None:
        """Nothing to bring back."""
