"""What a bounded frontier lets go of, and what that was worth to the agent."""

from dataclasses import dataclass

import numpy as np

from honeyguide.contracts import State, Vector
from honeyguide.text.words import counted


@dataclass(slots=True)
class LetGo:
    """Links forgotten for want of room, beside those taken, by the agent's own scores."""

    count: int = 0  # each time that a link was let go of
    worth: float = 0.0  # sum of their scores then
    best: float = -np.inf
    taken: int = 0
    taken_worth: float = 0.0
    for_memory: int = 0  # of all, those that the limit of memory had no room for
    unnoted: int = 0  # links never seen before that it had not even room to note

    def shed(self, scores: Vector, for_memory: bool = False) -> None:
        """These links are forgotten."""
        finite = scores[np.isfinite(scores)]
        self.for_memory += len(finite) if for_memory else 0
        if len(finite):
            self.count += len(finite)
            self.worth += float(finite.sum(dtype=np.float64))
            self.best = max(self.best, float(finite.max()))

    def take(self, score: float) -> None:
        """This link's turn has come."""
        if np.isfinite(score):
            self.taken += 1
            self.taken_worth += score

    def state(self) -> State:
        """All of it."""
        return {
            "count": self.count,
            "worth": self.worth,
            "best": self.best,
            "taken": self.taken,
            "taken_worth": self.taken_worth,
            "for_memory": self.for_memory,
            "unnoted": self.unnoted,
        }

    def __str__(self) -> str:
        told = self._of_links() if self.count else ""
        if self.for_memory:
            told += f", {self.for_memory:,} of them for want of memory"
        if self.unnoted:
            noted = f"{counted(self.unnoted, 'link')} not even noted, for want of memory"
            told = f"{told}; {noted}" if told else noted
        return told

    def _of_links(self) -> str:
        shown = f"{counted(self.count, 'link')} (mean score {self.worth / self.count:.3g}"
        shown += f", best {self.best:.3g}"
        if self.taken:
            shown += f"; links taken: {self.taken_worth / self.taken:.3g}"
        return shown + ")"
