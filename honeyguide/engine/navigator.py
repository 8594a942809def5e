"""Choose links and absorb visits: all state of a crawl changes here, without I/O or clock."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import (
    UNASKED,
    Accumulating,
    Agent,
    Candidates,
    Compactable,
    FeatureRows,
    Frontier,
    Gate,
    Guard,
    Ids,
    Link,
    Mask,
    Outlinks,
    Paired,
    Readable,
    Renewable,
    State,
    Step,
    Taken,
    Vector,
    Verdict,
    Visit,
    Vocabulary,
    Withdrawable,
    dtype_of,
    nbytes_of,
)
from honeyguide.engine.decisions import Decisions
from honeyguide.engine.memory import Memory
from honeyguide.engine.obeying import obey
from honeyguide.engine.old_rows import upgraded
from honeyguide.engine.orders import AnyOrder
from honeyguide.engine.shed_links import ShedLinks
from honeyguide.engine.skipped_links import SkippedLinks
from honeyguide.errors import HoneyguideError
from honeyguide.gates.none import NoGate
from honeyguide.guards.lists import relisted
from honeyguide.guards.none import NoGuard
from honeyguide.text.words import counted
from honeyguide.urls.patterns import UrlLists
from honeyguide.urls.same_page import names_same_page

Lanes = Callable[[Ids, FeatureRows], Ids]  # hosts and features of links -> queue of each link
WAITING_SHARE = 4  # one byte in four of the memory limit is reserved for waiting links
MEASURE_EVERY = 16  # visits between two measurements of the tables' bytes
MANY_LINKS = 100  # new links of a page after which they are measured at once
SLACK = 0.9  # share of the allowed waiting links that remains when memory is full
RECONSIDERED = 10  # skipped links (or 1 %, if more) that are tried when nothing else waits


@dataclass(frozen=True, slots=True)
class Lease:
    """A link that is being visited, with its features and score when it was taken."""

    link: Link
    id: int
    x: NDArray[Any]
    score: float


class Navigator:
    """Steers a crawl: takes links from the frontier, absorbs visits, lets the agent learn.

    Call `seed` first, then `choose` and `absorb` in any order: each chosen link is absorbed once.
    """

    def __init__(
        self,
        agent: Agent,
        frontier: Frontier,
        rescoring: float = math.inf,  # waiting links that may be scored again for each visit
        guard: Guard | None = None,  # against traps and near-duplicates; None allows all links
        vocabulary: Vocabulary | None = None,  # called with the text of every page
        retries: int = 0,  # of a link, after temporary failures
        gate: Gate | None = None,  # decides whether a chosen link is fetched; None fetches all
        max_waiting: int | None = None,  # the worst links beyond that are shed
    ) -> None:
        self.agent = agent
        self.frontier = frontier
        self.memory = Memory()
        self.rescoring = rescoring
        self.guard = guard or NoGuard()
        self.vocabulary = vocabulary
        self.retries = retries
        self._tries: dict[int, int] = {}  # by page: temporary failures so far
        self.leases: dict[str, Lease] = {}  # by URL
        self.gate = gate or NoGate()
        self._has_gate = type(self.gate) is not NoGate
        self.shed_links = ShedLinks()
        self.lanes: Lanes = lambda hosts, x: hosts  # one queue for each host
        bounds = [most for most in (max_waiting, agent.max_waiting) if most is not None]
        self._max_waiting = min(bounds, default=None)
        self.max_bytes: int | None = None  # of all tables; beyond that, links are shed
        self._is_full = False  # URLs never seen before are ignored
        self._skipped = SkippedLinks(agent.features.width, dtype_of(agent.features))
        self._compactable = frontier if isinstance(frontier, Compactable) else None
        self._paired = frontier if isinstance(frontier, Paired) else None
        self._renewable = _renewable(agent, frontier) if agent.refreshes else None
        self._readable = _readable(agent, frontier)
        self._forced: set[int] = set()  # skipped links that are fetched because nothing else waits
        self.explored = False  # whether the last link was chosen at random
        self.stopped = False  # the agent says that no waiting link is worth a fetch
        self.moved = 0  # links that left or entered the frontier without a visit
        self._explore = agent.explores()  # asked once for each link taken
        self._credit = 0.0  # links that may be scored again now
        self.lists = UrlLists()  # the guard's allow and deny lists, which orders change
        self._is_relisted = False  # they are no longer those of the plan
        # links that an order has denied
        self.withdrawn = SkippedLinks(agent.features.width, dtype_of(agent.features))
        self.decisions: Decisions | None = None  # revises verdicts; None: those of visits hold
        self.revised: list[Verdict] = []  # of all visits, if the last one changed earlier verdicts

    def seed(self, links: Sequence[Link]) -> None:
        """Add the pages to start from; they come before all other links."""
        if not links:
            return
        if self.decisions is not None:
            self.decisions.note("seed", 0.0, tuple(links))
        self.add_seeds(links)

    def add_seeds(self, links: Sequence[Link]) -> None:
        """Let these pages come before all other links."""
        if not links:
            return
        found = self.memory.seed(links)
        x = self.agent.features(self.memory, found)
        self._enqueue(found.ids, x, np.full(len(found.ids), np.inf, np.float32))

    def obey(self, order: AnyOrder, now: float) -> int:
        """Carry out a person's order; return how many links began or ceased to wait."""
        moved = obey(self, order)
        if self.decisions is not None:
            self.decisions.note("order", now, order)
        return moved

    def relist(self, lists: UrlLists) -> None:
        """Use other allow and deny lists from now on."""
        self.guard = relisted(self.guard, lists)
        self.lists, self._is_relisted = lists, True

    def withdraw(self, ids: Ids) -> Candidates:
        """Take waiting links back, the best first; they wait again when they are found again.

        Of a frontier that cannot give links back none are: the guard refuses them in their turn.
        """
        self._forget_skipped(ids)
        if isinstance(self.frontier, Withdrawable):
            return self.frontier.withdraw(ids)
        features = self.agent.features
        return Candidates(ids[:0], np.empty((0, features.width), dtype_of(features)))

    def put(self, links: Candidates) -> None:
        """Let links with their features wait, with the scores that the agent gives them now."""
        self._enqueue(links.ids, links.x, self._score(links))

    def choose(self, now: float) -> Link | None:
        """Take the next link to visit at time `now` (seconds); None if none may be visited now."""
        while not self._stops():
            self.explored = self._explore
            taken = self.frontier.take(now, self._explore)
            if taken is None:
                if self._reconsider():
                    continue
                return None
            self._explore = self.agent.explores()
            link = self.link_to(taken.id)
            if self._passes(taken, link):
                self.shed_links.take(taken.score)
                self._lease(link, taken, now)
                return link
            self.moved += 1
        return None

    def follow(self, url: str, now: float) -> None:
        """Take this link, as the journal says, whatever `choose` would take."""
        id = int(self.memory.seed([Link(url)]).ids[0])
        self._skipped.discard(np.array([id], np.int32))
        taken = self.frontier.pick(id, now) or self._let_in(id, url, now)
        self._lease(self.link_to(id), taken, now)

    def undo_choice(self, link: Link, now: float) -> None:
        """Put a chosen link back into the frontier, and let its host be asked at once."""
        lease = self.leases.pop(link.url)
        if self.decisions is not None:
            self.decisions.note_undone(link)
        self.frontier.release(lease.id, now, UNASKED)
        self._requeue(lease)

    def absorb(self, visit: Visit, now: float) -> Step:
        """Absorb a visit: update guard, memory and gate, teach the agent, score the new links.

        When that changes the verdicts of earlier visits, all of them are absorbed anew.
        """
        self.revised = []
        if self.decisions is None:
            return self._absorb(visit, now)
        step = self._absorb(self.decisions.decided(visit), now)
        if self.decisions.note_visit(visit, step, now):
            step = self._start_anew(self.decisions)
        self.decisions.settle()
        return step

    @property
    def revises_next(self) -> bool:
        """Whether the next visit may change earlier verdicts: absorbing it may take a second."""
        return self.decisions is not None and self.decisions.fits_next

    def _start_anew(self, decisions: Decisions) -> Step:
        """Become what the navigator would be if all visits had had their present verdicts."""
        fresh, step = decisions.replay()
        vars(self).update(vars(fresh))
        self.decisions, self.revised = decisions, decisions.counted
        return step

    def _absorb(self, visit: Visit, now: float) -> Step:
        known = len(self.memory)
        lease = self.leases.pop(visit.link.url)
        self.frontier.release(lease.id, now, visit.host_delay)
        if visit.again and self._tries.get(lease.id, 0) < self.retries:
            return self._try_again(lease, visit)
        self._tries.pop(lease.id, None)
        visit = self.guard.note(self.memory, lease.id, visit)
        page = self.memory.visit(lease.id, visit)
        if self._has_gate:
            self._update_gate(lease.id, visit)
        if page != lease.id:  # a redirect: the page it led to needs no visit of its own
            self._drop(page)
        self._drop_canonical(page, visit)
        if self.vocabulary is not None and visit.page is not None:
            self.vocabulary.observe(visit.page.text)
        found = self._new_links(page, visit)
        self._forget_skipped(found.ids)
        if self._has_gate:
            self.gate.see(found)
        x = self.agent.features(self.memory, found)
        options = Candidates(found.ids, x)
        self._refresh(found)
        reward = self.agent.reward(visit)
        step = Step(lease.link, page, lease.x, reward, visit.verdict, visit.page, options, lease.id)
        self.agent.learn([step])
        self._enqueue(found.ids, x, self._score(options), found.source)
        if self.agent.ends(visit):
            self.frontier.end()
        self._rescore()
        self._shed()
        if len(self.memory) - known > MANY_LINKS or self.memory.visits % MEASURE_EVERY == 0:
            self._limit_memory()
        return step

    def limit_bytes(self, max_bytes: int) -> None:
        """Limit all tables to `max_bytes` from now on; shed links at once if they are larger."""
        if self.decisions is not None:
            self.decisions.note("bound", 0.0, max_bytes)
        self.max_bytes = max_bytes
        self._limit_memory()

    def measures(self) -> dict[str, int]:
        """Bytes of the tables of each part; the same before saving and after loading a state."""
        return {
            "frontier": nbytes_of(self.frontier),
            "memory": self.memory.nbytes,
            "features": nbytes_of(self.agent.features),
            "guard": nbytes_of(self.guard),
            "aside": self._skipped.nbytes,
            "withdrawn": self.withdrawn.nbytes,
        }

    def has_skipped(self, ids: Ids) -> bool:
        """Whether the gate has skipped any of these links, which may still return."""
        return len(self._skipped) > 0 and bool(self._skipped.holds(ids).any())

    def state(self) -> State:
        """Everything needed to continue the crawl exactly here."""
        return {
            "agent": self.agent.state(),
            "frontier": self.frontier.state(),
            "memory": self.memory.state(),
            "guard": self.guard.state(),
            "gate": self.gate.state(),
            "aside": self._skipped.state(),
            "lists": [list(self.lists.allow), list(self.lists.deny)] if self._is_relisted else None,
            "withdrawn": self.withdrawn.state(),
            "forced": sorted(self._forced),
            "let_go": self.shed_links.state(),
            "vocabulary": self.vocabulary.state() if self.vocabulary is not None else None,
            "max_bytes": self.max_bytes,
            "is_full": self._is_full,
            "explore": self._explore,
            "credit": self._credit,
            "tries": [[page, tries] for page, tries in self._tries.items()],
            "decisions": self.decisions.state() if self.decisions is not None else None,
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
        """Restore a saved state."""
        self.agent.load(state["agent"])
        of_version = partial(upgraded, self.agent.features)
        self.frontier.load(of_version(state["frontier"]))
        self.memory.load(state["memory"])
        if (lists := state.get("lists")) is not None:  # before the guard, which they may wrap
            self.relist(self.lists._replace(allow=tuple(lists[0]), deny=tuple(lists[1])))
        self.guard.load(state["guard"])
        self.gate.load(state["gate"])
        self._skipped.load(of_version(state["aside"]))
        if "withdrawn" in state:  # earlier versions have none
            self.withdrawn.load(of_version(state["withdrawn"]))
        self._forced = set(state["forced"])
        self.shed_links = ShedLinks(**state["let_go"])
        if self.vocabulary is not None:
            self.vocabulary.load(state["vocabulary"])
        self.max_bytes = state.get("max_bytes", self.max_bytes)  # older states have no limit
        self._is_full = state.get("is_full", False)
        self._explore = state["explore"]
        self._credit = state["credit"]
        self._tries = dict(state["tries"])
        if state.get("decisions") is None:  # a crawl of an earlier version goes on without them
            self.decisions = None
        if self.decisions is not None:
            self.decisions.load(state["decisions"])
        for url, depth, source, id, x, score in state["leases"]:
            link = Link(url, depth=depth, source=source)
            row = of_version({"ids": np.array([id], np.int32), "x": x[None]})["x"][0]
            self.leases[url] = Lease(link, id, row, score)

    def _lease(self, link: Link, taken: Taken, now: float) -> None:
        self.leases[link.url] = Lease(link, taken.id, taken.x, taken.score)
        if self.decisions is not None:
            self.decisions.note("take", now, link.url)

    def _stops(self) -> bool:
        asks = type(self.agent).stops is not Agent.stops  # finding the best score takes time
        self.stopped = asks and len(self.frontier) > 0 and self.agent.stops(self.frontier.best())
        return self.stopped

    def link_to(self, id: int) -> Link:
        """The link to a page, with its depth and the page that showed it last."""
        parent = self.memory.last_parent(id)
        source = self.memory.urls.url(parent) if parent >= 0 else ""
        return Link(self.memory.urls.url(id), depth=self.memory.depth(id), source=source)

    def _let_in(self, id: int, url: str, now: float) -> Taken:
        """Add a link to the frontier that was refused, skipped or shed, and take it."""
        ids = np.array([id], np.int32)
        x = self.agent.features(self.memory, Outlinks(None, -1, (Link(url),), ids))
        self._enqueue(ids, x, np.array([np.inf], np.float32))
        taken = self.frontier.pick(id, now)
        assert taken is not None  # noqa: S101 it waits now
        return taken

    def _passes(self, taken: Taken, link: Link) -> bool:
        """Whether to fetch a link now; otherwise park it, because guard or gate refused it."""
        if not self.guard.allows(self.memory, taken.id, link):
            self.frontier.park(taken.id)
            return False
        if taken.score == np.inf or taken.id in self._forced:  # a seed, or the best skipped link
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
        """When no link waits, put the best skipped links back; return whether there were any."""
        if len(self.frontier) or not len(self._skipped):
            return False
        worths = partial(self.gate.worths, self.memory)
        count = max(RECONSIDERED, len(self._skipped) // 100)
        best = self._skipped.take_best(worths, self._score, count)
        self._forced.update(best.ids.tolist())
        self._put_back_skipped(best)
        self.moved += 1
        return True

    def _update_gate(self, id: int, visit: Visit) -> None:
        """Let the gate learn from a visit, and put back the skipped links that it names."""
        self._skipped.learn(id, visit.verdict.relevant)
        again = self.gate.note(self.memory, id, visit)
        self._put_back_skipped(self._skipped.take(again))

    def _drop(self, page: int) -> None:
        """Remove a page whose content was visited at another address."""
        ids = np.array([page], np.int32)
        self._forget_skipped(ids)
        self.frontier.drop(ids)

    def _drop_canonical(self, page: int, visit: Visit) -> None:
        """Count the canonical URL that a page names as visited, if it can be believed."""
        found = visit.page
        if found is None or not names_same_page(found.url, found.metadata.canonical):
            return
        other = self.memory.visit_also(found.metadata.canonical, page, visit)
        if other is not None:
            self._drop(other)

    def _forget_skipped(self, ids: Ids) -> None:
        """Remove links from the skipped ones: they wait again or were visited."""
        if self._has_gate:
            self._skipped.discard(ids)

    def _put_back_skipped(self, skipped: Candidates | None) -> None:
        if skipped is not None:
            self.put(skipped)

    def _score(self, links: Candidates) -> Vector:
        """The agent's scores, shape (links,); a HoneyguideError unless each is finite or -inf."""
        scores = self.agent.score(links)
        if np.shape(scores) != (len(links),):
            raise HoneyguideError(
                f"{_name(self.agent)} gave scores of shape {np.shape(scores)} for"
                f" {counted(len(links), 'link')}: one number for each link is needed"
            )
        if not scores.max(initial=-np.inf) < np.inf:  # false for NaN, too
            raise HoneyguideError(
                f"{_name(self.agent)} gave a score that is not a number or is infinite:"
                " scores are finite, or -inf to refuse a link"
            )
        return scores

    def _enqueue(self, ids: Ids, x: FeatureRows, scores: Vector, source: int = -1) -> None:
        """Put links into the frontier, as links of page `source` if there is one."""
        hosts = self.lanes(self.memory.host(ids), x)
        if self._paired is not None and source >= 0:
            self._paired.put_from(source, ids, hosts, x, scores)
        else:
            self.frontier.put(ids, hosts, x, scores)

    def _refresh(self, found: Outlinks) -> None:
        """Renew the features of waiting links that got a parent, or whose page did.

        These are the links of the page just absorbed, and the links on visited pages it links to.
        """
        if self._renewable is None or self._paired is None or found.page is None:
            return
        targets = self.memory.urls.find([link.url for link in found.page.links])
        targets = np.unique(targets[targets >= 0])
        visited = targets[self.memory.visited(targets)]
        renew = partial(self._renewable.renew, self.memory)
        self._paired.refresh(visited, found.ids, renew)

    def _requeue(self, lease: Lease) -> None:
        ids, score = np.array([lease.id], np.int32), np.array([lease.score], np.float32)
        self._enqueue(ids, lease.x[None], score)

    def _shed(self) -> None:
        """Shed the worst waiting links beyond `max_waiting`."""
        if self._max_waiting is not None and len(self.frontier) > self._max_waiting:
            self.shed_links.shed(self.frontier.shed(self._max_waiting))

    def _limit_memory(self) -> None:
        """Shed the worst links if the tables exceed `max_bytes`; at last, ignore new URLs."""
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
            self._shed_for_memory(frontier, room)

    def _shed_for_memory(self, frontier: Compactable, room: int) -> None:
        """Shed links down to 90 % of `room` bytes, so that this is not needed at every visit."""
        share = SLACK * room / max(frontier.row_bytes, 1)
        if share < 1:
            scores = self.frontier.shed(int(len(self.frontier) * share))
            self.shed_links.shed(scores, for_memory=True)
            frontier.compact()

    def _screen(self, urls: Sequence[str]) -> Mask:
        """Which URLs never seen before are added to memory."""
        if self._is_full:
            self.shed_links.unnoted += len(urls)
            return np.zeros(len(urls), np.bool_)
        return self.guard.screen(self.memory, urls)

    def _try_again(self, lease: Lease, visit: Visit) -> Step:
        """Put a link back for another try; agents do not learn from temporary failures."""
        self._tries[lease.id] = self._tries.get(lease.id, 0) + 1
        self.memory.visits += 1
        self._requeue(lease)
        nothing = Candidates(np.empty(0, np.int32), lease.x[None][:0])
        return Step(lease.link, lease.id, lease.x, 0.0, visit.verdict, None, nothing, lease.id)

    def _new_links(self, page: int, visit: Visit) -> Outlinks:
        if visit.page is None:
            return Outlinks(None, page, (), np.empty(0, np.int32))
        screens = self._is_full or not isinstance(self.guard, NoGuard)
        found = self.memory.link(page, visit.page, self._screen if screens else None)
        if not self.agent.follows(visit.page):
            return _subset(found, np.zeros(len(found.ids), np.bool_))
        found = _subset(found, self.frontier.wants(found.ids))
        found = _subset(found, self.guard.admit(self.memory, found))
        if self._readable is None:
            return found
        return replace(found, rows=self._readable.rows_of(found.ids))

    def _rescore(self) -> None:
        """Score all waiting links again if the agent asks for it and `rescoring` allows it."""
        waiting = len(self.frontier)
        self._credit = min(self._credit + self.rescoring, max(waiting, 1))
        if self.agent.stale() and self._credit >= waiting:
            self.frontier.rescore(self._score)
            self._credit = 0.0


def _name(agent: Agent) -> str:
    return f"agent {type(agent.learner).__name__}"


def _readable(agent: Agent, frontier: Frontier) -> Readable | None:
    """The frontier, if the agent's features get the rows of waiting links from it."""
    accumulates = isinstance(agent.features, Accumulating) and agent.features.accumulates
    return frontier if accumulates and isinstance(frontier, Readable) else None


def _renewable(agent: Agent, frontier: Frontier) -> Renewable:
    """The features of an agent that has them refreshed; a HoneyguideError if they cannot be."""
    if isinstance(agent.features, Renewable) and isinstance(frontier, Paired):
        return agent.features
    raise HoneyguideError(
        f"{_name(agent)} has `refreshes` set, which needs a frontier of pairs and features with a"
        " method renew()"
    )


def _subset(found: Outlinks, chosen: Mask) -> Outlinks:
    if np.count_nonzero(chosen) == len(chosen):  # twice as fast as chosen.all()
        return found
    links = tuple(compress(found.links, chosen.tolist()))
    return Outlinks(found.page, found.source, links, found.ids[chosen])
