"""Statistics of links that were dropped for lack of room."""

from dataclasses import dataclass

import numpy as np

from honeyguide.contracts import State, Vector
from honeyguide.text.words import counted


@dataclass(slots=True)
class ShedLinks:
    """Statistics of links that were shed for lack of room, and of those taken, by agent's score."""

    count: int = 0  # a link that is shed twice counts twice
    worth: float = 0.0  # sum of their scores when they were shed
    best: float = -np.inf  # highest score among them
    taken: int = 0  # links that were taken
    taken_worth: float = 0.0  # sum of their scores
    for_memory: int = 0  # of `count`, those shed because memory was full
    unnoted: int = 0  # new links that were ignored because memory was full

    def shed(self, scores: Vector, for_memory: bool = False) -> None:
        """Count links that are shed."""
        finite = scores[np.isfinite(scores)]
        self.for_memory += len(finite) if for_memory else 0
        if len(finite):
            self.count += len(finite)
            self.worth += float(finite.sum(dtype=np.float64))
            self.best = max(self.best, float(finite.max()))

    def take(self, score: float) -> None:
        """Count a link that is taken."""
        if np.isfinite(score):
            self.taken += 1
            self.taken_worth += score

    def state(self) -> State:
        """The fields by name."""
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
        text = self._scores_text() if self.count else ""
        if self.for_memory:
            text += f", {self.for_memory:,} of them because memory was full"
        if self.unnoted:
            ignored = f"{counted(self.unnoted, 'new link')} ignored because memory was full"
            text = f"{text}; {ignored}" if text else ignored
        return text

    def _scores_text(self) -> str:
        shown = f"{counted(self.count, 'link')} (mean score {self.worth / self.count:.3g}"
        shown += f", best {self.best:.3g}"
        if self.taken:
            shown += f"; links taken: {self.taken_worth / self.taken:.3g}"
        return shown + ")"
