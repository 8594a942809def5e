"""A priority queue of links, rate-limited per host."""

import heapq
import math
from typing import Any

import numpy as np

from honeyguide.columns import Columns
from honeyguide.contracts import (
    Candidates,
    FeatureRows,
    Ids,
    Mask,
    Scorer,
    State,
    Taken,
    Vector,
    Waiting,
)
from honeyguide.frontiers.block import NOTHING, Block, Entry, Hosts, Rows
from honeyguide.frontiers.leaders import Leaders
from honeyguide.registry import part

SHORTLIST = 64  # best links of a host that are kept sorted; the rest is searched when they are gone
FEWEST = 16  # links that are listed after a rescoring, plus four for each take since the last
AHEAD = 16  # visits for each better link that may still wait when a link is taken early
UNDER_WAY = 8  # visits for each one that may be under way meanwhile
CYCLES = 2.0  # how often a host could usually be asked while a crawl waits for a better link
DRAWS = 32  # random rows that are tried before all available links are listed
WORST = (math.inf, 0)


@part("frontier", "best_first")
class BestFirst:
    """Takes the waiting link with the highest score whose host may be requested now.

    With many visits in flight, the best links are often on hosts that are busy or rest. Then a link
    may be taken before its turn, but only one of the best: after n visits, at most n / 16 links
    that are better wait on hosts that will be ready soon, and at most n / 8 other visits are under
    way, because what they find may change the order. Otherwise `take` returns nothing. So a crawl
    reads what it would have read anyway, in a slightly other order. "Soon" is within `patience`
    seconds: a busy host is expected after its usual visit and its usual rest. A visit that takes
    three times as long as usual is not waited for.

    Each host keeps a short list of its best links, so that a take compares hosts, not links.
    """

    _block_of: type[Block] = Block

    def __init__(
        self,
        width: int,
        rng: np.random.Generator,
        delay: float = 0.0,  # seconds between two requests to a host
        per_host: int = 1,  # requests in flight to a host
        patience: float | None = 0.0,  # seconds to wait for better links; None: CYCLES of a host
        dtype: Any = np.float32,  # of features
    ) -> None:
        self.rng = rng
        self.patience = patience
        self._block = self._block_of(width, dtype)
        self._leaders = Leaders(self._block)
        self._hosts = Hosts(delay, per_host)
        if patience == math.inf:  # then no decision depends on how long visits take
            self._hosts.overdue = math.inf
        self._best = Columns(64, score=np.float32)  # by host: an upper bound of its scores
        self._short: dict[int, list[Entry]] = {}  # by host: a heap of its best links
        self._floor: dict[
            int, tuple[float, int]
        ] = {}  # by host: worse links may be missing from its list
        self._seen = Columns(seen=np.bool_)  # by page
        self._taken: dict[
            int, tuple[int, float]
        ] = {}  # page: its host, and since when that was ready
        self._takes = 0  # since the last rescoring

    def __len__(self) -> int:
        return len(self._block)

    def wants(self, ids: Ids) -> Mask:
        """Pages that were never seen, and those that wait."""
        self._grow_pages(ids)
        return ~self._seen["seen"][ids] | self._block.holds(ids)

    def put(self, ids: Ids, hosts: Ids, x: FeatureRows, scores: Vector) -> None:
        """Add new links and refresh waiting ones; a score of -inf refuses a link."""
        self._put(ids, hosts, x, scores)

    def _put(self, ids: Ids, hosts: Ids, x: FeatureRows, scores: Vector) -> Rows:
        """Put links in and return the rows of those that are not refused."""
        self._grow_pages(ids)
        self._grow_hosts(hosts)
        kept = scores > NOTHING
        if not kept.all():
            self.drop(ids[~kept])
            ids, hosts, x, scores = ids[kept], hosts[kept], x[kept], scores[kept]
        self._seen["seen"][ids] = True
        rows = self._block.put(ids, hosts, x, scores)
        self._leaders.add(rows, scores)
        ages = self._block.age[rows]
        for link in zip(hosts.tolist(), scores.tolist(), ages.tolist(), rows.tolist(), strict=True):
            self._enlist(*link)
        return rows

    def rows_of(self, ids: Ids) -> FeatureRows:
        """The features of links, zeros for those that do not wait."""
        return self._block.features(ids)

    def take(self, now: float, at_random: bool = False) -> Taken | None:
        """The best link whose host may be requested now, or a random one; None if there is none."""
        row = self._draw(now) if at_random else self._choose(now)
        return None if row is None else self._take_out(row, now)

    def pick(self, id: int, now: float) -> Taken | None:
        """Take this link, whatever its score or host; None if it does not wait."""
        waits = self._block.holds(np.array([id], np.int32))[0]
        return self._take_out(self._block.row(id), now) if waits else None

    def _take_out(self, row: int, now: float) -> Taken:
        page = int(self._block.page[row])
        host, x, score = self._block.take(row)
        self._taken[page] = host, self._hosts.start(host, now)
        self._takes += 1
        return Taken(page, x, score)

    def release(self, id: int, now: float, delay: float | None = None) -> None:
        """End a visit; its host is not requested for `delay` seconds, unless that is UNASKED."""
        self._hosts.end(*self._taken.pop(id), now, delay)

    def park(self, id: int) -> None:
        """Put a taken link out of the queue, unvisited, until it is found again."""
        self._hosts.cancel(*self._taken.pop(id))
        self._seen["seen"][id] = False

    def drop(self, ids: Ids) -> None:
        """Remove links; they are not added again."""
        self._grow_pages(ids)
        self._seen["seen"][ids] = True
        for id in ids[self._block.holds(ids)]:
            self._block.remove(int(id))

    def shed(self, keep: int) -> Vector:
        """Remove all but the `keep` best links until found again; return the removed scores."""
        rows, scores = self._block.worst(len(self) - keep)
        pages = self._block.page[rows]
        for row in rows.tolist():
            self._block.free(row)
        self._seen["seen"][pages[~self._block.holds(pages)]] = False
        return scores

    def withdraw(self, ids: Ids) -> Candidates:
        """Remove links until they are found again; return them, the best first."""
        self._grow_pages(ids)
        waiting = ids[self._block.holds(ids)]
        taken = [self._block.remove(id) for id in waiting.tolist()]
        x = np.stack([x for _, x, _ in taken]) if taken else self._block.features(waiting)
        scores = np.array([score for _, _, score in taken], np.float32)
        self._seen["seen"][waiting] = False
        return Candidates(waiting, x)[np.lexsort((waiting, -scores))]

    @property
    def nbytes(self) -> int:
        """Size of its tables in bytes."""
        return self._block.nbytes + self._hosts.nbytes + self._best.nbytes + self._seen.nbytes

    @property
    def row_bytes(self) -> int:
        """Size in bytes of the rows of links, those taken included until `compact`."""
        return self._block.row_bytes

    def compact(self) -> None:
        """Free the memory of links that do not wait any more."""
        self._block.compact()
        self._list_anew()

    def wake(self, now: float) -> float | None:
        """When `take` can next succeed; None when only a release or a put can help."""
        waiting = self._block.hosts_waiting() & ~self._hosts.full
        if not np.any(waiting):
            return None
        if self._host_for(now) is not None:
            return now
        later = waiting & (self._hosts.ready > now)
        wake = float(self._hosts.ready[later].min(initial=math.inf))
        if np.any(waiting & ~later):  # a link could be taken: it is held back for better ones
            wake = min(wake, self._hosts.overdue_after(now))
        return wake if wake < math.inf else None

    def rescore(self, score: Scorer) -> None:
        """Give all waiting links new scores."""
        self._block.rescore(score)
        self._list_anew()

    def end(self) -> None:
        """Do nothing: there are no episodes here."""

    def best(self) -> float:
        """The highest score of a waiting link; -inf without links."""
        return float(self._block.score.max(initial=NOTHING))

    def state(self) -> State:
        """Everything but the short lists, which `load` makes again."""
        return {
            "block": self._block.state(),
            "hosts": self._hosts.state(),
            "seen": self._seen.state(),
            "taken": [[page, *taken] for page, taken in self._taken.items()],
            "rng": self.rng.bit_generator.state,
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._block.load(state["block"])
        self._hosts.load(state["hosts"])
        self._seen.load(state["seen"])
        self._taken = {page: (host, ready) for page, host, ready in state["taken"]}
        self.rng.bit_generator.state = state["rng"]
        self._best.grow(len(self._hosts))
        self._list_anew()

    # ------------------------------------------------------------------ looking

    def rank(self, score: float) -> int:
        """1 + how many waiting links have a higher score."""
        return 1 + int(np.count_nonzero(self._block.score > score))

    def waiting(self) -> Waiting:
        """All waiting links."""
        block, hosts = self._block, self._hosts
        rows = np.flatnonzero(block.score > NOTHING)
        of = block.host[rows]
        return Waiting(block.page[rows], of, block.score[rows], hosts.ready[of], hosts.full[of])

    def features_of(self, ids: Ids) -> FeatureRows:
        """The features of links that wait."""
        return self._block.best_features(ids)

    # ------------------------------------------------------------------ choosing

    def _choose(self, now: float) -> int | None:
        """The row of the best link of the available hosts."""
        host = self._host_for(now)
        front = None if host is None else self._front(host)
        return None if front is None else front[2]

    def _host_for(self, now: float) -> int | None:
        """The host to request now; None if there is none, or if it is better to wait."""
        available = self._hosts.available(now)
        host = self._best_host(available)
        if host is None or self.patience == 0:
            return host
        score = self._best["score"][host]
        return None if score < np.inf and self._is_early(score, now) else host

    def _is_early(self, score: float, now: float) -> bool:
        """Whether too much that is better, or under way, comes before a link of this score."""
        if self._hosts.under_way(now) > self._hosts.ended / UNDER_WAY:
            return True
        soon = self._hosts.back_within(self._patience_now(), now)
        return bool(np.any(soon)) and self._leaders.exceed(score, soon, self._hosts.ended / AHEAD)

    def _patience_now(self) -> float:
        if self.patience is not None:
            return self.patience
        return CYCLES * (self._hosts.seconds + self._hosts.delay)

    def _best_host(self, among: Mask) -> int | None:
        """The host with the best waiting link; upper bounds are made exact on the way."""
        best = self._best["score"]
        bounds = np.where(among, best, NOTHING)
        while len(bounds):
            host = int(bounds.argmax())
            if bounds[host] == NOTHING:
                return None
            front = self._front(host)
            exact = NOTHING if front is None else np.float32(-front[0])
            if exact == bounds[host]:
                return host
            bounds[host] = best[host] = exact
        return None

    def _draw(self, now: float) -> int | None:
        """The row of a uniformly random link of the available hosts."""
        block, available = self._block, self._hosts.available(now)
        if not np.any(available & block.hosts_waiting()):
            return None  # before any draw: a take in vain must not change the generator
        for row in self.rng.integers(0, len(block.score), size=DRAWS).tolist():
            if block.score[row] > NOTHING and available[block.host[row]]:
                return int(row)
        rows = np.flatnonzero(available[block.host] & (block.score > NOTHING))
        return int(rows[self.rng.integers(len(rows))])

    # ------------------------------------------------------------------ short lists

    def _front(self, host: int) -> Entry | None:
        """The best waiting link of a host."""
        while self._block.waiting(host):
            links = self._short.get(host)
            if links is None:
                links = self._relist(host)
            while links and not self._is_current(links[0]):
                heapq.heappop(links)
            if links:
                return links[0]
            del self._short[host]
        return None

    def _relist(self, host: int) -> list[Entry]:
        links = self._block.top(host, SHORTLIST)
        everything = len(links) == self._block.waiting(host)
        self._floor[host] = WORST if everything else links[-1][:2]
        self._short[host] = links  # sorted, so it is a heap
        return links

    def _enlist(self, host: int, score: float, age: int, row: int) -> None:
        self._best["score"][host] = max(self._best["score"][host], score)
        links = self._short.get(host)
        if links is None or (-score, age) > self._floor[host]:
            return
        heapq.heappush(links, (-score, age, row))
        if len(links) > 4 * SHORTLIST:
            kept = heapq.nsmallest(SHORTLIST, filter(self._is_current, links))
            self._short[host] = kept
            self._floor[host] = kept[-1][:2]

    def _is_current(self, link: Entry) -> bool:
        score, age, row = link
        return bool(self._block.age[row] == age and self._block.score[row] == -score)

    def _list_anew(self) -> None:
        """Make the short lists and upper bounds of all hosts anew."""
        self._leaders.forget()
        best = self._best["score"]
        best[:] = NOTHING
        np.maximum.at(best, self._block.host, self._block.score)
        self._short.clear()
        links, cut = self._block.above_cut(FEWEST + 4 * self._takes)
        self._takes = 0
        for host, link in links:
            self._short.setdefault(host, []).append(link)  # best first, so each list is a heap
        self._floor = dict.fromkeys(self._short, (-cut, -1))

    # ------------------------------------------------------------------ growing

    def _grow_pages(self, ids: Ids) -> None:
        self._seen.grow(int(ids.max(initial=-1)) + 1)

    def _grow_hosts(self, hosts: Ids) -> None:
        top = int(hosts.max(initial=-1)) + 1
        if top > len(self._best):
            self._best.grow(top, score=NOTHING)
            self._hosts.grow(top)
            self._block.grow_hosts(top)
