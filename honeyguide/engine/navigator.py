"""Choose a link, absorb a visit: where all state changes, one visit at a time, no I/O, no clock."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress

import numpy as np

from honeyguide.contracts import (
    UNASKED,
    Agent,
    Candidates,
    Compactable,
    Frontier,
    Gate,
    Guard,
    Ids,
    Link,
    Mask,
    Matrix,
    Outlinks,
    State,
    Step,
    Taken,
    Vector,
    Visit,
    Vocabulary,
    nbytes_of,
)
from honeyguide.engine.memory import Memory
from honeyguide.engine.skipped_links import SkippedLinks
from honeyguide.errors import HoneyguideError
from honeyguide.gates.none import NoGate
from honeyguide.guards.none import NoGuard
from honeyguide.text.words import counted

Lanes = Callable[[Ids, Matrix], Ids]  # hosts and rows of links: whose rest each waits for
WAITING_SHARE = 4  # of the bytes of all tables, one in four is left to waiting links
MEASURED_EVERY = 16  # visits between two looks at the bytes of tables,
MANY = 100  # and whenever a page shows more new links than that
SLACK = 0.9  # of what may wait, when some was let go of for want of memory
RECONSIDERED = 10  # skipped links, or a hundredth, that get a chance when nothing else waits


@dataclass(frozen=True, slots=True)
class Lease:
    """A link that is being visited, with what was known when it was taken."""

    link: Link
    id: int
    x: Vector
    score: float


@dataclass(slots=True)
class ShedLinks:
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


class Navigator:
    """Steers a crawl: asks the frontier for links, the agent for their worth."""

    def __init__(
        self,
        agent: Agent,
        frontier: Frontier,
        rescoring: float = math.inf,  # waiting links that may be scored again for each visit
        guard: Guard | None = None,  # against traps and copies; None lets everything through
        vocabulary: Vocabulary | None = None,  # shown the text of every page
        retries: int = 0,  # further tries of a link after failures that may pass
        gate: Gate | None = None,  # asked when a link's turn has come; None lets all through
        max_waiting: int | None = None,  # the worst links beyond that are let go of
    ) -> None:
        self.agent = agent
        self.frontier = frontier
        self.memory = Memory()
        self.rescoring = rescoring
        self.guard = guard or NoGuard()
        self.vocabulary = vocabulary
        self.retries = retries
        self._tries: dict[int, int] = {}  # by page: failures that may pass
        self.leases: dict[str, Lease] = {}  # by URL
        self.gate = gate or NoGate()
        self._has_gate = type(self.gate) is not NoGate
        self.let_go = ShedLinks()
        self.lanes: Lanes = lambda hosts, x: hosts  # whose rest links wait for: their hosts'
        bounds = [bound for bound in (max_waiting, agent.max_waiting) if bound is not None]
        self._max_waiting = min(bounds, default=None)
        self.max_bytes: int | None = None  # of all tables, kept to in the same way
        self._is_full = False  # nothing more can be noted
        self._skipped = SkippedLinks(agent.features.width)
        self._compactable = frontier if isinstance(frontier, Compactable) else None
        self._forced: set[int] = set()  # skipped links that are taken for want of better ones
        self.stopped = False  # the agent found nothing worth a fetch
        self.moved = 0  # links that left or entered the frontier without a visit
        self._explore = agent.explores()  # drawn once for each link taken
        self._credit = 0.0

    def seed(self, links: Sequence[Link]) -> None:
        """Start from these pages, before anything else."""
        if not links:
            return
        found = self.memory.seed(links)
        x = self.agent.features(self.memory, found)
        self._wait(found.ids, x, np.full(len(found.ids), np.inf, np.float32))

    def choose(self, now: float) -> Link | None:
        """Take the next link to visit; none when no host may be asked or nothing is worth it."""
        while not self._stops():
            taken = self.frontier.take(now, self._explore)
            if taken is None:
                if self._reconsider():
                    continue
                return None
            self._explore = self.agent.explores()
            link = self._link(taken.id)
            if self._passes(taken, link):
                self.let_go.take(taken.score)
                self.leases[link.url] = Lease(link, taken.id, taken.x, taken.score)
                return link
            self.moved += 1
        return None

    def follow(self, url: str, now: float) -> None:
        """Take this link, as an earlier run did, whatever would be chosen now."""
        id = int(self.memory.seed([Link(url)]).ids[0])
        self._skipped.discard(np.array([id], np.int32))
        taken = self.frontier.pick(id, now) or self._let_in(id, url, now)
        self.leases[url] = Lease(self._link(id), id, taken.x, taken.score)

    def undo_choice(self, link: Link, now: float) -> None:
        """Let a link that was chosen wait again, as if its turn had not come."""
        lease = self.leases.pop(link.url)
        self.frontier.release(lease.id, now, UNASKED)
        self._wait_again(lease)

    def absorb(self, visit: Visit, now: float) -> Step:
        """Take in what came of a link: remember, learn, score what was found."""
        known = len(self.memory)
        lease = self.leases.pop(visit.link.url)
        self.frontier.release(lease.id, now, visit.host_delay)
        if visit.again and self._tries.get(lease.id, 0) < self.retries:
            return self._try_again(lease, visit)
        self._tries.pop(lease.id, None)
        visit = self.guard.note(self.memory, lease.id, visit)
        page = self.memory.visit(lease.id, visit)
        if self._has_gate:
            self._tell_gate(lease.id, visit)
        if page != lease.id:  # it was reached another way: no need to go there again
            self._forget_skipped(np.array([page], np.int32))
            self.frontier.drop(np.array([page], np.int32))
        if self.vocabulary is not None and visit.page is not None:
            self.vocabulary.observe(visit.page.text)
        found = self._found(page, visit)
        self._forget_skipped(found.ids)
        if self._has_gate:
            self.gate.see(found)
        x = self.agent.features(self.memory, found)
        options = Candidates(found.ids, x)
        reward = self.agent.reward(visit)
        step = Step(lease.link, page, lease.x, reward, visit.verdict, visit.page, options, lease.id)
        self.agent.learn([step])
        self._wait(found.ids, x, self._score(options))
        if self.agent.ends(visit):
            self.frontier.end()
        self._rescore()
        self._shed()
        if len(self.memory) - known > MANY or self.memory.visits % MEASURED_EVERY == 0:
            self._keep_to_memory()
        return step

    def bound(self, max_bytes: int) -> None:
        """Keep all tables to so many bytes from now on."""
        self.max_bytes = max_bytes
        self._keep_to_memory()

    def measures(self) -> dict[str, int]:
        """Bytes of the tables of each part: a loaded crawl has as many as the one saved."""
        return {
            "frontier": nbytes_of(self.frontier),
            "memory": self.memory.nbytes,
            "features": nbytes_of(self.agent.features),
            "guard": nbytes_of(self.guard),
            "aside": self._skipped.nbytes,
        }

    def state(self) -> State:
        """All of it."""
        return {
            "agent": self.agent.state(),
            "frontier": self.frontier.state(),
            "memory": self.memory.state(),
            "guard": self.guard.state(),
            "gate": self.gate.state(),
            "aside": self._skipped.state(),
            "forced": sorted(self._forced),
            "let_go": self.let_go.state(),
            "vocabulary": self.vocabulary.state() if self.vocabulary is not None else None,
            "max_bytes": self.max_bytes,
            "is_full": self._is_full,
            "explore": self._explore,
            "credit": self._credit,
            "tries": [[page, tries] for page, tries in self._tries.items()],
            "leases": [
                [
                    lease.link.url,
                    lease.link.depth,
                    lease.link.source,
                    lease.id,
                    lease.x,
                    lease.score,
                ]
                for lease in self.leases.values()
            ],
        }

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        self.agent.load(state["agent"])
        self.frontier.load(state["frontier"])
        self.memory.load(state["memory"])
        self.guard.load(state["guard"])
        self.gate.load(state["gate"])
        self._skipped.load(state["aside"])
        self._forced = set(state["forced"])
        self.let_go = ShedLinks(**state["let_go"])
        if self.vocabulary is not None:
            self.vocabulary.load(state["vocabulary"])
        self.max_bytes = state.get("max_bytes", self.max_bytes)  # older crawls had no limit
        self._is_full = state.get("is_full", False)
        self._explore = state["explore"]
        self._credit = state["credit"]
        self._tries = dict(state["tries"])
        width = self.agent.features.width  # 0.1.0 kept the page's number behind guide's features
        for url, depth, source, id, x, score in state["leases"]:
            link = Link(url, depth=depth, source=source)
            self.leases[url] = Lease(link, id, x[:width], score)

    def _stops(self) -> bool:
        asks = type(self.agent).stops is not Agent.stops  # the best score is not free to know
        self.stopped = asks and len(self.frontier) > 0 and self.agent.stops(self.frontier.best())
        return self.stopped

    def _link(self, id: int) -> Link:
        parent = self.memory.last_parent(id)
        source = self.memory.urls.url(parent) if parent >= 0 else ""
        return Link(self.memory.urls.url(id), depth=self.memory.depth(id), source=source)

    def _let_in(self, id: int, url: str, now: float) -> Taken:
        """Take a link that does not wait: it was refused, skipped or shed."""
        ids = np.array([id], np.int32)
        x = self.agent.features(self.memory, Outlinks(None, -1, (Link(url),), ids))
        self._wait(ids, x, np.array([np.inf], np.float32))
        taken = self.frontier.pick(id, now)
        assert taken is not None  # noqa: S101 it waits now
        return taken

    def _passes(self, taken: Taken, link: Link) -> bool:
        """Whether to fetch a link now; if not, the guard refused it or the gate skipped it."""
        if not self.guard.allows(self.memory, taken.id, link):
            self.frontier.park(taken.id)
            return False
        if taken.score == np.inf or taken.id in self._forced:  # a seed, or better than nothing
            self._forced.discard(taken.id)
            return True
        if not self._has_gate:
            return True
        foreseen = self.agent.foreseen(taken.x, taken.score)
        if self.gate.opens(self.memory, taken.id, link, foreseen):
            return True
        self.frontier.park(taken.id)
        host = int(self.memory.host(np.array([taken.id], np.int32))[0])
        self._skipped.add(taken.id, host, taken.x)
        return False

    def _reconsider(self) -> bool:
        """When nothing waits any more, the best of what was skipped is better than nothing."""
        if len(self.frontier) or not len(self._skipped):
            return False
        worths = partial(self.gate.worths, self.memory)
        count = max(RECONSIDERED, len(self._skipped) // 100)
        best = self._skipped.take_best(worths, self._score, count)
        self._forced.update(best.ids.tolist())
        self._put_back_skipped(best)
        self.moved += 1
        return True

    def _tell_gate(self, id: int, visit: Visit) -> None:
        """Let the gate learn from a visit; links that deserve another look wait again."""
        self._skipped.learn(id, visit.verdict.relevant)
        again = self.gate.note(self.memory, id, visit)
        self._put_back_skipped(self._skipped.take(again))

    def _forget_skipped(self, ids: Ids) -> None:
        """These wait again, or were visited."""
        if self._has_gate:
            self._skipped.discard(ids)

    def _put_back_skipped(self, skipped: Candidates | None) -> None:
        if skipped is not None:
            self._wait(skipped.ids, skipped.x, self._score(skipped))

    def _score(self, links: Candidates) -> Vector:
        """The agent's scores, checked: one for each link, finite or -inf."""
        scores = self.agent.score(links)
        if np.shape(scores) != (len(links),):
            raise HoneyguideError(
                f"{_name(self.agent)} gave scores of shape {np.shape(scores)} for"
                f" {counted(len(links), 'link')}: one number for each link is needed"
            )
        if not scores.max(initial=-np.inf) < np.inf:  # NaN is above nothing
            raise HoneyguideError(
                f"{_name(self.agent)} gave a score that is not a number or is infinite:"
                " scores are finite, or -inf to refuse a link"
            )
        return scores

    def _wait(self, ids: Ids, x: Matrix, scores: Vector) -> None:
        """Let links wait for their turn."""
        self.frontier.put(ids, self.lanes(self.memory.host(ids), x), x, scores)

    def _wait_again(self, lease: Lease) -> None:
        ids, score = np.array([lease.id], np.int32), np.array([lease.score], np.float32)
        self._wait(ids, lease.x[None], score)

    def _shed(self) -> None:
        """Keep to the number of links that may wait."""
        if self._max_waiting is not None and len(self.frontier) > self._max_waiting:
            self.let_go.shed(self.frontier.shed(self._max_waiting))

    def _keep_to_memory(self) -> None:
        """Let go of the worst links when tables take too much memory; at last note no new ones."""
        if self.max_bytes is None:
            return
        frontier = self._compactable
        waiting = 0 if frontier is None else frontier.row_bytes
        rest = sum(self.measures().values()) - waiting
        least = self.max_bytes // WAITING_SHARE
        self._is_full = rest > self.max_bytes - least
        room = max(self.max_bytes - rest, least)
        if frontier is not None and waiting > room:
            frontier.compact()
            self._let_go_for_memory(frontier, room)

    def _let_go_for_memory(self, frontier: Compactable, room: int) -> None:
        """Keep somewhat below what has room, so that it lasts for a while."""
        share = SLACK * room / max(frontier.row_bytes, 1)
        if share < 1:
            scores = self.frontier.shed(int(len(self.frontier) * share))
            self.let_go.shed(scores, for_memory=True)
            frontier.compact()

    def _screen(self, urls: Sequence[str]) -> Mask:
        """Which URLs never seen before are noted."""
        if self._is_full:
            self.let_go.unnoted += len(urls)
            return np.zeros(len(urls), np.bool_)
        return self.guard.screen(self.memory, urls)

    def _try_again(self, lease: Lease, visit: Visit) -> Step:
        """Let a link wait for another try; nothing is learnt from a failure that may pass."""
        self._tries[lease.id] = self._tries.get(lease.id, 0) + 1
        self.memory.visits += 1
        self._wait_again(lease)
        nothing = Candidates(np.empty(0, np.int32), np.empty((0, len(lease.x)), np.float32))
        return Step(lease.link, lease.id, lease.x, 0.0, visit.verdict, None, nothing, lease.id)

    def _found(self, page: int, visit: Visit) -> Outlinks:
        if visit.page is None:
            return Outlinks(None, page, (), np.empty(0, np.int32))
        screens = self._is_full or not isinstance(self.guard, NoGuard)
        found = self.memory.link(page, visit.page, self._screen if screens else None)
        if not self.agent.follows(visit.page):
            return _only(found, np.zeros(len(found.ids), np.bool_))
        found = _only(found, self.frontier.wants(found.ids))
        return _only(found, self.guard.admit(self.memory, found))

    def _rescore(self) -> None:
        """Score all that waits again, as often as the budget of links a visit allows."""
        waiting = len(self.frontier)
        self._credit = min(self._credit + self.rescoring, max(waiting, 1))
        if self.agent.stale() and self._credit >= waiting:
            self.frontier.rescore(self._score)
            self._credit = 0.0


def _name(agent: Agent) -> str:
    return f"agent {type(agent.learner).__name__}"


def _only(found: Outlinks, chosen: Mask) -> Outlinks:
    if np.count_nonzero(chosen) == len(chosen):  # half the time of chosen.all()
        return found
    links = tuple(compress(found.links, chosen.tolist()))
    return Outlinks(found.page, found.source, links, found.ids[chosen])
