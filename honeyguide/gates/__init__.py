"""Fetch it or not: the last question before a visit, asked when a link's turn has come."""

from typing import Protocol

from honeyguide.contracts import Ids, Link, Outlinks, State, Vector, Visit
from honeyguide.engine.memory import Memory


class Gate(Protocol):
    """Lets a link through or sets it aside, from where it may come back."""

    def see(self, found: Outlinks) -> None:
        """Links were found: what a decision will need can be made ready, nothing else."""
        ...

    def opens(self, memory: Memory, id: int, link: Link, foreseen: float | None) -> bool:
        """Whether to fetch a link whose turn has come, with its agent's score; asked once a turn.

        An agent whose scores are an order and no more foresees nothing: None.
        """
        ...

    def worths(self, memory: Memory, ids: Ids) -> Vector:
        """What links that were set aside are worth, for when nothing else waits."""
        ...

    def note(self, memory: Memory, id: int, visit: Visit) -> Ids:
        """Take in a visit; which links, if they are set aside, deserve another look."""
        ...

    def policy(self) -> list["Row"]:
        """What it has learnt, in a form to read; empty when there is nothing to say."""
        ...

    def state(self) -> State: ...

    def load(self, state: State) -> None: ...


Row = dict[str, str | int | float | bool]  # column: value
