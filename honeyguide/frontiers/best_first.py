"""The best waiting link first, whatever page it was found on, host by host politely."""

import heapq
import math

import numpy as np

from honeyguide.columns import Columns
from honeyguide.contracts import Ids, Mask, Matrix, Scorer, State, Taken, Vector
from honeyguide.frontiers.block import NOTHING, Block, Entry, Hosts
from honeyguide.registry import part

SHORTLIST = 64  # links that a host keeps in order; the rest is looked through when they are gone
FEWEST = 16  # links that are listed after all was scored anew, and four more for each take since
FAR_WORSE = 2.0  # standard deviations of the scores usually taken
DRAWS = 32  # blind tries before the available links are counted
WORST = (math.inf, 0)


@part("frontier", "best_first")
class BestFirst:
    """Takes the best waiting link whose host may be asked now.

    Each host keeps a short list of its best links, so that a turn costs a look at the
    hosts, not at the links.
    """

    def __init__(
        self,
        width: int,
        rng: np.random.Generator,
        delay: float = 0.0,  # seconds between two requests to a host
        per_host: int = 1,  # requests in flight to a host
        patience: float = 0.0,  # seconds worth waiting for a much better link
    ) -> None:
        self.rng = rng
        self.patience = patience
        self._block = Block(width)
        self._hosts = Hosts(delay, per_host)
        self._best = Columns(64, score=np.float32)  # by host: nothing of it is better than this
        self._short: dict[int, list[Entry]] = {}  # by host: a heap of its best links
        self._floor: dict[int, tuple[float, int]] = {}  # by host: up to here the list is complete
        self._seen = Columns(seen=np.bool_)  # by page
        self._taken: dict[int, tuple[int, float]] = {}  # page: host, and when that was ready
        self._usual = _ScoreSpread()
        self._takes = 0  # since all was scored anew

    def __len__(self) -> int:
        return len(self._block)

    def wants(self, ids: Ids) -> Mask:
        """New pages, and those that wait already."""
        self._know_pages(ids)
        return ~self._seen["seen"][ids] | self._block.holds(ids)

    def put(self, ids: Ids, hosts: Ids, x: Matrix, scores: Vector) -> None:
        """Add new links and refresh waiting ones; a score of -inf refuses a link."""
        self._know_pages(ids)
        self._know_hosts(hosts)
        kept = scores > NOTHING
        if not kept.all():
            self.drop(ids[~kept])
            ids, hosts, x, scores = ids[kept], hosts[kept], x[kept], scores[kept]
        self._seen["seen"][ids] = True
        self._block.put(ids, hosts, x, scores)
        rows = self._block.rows(ids)
        for link in zip(hosts.tolist(), scores.tolist(), ids.tolist(), rows.tolist(), strict=True):
            self._enlist(*link)

    def take(self, now: float, at_random: bool = False) -> Taken | None:
        """The next link whose host may be asked now, or none."""
        page = self._draw(now) if at_random else self._choose(now)
        return None if page is None else self._leave(page, now)

    def pick(self, id: int, now: float) -> Taken | None:
        """This waiting link, whosever turn it is; none when it does not wait."""
        return self._leave(id, now) if self._block.holds(np.array([id], np.int32))[0] else None

    def _leave(self, page: int, now: float) -> Taken:
        host, x, score = self._block.remove(page)
        self._taken[page] = host, self._hosts.start(host, now)
        self._takes += 1
        self._usual.note(score)
        return Taken(page, x, score)

    def release(self, id: int, now: float, delay: float | None = None) -> None:
        """The visit is over; its host rests for `delay` seconds from now, unless it is UNASKED."""
        self._hosts.end(*self._taken.pop(id), now, delay)

    def park(self, id: int) -> None:
        """Forget a taken link, unvisited, until it is found again."""
        self._hosts.cancel(*self._taken.pop(id))
        self._seen["seen"][id] = False

    def drop(self, ids: Ids) -> None:
        """These need no visit any more."""
        self._know_pages(ids)
        self._seen["seen"][ids] = True
        for id in ids[self._block.holds(ids)]:
            self._block.remove(int(id))

    def shed(self, keep: int) -> Vector:
        """Forget all but the best waiting links, until they are found again: their scores."""
        pages, scores = self._block.worst(len(self) - keep)
        for page in pages.tolist():
            self._block.remove(page)
        self._seen["seen"][pages] = False
        return scores

    @property
    def nbytes(self) -> int:
        """Size of its tables in bytes."""
        return self._block.nbytes + self._hosts.nbytes + self._best.nbytes + self._seen.nbytes

    @property
    def row_bytes(self) -> int:
        """Bytes of links that wait, and of those that wait no more."""
        return self._block.row_bytes

    def compact(self) -> None:
        """Give back the memory of links that wait no more."""
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
        return float(self._hosts.ready[later].min()) if np.any(later) else None

    def rescore(self, score: Scorer) -> None:
        """New scores for all that waits."""
        self._block.rescore(score)
        self._list_anew()

    def end(self) -> None:
        """There are no episodes here."""

    def best(self) -> float:
        """The highest score that waits; -inf when nothing does."""
        return float(self._block.score.max(initial=NOTHING))

    def state(self) -> State:
        """All but the short lists, which follow from it."""
        return {
            "block": self._block.state(),
            "hosts": self._hosts.state(),
            "seen": self._seen.state(),
            "taken": [[page, *taken] for page, taken in self._taken.items()],
            "usual": [self._usual.count, self._usual.mean, self._usual.variance],
            "rng": self.rng.bit_generator.state,
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._block.load(state["block"])
        self._hosts.load(state["hosts"])
        self._seen.load(state["seen"])
        self._taken = {page: (host, ready) for page, host, ready in state["taken"]}
        self._usual = _ScoreSpread(*state["usual"])
        self.rng.bit_generator.state = state["rng"]
        self._best.grow(len(self._hosts))
        self._list_anew()

    # ------------------------------------------------------------------ choosing

    def _choose(self, now: float) -> int | None:
        host = self._host_for(now)
        front = None if host is None else self._front(host)
        return None if front is None else front[1]

    def _host_for(self, now: float) -> int | None:
        """The host to ask now: the best one available, unless a far better one soon will be."""
        available = self._hosts.available(now)
        host = self._best_host(available)
        if host is None or not self.patience:
            return host
        rival = self._best_host(~available & (self._hosts.ready <= now + self.patience))
        best = self._best["score"]
        if rival is not None and self._usual.far_worse(best[host], best[rival]):
            return None
        return host

    def _best_host(self, among: Mask) -> int | None:
        """The host with the best waiting link, its bound made exact."""
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
        """A waiting link of an available host, each as likely as any other."""
        block, available = self._block, self._hosts.available(now)
        if not np.any(available & block.hosts_waiting()):
            return None  # without a look at the dice: asking in vain must change nothing
        for row in self.rng.integers(0, len(block.score), size=DRAWS).tolist():
            if block.score[row] > NOTHING and available[block.host[row]]:
                return int(block.page[row])
        rows = np.flatnonzero(available[block.host] & (block.score > NOTHING))
        return int(block.page[rows[self.rng.integers(len(rows))]])

    # ------------------------------------------------------------------ short lists

    def _front(self, host: int) -> Entry | None:
        """A host's best link."""
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

    def _enlist(self, host: int, score: float, page: int, row: int) -> None:
        self._best["score"][host] = max(self._best["score"][host], score)
        links = self._short.get(host)
        if links is None or (-score, page) > self._floor[host]:
            return
        heapq.heappush(links, (-score, page, row))
        if len(links) > 4 * SHORTLIST:
            kept = heapq.nsmallest(SHORTLIST, filter(self._is_current, links))
            self._short[host] = kept
            self._floor[host] = kept[-1][:2]

    def _is_current(self, link: Entry) -> bool:
        score, page, row = link
        return bool(self._block.page[row] == page and self._block.score[row] == -score)

    def _list_anew(self) -> None:
        """List the best links of all hosts at once, and bound what each host has."""
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

    def _know_pages(self, ids: Ids) -> None:
        self._seen.grow(int(ids.max(initial=-1)) + 1)

    def _know_hosts(self, hosts: Ids) -> None:
        top = int(hosts.max(initial=-1)) + 1
        if top > len(self._best):
            self._best.grow(top, score=NOTHING)
            self._hosts.know(top)
            self._block.know_hosts(top)


class _ScoreSpread:
    """Mean and spread of the scores lately taken, by which "far worse" is measured."""

    def __init__(self, count: int = 0, mean: float = 0.0, variance: float = 0.0) -> None:
        self.count, self.mean, self.variance = count, mean, variance

    def note(self, score: float) -> None:
        """Take one more score in."""
        if not math.isfinite(score):
            return
        self.count += 1
        rate = max(1 / self.count, 0.02)
        away = score - self.mean
        self.mean += rate * away
        self.variance = (1 - rate) * (self.variance + rate * away * away)

    def far_worse(self, one: float, other: float) -> bool:
        """Whether one score is far below another."""
        return self.count >= 20 and other - one > FAR_WORSE * math.sqrt(self.variance)
