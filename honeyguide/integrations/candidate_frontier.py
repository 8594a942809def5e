"""A frontier whose links an agent ranks and an outside program chooses."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from honeyguide.columns import Columns
from honeyguide.contracts import (
    Accumulating,
    Agent,
    Candidates,
    Features,
    Ids,
    Mask,
    Matrix,
    MemoryView,
    Outlinks,
    Page,
    Scorer,
    State,
    Step,
    Taken,
    Vector,
    Visit,
)

NOTHING = np.float32(-np.inf)  # score of a page that is not waiting


class CandidateFrontier:
    """A frontier that shows its best links and takes only the imposed one; hosts have no delay."""

    def __init__(self, width: int) -> None:
        self.imposed: int | None = None  # the id of the page to take next
        self._rows = Columns(x=(np.float32, width), score=np.float32, seen=np.bool_)  # by page

    def __len__(self) -> int:
        return int(np.count_nonzero(self._score > NOTHING))

    def best_few(self, count: int) -> Candidates:
        """Return the best waiting links, older pages first among equal scores."""
        place = len(self._rows) - count
        worst = np.partition(self._score, place)[place] if place > 0 else NOTHING
        ids = np.flatnonzero((self._score >= worst) & (self._score > NOTHING))
        ids = ids[np.argsort(-self._score[ids], kind="stable")][:count]
        return Candidates(ids.astype(np.int32), self._rows["x"][ids])

    def wants(self, ids: Ids) -> Mask:
        """Return which pages are new or waiting."""
        self._know(ids)
        return ~self._rows["seen"][ids] | (self._score[ids] > NOTHING)

    def put(self, ids: Ids, hosts: Ids, x: Matrix, scores: Vector) -> None:
        """Add new links and update waiting ones; a score of -inf refuses a link."""
        self._know(ids)
        self._rows["seen"][ids] = True
        self._rows["x"][ids] = x
        self._score[ids] = scores

    def rows_of(self, ids: Ids) -> Matrix:
        """Return the features of waiting links, zeros for others."""
        self._know(ids)
        return np.where(self._score[ids, None] > NOTHING, self._rows["x"][ids], np.float32(0))

    def take(self, now: float, at_random: bool = False) -> Taken | None:
        """Take the imposed page; None if there is none."""
        id, self.imposed = self.imposed, None
        if id is None:
            return None
        score, self._score[id] = float(self._score[id]), NOTHING
        return Taken(id, self._rows["x"][id].copy(), score)

    def pick(self, id: int, now: float) -> Taken | None:
        """Take this link; None if it is not waiting."""
        self.imposed = id if self._score[id] > NOTHING else None
        return self.take(now)

    def release(self, id: int, now: float, delay: float | None = None) -> None:
        """Do nothing: hosts have no delay here."""

    def park(self, id: int) -> None:
        """Forget a taken link that was not visited, until it is found again."""
        self._rows["seen"][id] = False

    def drop(self, ids: Ids) -> None:
        """Remove links for good."""
        self._know(ids)
        self._rows["seen"][ids] = True
        self._score[ids] = NOTHING

    def shed(self, keep: int) -> Vector:
        """Forget all but the best `keep` links until they are found again; return their scores."""
        waiting = np.flatnonzero(np.isfinite(self._score))
        worst = waiting[np.argsort(self._score[waiting], kind="stable")[: len(waiting) - keep]]
        scores = self._score[worst].copy()
        self._score[worst] = NOTHING
        self._rows["seen"][worst] = False
        return scores

    def wake(self, now: float) -> float | None:
        """Return the present time if a page is imposed, else None."""
        return None if self.imposed is None else now

    def rescore(self, score: Scorer) -> None:
        """Compute new scores for all waiting links; seeds keep +inf."""
        old = self._score
        links = Candidates(np.arange(len(old), dtype=np.int32), self._rows["x"])
        np.copyto(old, score(links), where=np.isfinite(old))

    def end(self) -> None:
        """Do nothing: there are no episodes here."""

    def best(self) -> float:
        """Return the highest score of a waiting link; -inf if there is none."""
        return float(self._score.max(initial=NOTHING))

    def state(self) -> State:
        """Return everything needed to resume."""
        return self._rows.state()

    def load(self, state: State) -> None:
        """Resume from a saved state."""
        self._rows.load(state)

    @property
    def _score(self) -> Vector:
        score: Vector = self._rows["score"]
        return score

    def _know(self, ids: Ids) -> None:
        self._rows.grow(int(ids.max(initial=-1)) + 1, score=NOTHING)


class Ranked(Agent):
    """Scores links by its first adviser; all advisers learn from every step."""

    def __init__(self, shown: Features, *advisers: Agent) -> None:
        self.advisers = advisers
        self._columns = _Joined([shown, *(adviser.features for adviser in advisers)])
        self.features = self._columns
        self.max_waiting = advisers[0].max_waiting

    def shown(self, x: Matrix) -> Matrix:
        """Return the columns that the outside program observes."""
        return self._columns.part(x, 0)

    def ask(self, adviser: int, links: Candidates) -> Vector:
        """Return the scores that one adviser gives to links."""
        return self.advisers[adviser].score(self._part(links, 1 + adviser))

    def score(self, links: Candidates) -> Vector:
        """Return the scores of the first adviser."""
        return self.ask(0, links)

    def reward(self, visit: Visit) -> float:
        """Return the reward of the first adviser."""
        return self.advisers[0].reward(visit)

    def follows(self, page: Page) -> bool:
        """Return whether the first adviser follows the links of a page."""
        return self.advisers[0].follows(page)

    def learn(self, steps: Sequence[Step]) -> None:
        """Let each adviser learn from its own columns."""
        for number, adviser in enumerate(self.advisers, 1):
            adviser.learn([self._for(number, step) for step in steps])

    def stale(self) -> bool:
        """Return whether the scores of the first adviser are out of date."""
        return self.advisers[0].stale()

    def _for(self, number: int, step: Step) -> Step:
        x = self._columns.part(step.x[None], number)[0]
        return replace(step, x=x, options=self._part(step.options, number))

    def _part(self, links: Candidates, number: int) -> Candidates:
        return Candidates(links.ids, self._columns.part(links.x, number))


class _Joined:
    """Concatenated features."""

    def __init__(self, parts: Sequence[Features]) -> None:
        self._parts = parts
        self._ends = np.cumsum([0, *(part.width for part in parts)]).tolist()
        self.width: int = self._ends[-1]
        self.accumulates = any(
            isinstance(part, Accumulating) and part.accumulates for part in parts
        )

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        return np.hstack(
            [part(memory, self._found(number, found)) for number, part in enumerate(self._parts)]
        )

    def _found(self, number: int, found: Outlinks) -> Outlinks:
        rows = None if found.rows is None else self.part(found.rows, number)
        return replace(found, rows=rows)

    def part(self, x: Matrix, number: int) -> Matrix:
        """Return the columns of one of the features."""
        return np.ascontiguousarray(x[:, self._ends[number] : self._ends[number + 1]])
