"""An upper benchmark that knows the whole web and its relevant pages."""

from collections.abc import Sequence

import numpy as np

from honeyguide.contracts import (
    Agent,
    Candidates,
    Goal,
    Mask,
    Matrix,
    MemoryView,
    Outlinks,
    State,
    Step,
    Truth,
    Vector,
)
from honeyguide.errors import HoneyguideError
from honeyguide.registry import part

UNREACHABLE = 1e6  # hops


@part("agent", "oracle")
class Oracle(Agent):
    """Takes a relevant link if one waits, else the one nearest to an unvisited relevant page."""

    def __init__(self, goal: Goal) -> None:
        if goal.truth is None:
            raise HoneyguideError(
                "the oracle needs a web whose truth is known: a recorded or generated one"
            )
        self._truth = goal.truth()
        self.features = _TruthIndex(self._truth)
        self._unvisited = self._truth.relevant.copy()
        self._hops = hops_to(self._truth, self._unvisited)
        self._outdated = False

    def score(self, links: Candidates) -> Vector:
        """Minus the hops from each link's target to the nearest unvisited relevant page.

        Visits can only increase hops, so old counts are lower bounds. They are recounted only when
        no scored link has zero hops.
        """
        pages = links.x[:, 0].astype(np.int64)
        hops = self._hops[pages]
        if self._outdated and not np.any(hops == 0):
            self._hops = hops_to(self._truth, self._unvisited)
            self._outdated = False
            hops = self._hops[pages]
        return -hops

    def learn(self, steps: Sequence[Step]) -> None:
        """Mark visited relevant pages."""
        for step in steps:
            page = self._truth.index(step.link.url)
            if page >= 0 and self._unvisited[page]:
                self._unvisited[page] = False
                self._outdated = True

    def stale(self) -> bool:
        """Always: each visit can change the hops of waiting links."""
        return True

    def state(self) -> State:
        """The unvisited relevant pages and the hops to them."""
        return {"unvisited": self._unvisited, "hops": self._hops, "outdated": self._outdated}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._unvisited = state["unvisited"].copy()
        self._hops = state["hops"]
        self._outdated = state["outdated"]


class _TruthIndex:
    """One feature a link: the number of its target page in the truth; -1 for an unknown page."""

    width = 1

    def __init__(self, truth: Truth) -> None:
        self._truth = truth

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        pages = [self._truth.index(link.url) for link in found.links]
        return np.array(pages, np.float32).reshape(-1, 1)


def hops_to(truth: Truth, goals: Mask) -> Vector:
    """Hops from each page to the nearest goal; one more entry, the last, for unknown pages."""
    count = len(goals)
    hops = np.full(count + 1, UNREACHABLE, np.float32)
    hops[:count][goals] = 0
    sources = np.repeat(np.arange(count), np.diff(truth.offsets))
    inside = truth.targets >= 0
    sources, targets = sources[inside], truth.targets[inside]
    for distance in range(1, count):
        reached = (hops[targets] == distance - 1) & (hops[sources] == UNREACHABLE)
        if not np.any(reached):
            break
        hops[sources[reached]] = distance
    return hops
