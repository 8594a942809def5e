"""Walks from page to page that start again elsewhere when they end (Friar 2017, §3.2)."""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import Columns
from honeyguide.contracts import (
    Candidates,
    Ids,
    Mask,
    Matrix,
    Scorer,
    State,
    Taken,
    Vector,
    Waiting,
)
from honeyguide.errors import HoneyguideError
from honeyguide.frontiers.block import Hosts
from honeyguide.frontiers.pool import Pool, Rows
from honeyguide.registry import part

NOTHING = np.float32(-np.inf)  # the score of a link that was taken
REMEMBERED = 10_000  # pages seen at which a walk may start again


@part("frontier", "walks")
class Walks:
    """Takes a link of the last page; when the walk ends, a random start page.

    `put` replaces all waiting links: a walk is at one page. Only the last `ignored` pages count as
    seen, so that a walk may revisit others. With several visits in flight it also takes the next
    best links of its page.
    """

    revisits = True  # pages: a live crawl keeps those that it has fetched

    def __init__(
        self,
        width: int,
        rng: np.random.Generator,
        delay: float = 0.0,  # seconds between two requests to a host
        per_host: int = 1,  # requests in flight to a host
        ignored: int = 50,  # last visited pages, which are not visited again
        anywhere: bool = False,  # starts again at any page seen, not only at start pages
        longest: int = 50,  # pages of a walk; without dead ends greedy walks run in circles
        temperature: float = 0.0,  # of the softmax from which links are drawn; 0: the best
    ) -> None:
        if not 0 <= temperature < np.inf:
            raise HoneyguideError(f"walks needs a temperature of zero or more, not {temperature}")
        self.rng = rng
        self.temperature = temperature
        self.anywhere = anywhere
        self.longest = longest
        self._steps = 0  # of this walk
        self.begun = 0  # number of walks so far
        self._width = width
        self._hosts = Hosts(delay, per_host)
        self._links = _PageLinks.nothing(width)
        self._starts = Pool(width)
        self._seen = Pool(width, REMEMBERED)
        self._ignored = ignored
        self._last: deque[int] = deque(maxlen=ignored)
        self._recent = Columns(recent=np.bool_)  # by page: whether it is in _last
        self._taken: dict[
            int, tuple[int, float]
        ] = {}  # page: its host, and since when that was ready

    def __len__(self) -> int:
        return int(np.count_nonzero(self._links.scores > NOTHING))

    def wants(self, ids: Ids) -> Mask:
        """All but the last visited pages."""
        self._grow_pages(ids)
        wanted: Mask = ~self._recent["recent"][ids]
        return wanted

    def put(self, ids: Ids, hosts: Ids, x: Matrix, scores: Vector) -> None:
        """Replace the waiting links; pages with a score of +inf are added as start pages."""
        self._grow_pages(ids)
        self._hosts.grow(int(hosts.max(initial=-1)) + 1)
        if len(ids) and scores[0] == np.inf and np.isposinf(scores).all():
            for id in ids.tolist():  # a start page that failed may be tried again
                self._forget(id)
            new = ~np.isin(ids, self._starts.ids)
            self._starts.add(ids[new], hosts[new], x[new], self.rng)
            return
        kept = scores > NOTHING
        if np.count_nonzero(kept) == len(kept):  # half the time of kept.all()
            links_here = _PageLinks(ids, hosts, x, scores.copy())
        else:
            links_here = _PageLinks(ids[kept], hosts[kept], x[kept], scores[kept])
        recent = self._recent["recent"]
        if len(ids) and recent[ids[0]] and recent[ids].all():  # taken links that are put back
            for id in ids.tolist():
                self._forget(id)
            links_here = self._links.joined(links_here)
        else:
            if (
                self.anywhere or len(self._starts) <= self._ignored
            ):  # else a start page is always free
                self._seen.add(links_here.ids, links_here.hosts, links_here.x, self.rng)
            self._steps += 1
        self._links = links_here
        if self._steps >= self.longest:
            self.end()

    def take(self, now: float, at_random: bool = False) -> Taken | None:
        """A link of this page whose host may be requested now, or a page to start again at."""
        places = (self._links.scores > NOTHING).nonzero()[0]
        if len(places):
            place = self._choose(places, now, at_random)
            return None if place is None else self._take_out(self._links.take(place), now)
        for pool in self._pools():
            row = pool.draw(self.rng, lambda rows, pool=pool: self._may_start(pool, rows, now))  # type: ignore[misc]
            if row is not None:
                return self._start_at(pool, row, now)
        return None

    def pick(self, id: int, now: float) -> Taken | None:
        """Take this link of the page, or this start page; None if it is neither."""
        places = np.flatnonzero((self._links.ids == id) & (self._links.scores > NOTHING))
        if len(places):
            return self._take_out(self._links.take(int(places[0])), now)
        for pool in (self._starts, self._seen):
            rows = np.flatnonzero(pool.ids == id)
            if len(rows):
                return self._start_at(pool, int(rows[0]), now)
        return None

    def release(self, id: int, now: float, delay: float | None = None) -> None:
        """End a visit; its host is not requested for `delay` seconds, unless that is UNASKED."""
        self._hosts.end(*self._taken.pop(id), now, delay)

    def park(self, id: int) -> None:
        """Put a taken link out of the walk, unvisited, until it is found again."""
        self._hosts.cancel(*self._taken.pop(id))
        self._forget(id)
        self._starts.remove(id)
        self._seen.remove(id)

    def drop(self, ids: Ids) -> None:
        """Count pages as visited."""
        self._grow_pages(ids)
        self._links.scores[np.isin(self._links.ids, ids)] = NOTHING
        for id in ids.tolist():
            self._remember(id)

    def shed(self, keep: int) -> Vector:
        """Remove all but the `keep` best links of this page; return the removed scores."""
        waiting = np.flatnonzero(self._links.scores > NOTHING)
        order = np.argsort(-self._links.scores[waiting], kind="stable")
        gone = waiting[order[max(keep, 0) :]]
        scores = self._links.scores[gone].copy()
        self._links.scores[gone] = NOTHING
        return scores

    def withdraw(self, ids: Ids) -> Candidates:
        """Remove links of this page, and pages to start again at; return the links."""
        links = self._links
        places = np.flatnonzero(np.isin(links.ids, ids) & (links.scores > NOTHING))
        places = places[np.argsort(-links.scores[places], kind="stable")]
        links.scores[places] = NOTHING
        for id in ids.tolist():
            self._starts.remove(id)
            self._seen.remove(id)
        return Candidates(links.ids[places].copy(), links.x[places].copy())

    @property
    def nbytes(self) -> int:
        """Size of its tables in bytes."""
        pools = self._starts.nbytes + self._seen.nbytes
        return pools + self._links.x.nbytes + self._hosts.nbytes + self._recent.nbytes

    def wake(self, now: float) -> float | None:
        """When `take` can next succeed; None when only a release or a put can help."""
        if len(self):
            return self._hosts.soonest(self._links.hosts[self._links.scores > NOTHING], now)
        for pool in self._pools():
            fresh = ~self._recent["recent"][pool.ids]
            soonest = self._hosts.soonest(pool.hosts[fresh], now)
            if soonest is not None:
                return soonest
        return None

    def rescore(self, score: Scorer) -> None:
        """Give the links of this page new scores."""
        waiting = self._links.scores > NOTHING
        links = Candidates(self._links.ids, self._links.x)
        self._links.scores[waiting] = score(links[waiting])

    def end(self) -> None:
        """End this walk: the next take starts another."""
        self._steps = 0
        self._links = _PageLinks.nothing(self._width)

    def best(self) -> float:
        """The highest score of a waiting link; -inf without links."""
        return float(self._links.scores.max(initial=NOTHING))

    def state(self) -> State:
        """Everything that `load` restores."""
        return {
            "links": self._links.state(),
            "starts": self._starts.state(),
            "seen": self._seen.state(),
            "last": list(self._last),
            "steps": self._steps,
            "begun": self.begun,
            "pages": len(self._recent),
            "hosts": self._hosts.state(),
            "taken": [[page, *taken] for page, taken in self._taken.items()],
            "rng": self.rng.bit_generator.state,
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._links = _PageLinks(**{name: column.copy() for name, column in state["links"].items()})
        self._starts.load(state["starts"])
        self._seen.load(state["seen"])
        self._recent.grow(state["pages"])
        self._steps, self.begun = state["steps"], state["begun"]
        for id in state["last"]:
            self._remember(id)
        self._hosts.load(state["hosts"])
        self._taken = {page: (host, ready) for page, host, ready in state["taken"]}
        self.rng.bit_generator.state = state["rng"]

    # ------------------------------------------------------------------ looking

    def rank(self, score: float) -> int:
        """1 + how many links of this page have a higher score."""
        return 1 + int(np.count_nonzero(self._links.scores > score))

    def waiting(self) -> Waiting:
        """The links of this page."""
        links, hosts = self._links, self._hosts
        kept = links.scores > NOTHING
        of = links.hosts[kept]
        return Waiting(links.ids[kept], of, links.scores[kept], hosts.ready[of], hosts.full[of])

    def features_of(self, ids: Ids) -> Matrix:
        """The features of links that wait."""
        places = [int(np.flatnonzero(self._links.ids == id)[0]) for id in ids.tolist()]
        return self._links.x[np.array(places, np.intp)]

    # ------------------------------------------------------------------ choosing

    def _choose(self, places: NDArray[np.intp], now: float, at_random: bool) -> int | None:
        """The place of the best link (the first among equal ones), of a softmax draw, or any."""
        links = self._links
        if not self._hosts.all_ready(now):
            places = places[self._hosts.may_ask(links.hosts[places], now)]
        if not len(places):
            return None
        if at_random:
            return int(places[self.rng.integers(len(places))])
        scores = links.scores[places]
        if self.temperature:  # the maximum after Gumbel noise is a draw from the softmax
            noise = self.rng.gumbel(scale=self.temperature, size=len(scores))
            scores = scores + noise.astype(np.float32)
        return int(places[scores.argmax()])

    def _pools(self) -> list[Pool]:
        """Where to start again; with few start pages, all may be among the last visited."""
        return [self._seen] if self.anywhere and len(self._seen) else [self._starts, self._seen]

    def _may_start(self, pool: Pool, rows: Rows, now: float) -> Mask:
        wanted: Mask = ~self._recent["recent"][pool.ids[rows]]
        return wanted & self._hosts.may_ask(pool.hosts[rows], now)

    def _start_at(self, pool: Pool, row: int, now: float) -> Taken:
        self._steps = 0
        self.begun += 1
        return self._take_out((*pool.row(row), np.inf), now)

    def _take_out(self, link: tuple[int, int, Vector, float], now: float) -> Taken:
        id, host, x, score = link
        self._taken[id] = host, self._hosts.start(host, now)
        self._remember(id)
        return Taken(id, x, score)

    # ------------------------------------------------------------------ remembering

    def _remember(self, id: int) -> None:
        self._forget(id)
        if len(self._last) == self._last.maxlen:
            self._recent["recent"][self._last.popleft()] = False
        self._last.append(id)
        self._recent["recent"][id] = True

    def _forget(self, id: int) -> None:
        if self._recent["recent"][id]:
            self._last.remove(id)
            self._recent["recent"][id] = False

    def _grow_pages(self, ids: Ids) -> None:
        self._recent.grow(int(ids.max(initial=-1)) + 1)


class _PageLinks:
    """The links of the page a walk is at."""

    def __init__(self, ids: Ids, hosts: Ids, x: Matrix, scores: Vector) -> None:
        self.ids, self.hosts, self.x, self.scores = ids, hosts, x, scores

    @classmethod
    def nothing(cls, width: int) -> "_PageLinks":
        """No links."""
        none = np.empty(0, np.int32)
        return cls(none, none, np.empty((0, width), np.float32), np.empty(0, np.float32))

    def take(self, place: int) -> tuple[int, int, Vector, float]:
        """Take the link at a place: page, host, features, score."""
        score = float(self.scores[place])
        self.scores[place] = NOTHING
        return int(self.ids[place]), int(self.hosts[place]), self.x[place].copy(), score

    def joined(self, other: "_PageLinks") -> "_PageLinks":
        """The waiting links of both."""
        kept = self.scores > NOTHING
        return _PageLinks(
            np.concatenate([self.ids[kept], other.ids]),
            np.concatenate([self.hosts[kept], other.hosts]),
            np.concatenate([self.x[kept], other.x]),
            np.concatenate([self.scores[kept], other.scores]),
        )

    def state(self) -> State:
        """Everything that `load` restores."""
        return {"ids": self.ids, "hosts": self.hosts, "x": self.x, "scores": self.scores.copy()}
