"""A table of waiting links, and the rate limit of hosts."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import Columns
from honeyguide.contracts import (
    UNASKED,
    Candidates,
    FeatureRows,
    Ids,
    Mask,
    Scorer,
    State,
    Vector,
)
from honeyguide.frontiers.rows_by_host import RowsByHost

OVERDUE = 3.0  # times as long as usual
LEAST_WEIGHT = 0.02  # of the latest visit in the mean of all
HOST_WEIGHT = 0.3  # the same, in the mean of its host
FIRST_GUESS = 1.0  # seconds that a visit takes, before the first has ended


class Hosts:
    """The rate limit of hosts: when each may be requested next, and its requests in flight.

    Hosts are numbers from 0; times are seconds of the crawl's clock. It learns how long visits
    take, and so when a busy host will be ready again. A host is asked several things at once only
    after a visit, and as long as it never wished for a longer delay than usual.
    """

    def __init__(self, delay: float = 0.0, per_host: int = 1) -> None:
        self.delay = delay  # seconds between two requests to a host
        self.per_host = per_host  # requests in flight to a host
        self.overdue = OVERDUE  # times its usual seconds, after which a visit is not waited for
        self.ended = 0  # visits so far
        self.seconds = FIRST_GUESS  # that a visit takes, on average
        self._rows = Columns(
            64,
            ready=np.float64,
            busy=np.int32,
            started=np.float64,  # the latest visit
            seconds=np.float32,  # that its visits take, on average; 0: not known
            rest=np.float32,  # seconds that it wished for after the latest visit
            ease=np.int8,  # 1: content with the usual delay; -1: it once wished for a longer one
        )
        self._in_flight = 0  # requests to all hosts
        self._latest = 0.0  # when all hosts are ready

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """Size of its table in bytes."""
        return self._rows.nbytes

    def grow(self, count: int) -> None:
        """Add empty rows for hosts below this number."""
        self._rows.grow(count)

    def available(self, now: float) -> Mask:
        """Which hosts may be requested now."""
        return (self.ready <= now) & ~self.full

    def all_ready(self, now: float) -> bool:
        """Whether every host may be requested now."""
        return self._in_flight == 0 and self._latest <= now

    def may_ask(self, hosts: Ids, now: float) -> Mask:
        """Which of these hosts may be requested now."""
        may: Mask = (self._rows["ready"][hosts] <= now) & ~self._full(hosts)
        return may

    def soonest(self, hosts: Ids, now: float) -> float | None:
        """When the first of these hosts may be requested; None if all have requests in flight."""
        free = hosts[~self._full(hosts)]
        return max(now, float(self._rows["ready"][free].min())) if len(free) else None

    @property
    def ready(self) -> NDArray[np.float64]:
        """The time when each host may be requested next."""
        return self._rows["ready"]

    @property
    def full(self) -> Mask:
        """Which hosts have as many requests in flight as they may."""
        return self._full(slice(None))

    def under_way(self, now: float) -> int:
        """Requests in flight, without those that take far longer than usual."""
        return int(self._rows["busy"][now <= self._overdue()].sum())

    def back_within(self, seconds: float, now: float) -> Mask:
        """Which hosts may not be requested now, but probably so many seconds from now."""
        full = self.full
        end = np.maximum(self._rows["started"] + self._usual(), now) + self._rows["rest"]
        when = np.where(full, np.maximum(end, self.ready), self.ready)
        back: Mask = (full | (self.ready > now)) & (when <= now + seconds)
        return back & ~(full & (now > self._overdue()))

    def overdue_after(self, now: float) -> float:
        """When the next visit will take far longer than usual; infinite if none will."""
        times = self._overdue()[(self._rows["busy"] > 0) & (now <= self._overdue())]
        return float(np.nextafter(times.min(), np.inf)) if len(times) else np.inf

    def start(self, host: int, now: float) -> float:
        """Begin a request; return since when the host was ready."""
        before = float(self._rows["ready"][host])
        self._rows["busy"][host] += 1
        self._rows["started"][host] = now
        self._in_flight += 1
        self._rest(host, now + self.delay)
        return before

    def end(self, host: int, before: float, now: float, delay: float | None) -> None:
        """End a request; the host is not ready until `delay` seconds from now."""
        if delay == UNASKED:
            self.cancel(host, before)
            return
        rest = self.delay if delay is None else delay
        self._rows["busy"][host] -= 1
        self._rows["rest"][host] = rest
        if self._rows["ease"][host] >= 0:
            self._rows["ease"][host] = 1 if rest <= self.delay else -1
        self._in_flight -= 1
        self._rest(host, now + rest)
        self._learn(host, now - float(self._rows["started"][host]))

    def cancel(self, host: int, before: float) -> None:
        """Undo `start`: no request was sent."""
        self._rows["busy"][host] -= 1
        self._in_flight -= 1
        self._rows["ready"][host] = before

    def state(self) -> State:
        """Everything that `load` restores."""
        return {**self._rows.state(), "pace": [self.ended, self.seconds]}

    def load(self, state: State) -> None:
        """Restore a saved state; those of earlier versions know nothing of seconds."""
        unknown = {
            "started": np.full(len(state["ready"]), -np.inf),  # nobody waits for its end
            **{name: np.zeros(len(state["ready"])) for name in ("seconds", "rest", "ease")},
        }
        rows = {**unknown, **state}
        self.ended, self.seconds = rows.pop("pace", [0, FIRST_GUESS])
        self._rows.load(rows)
        self._in_flight = int(self._rows["busy"].sum())
        self._latest = float(self.ready.max(initial=0.0))

    def _full(self, hosts: Any) -> Mask:
        busy = self._rows["busy"][hosts]
        if self.per_host == 1:
            full: Mask = busy >= 1
        else:
            full = busy >= np.where(self._rows["ease"][hosts] > 0, self.per_host, 1)
        return full

    def _usual(self) -> NDArray[np.float64]:
        """Seconds that visits take, by host; those of all hosts where none has ended."""
        own = self._rows["seconds"]
        return np.where(own > 0, own, self.seconds)

    def _overdue(self) -> NDArray[np.float64]:
        started: NDArray[np.float64] = self._rows["started"]
        if self.overdue == np.inf:
            return np.full_like(started, np.inf)
        return started + self.overdue * self._usual()

    def _learn(self, host: int, seconds: float) -> None:
        self.ended += 1
        self.seconds += max(1 / self.ended, LEAST_WEIGHT) * (seconds - self.seconds)
        own = float(self._rows["seconds"][host])
        weight = HOST_WEIGHT if own > 0 else 1.0
        self._rows["seconds"][host] = own + weight * (seconds - own)

    def _rest(self, host: int, until: float) -> None:
        self._rows["ready"][host] = max(self._rows["ready"][host], until)
        self._latest = max(self._latest, until)


Entry = tuple[float, int, int]  # -score, age, row: older ones first among equals
Rows = NDArray[np.intp]
# features scored at once: they fit into the processor's cache, and BLAS uses no threads for so
# few, which would wait for a core that is busy parsing
SLAB = 1 << 18
NOTHING = np.float32(-np.inf)  # the score of a row that is not in use


MANY = 1 << 16  # rows from which on those of a host are found by an index


class Block:
    """Waiting links as rows of features, score, page and host; free rows are reused."""

    def __init__(self, width: int, dtype: Any = np.float32, **more: Any) -> None:
        self._slab = max(1, SLAB // width)  # rows that are scored at once
        usual: dict[str, Any] = {"score": np.float32, "page": np.int32, "host": np.int32}
        self._rows = Columns(x=(dtype, width), **usual, **more)
        self._row_of = Columns(row=np.int32)  # by page: 1 + its row, or 0
        self._free: list[int] = []
        self._hosts = Columns(64, waiting=np.int32)
        self._by_host: RowsByHost | None = None  # made when there are many rows

    def __len__(self) -> int:
        return len(self._rows) - len(self._free)

    def holds(self, pages: Ids) -> Mask:
        """Which pages wait, that is, have a row."""
        self._grow(pages)
        return self._row_of["row"][pages] > 0

    @property
    def nbytes(self) -> int:
        """Size of its tables in bytes, free rows included."""
        tables = (self._rows, self._row_of, self._hosts)
        index = RowsByHost.measure(len(self._rows), len(self._hosts)) if self._is_large else 0
        return sum(table.nbytes for table in tables) + index

    @property
    def row_bytes(self) -> int:
        """Size of the rows in bytes, free ones included."""
        return self._rows.nbytes

    def compact(self) -> None:
        """Move the rows in use together and free the memory of the others."""
        if not self._free:
            return
        used = np.flatnonzero(self.score > NOTHING)
        self._rows.keep(used)
        self._renumber()
        self._free, self._by_host = [], None

    def _renumber(self) -> None:
        """Find the rows of pages again after all rows moved."""
        self._row_of["row"][self.page] = np.arange(1, len(self._rows) + 1, dtype=np.int32)

    def waiting(self, host: int) -> int:
        """The number of rows of a host."""
        return int(self._hosts["waiting"][host])

    def hosts_waiting(self) -> Mask:
        """Which hosts have rows."""
        return self._hosts["waiting"] > 0

    def grow_hosts(self, count: int) -> None:
        """Add empty rows for hosts below this number."""
        self._hosts.grow(count)

    def rows(self, pages: Ids) -> Rows:
        """The row of each page that has one."""
        return self._row_of["row"][pages].astype(np.intp) - 1

    def row(self, page: int) -> int:
        """The row of a page that has one."""
        return int(self._row_of["row"][page]) - 1

    def features(self, pages: Ids) -> FeatureRows:
        """A copy of the features of pages, zeros for those that do not wait."""
        waits = np.flatnonzero(self.holds(pages))
        x = np.zeros((len(pages), self._rows["x"].shape[1]), self._rows["x"].dtype)
        x[waits] = self._rows["x"][self.rows(pages[waits])]
        return x

    def best_features(self, pages: Ids) -> FeatureRows:
        """A copy of the features of pages that wait; of several rows of a page, the best's."""
        rows = np.array([self.row(page) for page in pages.tolist()], np.intp)
        x: FeatureRows = self._rows["x"][rows]
        return x

    def put(self, pages: Ids, hosts: Ids, x: FeatureRows, scores: Vector) -> Rows:
        """Write the row of each page: its own, or a free one if it has none; return the rows."""
        new = ~self.holds(pages)
        if np.any(new):
            self._row_of["row"][pages[new]] = self._claim(hosts[new]) + 1
        rows = self.rows(pages)
        self._write(rows, pages, hosts, x, scores)
        return rows

    def _write(self, rows: Rows, pages: Ids, hosts: Ids, x: FeatureRows, scores: Vector) -> None:
        self._rows["page"][rows] = pages
        self._rows["host"][rows] = hosts
        self._rows["x"][rows] = x
        self._rows["score"][rows] = scores

    def remove(self, page: int) -> tuple[int, NDArray[Any], float]:
        """Free the row of a page and return its host, features and score."""
        return self.take(self.row(page))

    def take(self, row: int) -> tuple[int, NDArray[Any], float]:
        """Free a row and return its host, features and score."""
        host, score = int(self._rows["host"][row]), float(self._rows["score"][row])
        self.free(row)
        return host, self._rows["x"][row].copy(), score

    def free(self, row: int) -> None:
        """Free one row."""
        self._row_of["row"][self._rows["page"][row]] = 0
        self._rows["score"][row] = NOTHING
        self._hosts["waiting"][self._rows["host"][row]] -= 1
        self._free.append(row)

    def rescore(self, score: Scorer) -> None:
        """Score the whole block, then mask: gathering the rows in use would cost far more."""
        scores, rows, pages = self.score, self._rows["x"], self.page
        for start in range(0, len(scores), self._slab):
            old = scores[start : start + self._slab]
            some = slice(start, start + len(old))
            new = score(Candidates(pages[some], rows[some]))
            np.copyto(old, new, where=np.isfinite(old))  # seeds keep their +inf

    @property
    def score(self) -> Vector:
        """The score of each row."""
        return self._rows["score"]

    @property
    def host(self) -> Ids:
        """The host of each row."""
        return self._rows["host"]

    @property
    def page(self) -> Ids:
        """The page of each row."""
        return self._rows["page"]

    @property
    def age(self) -> NDArray[Any]:
        """Number of each row by which equal scores are ordered, the oldest first: its page."""
        return self.page

    def top(self, host: int, count: int) -> list[Entry]:
        """A host's best rows, best first, older ones before newer."""
        rows = self._rows_of_host(host)
        count = max(count, len(rows) // 32)  # so that large hosts are listed less often
        if len(rows) > count:
            rows = rows[_largest(self.score[rows], self.age[rows], count)]
        return list(self._entries(self._in_order(rows)))

    def _rows_of_host(self, host: int) -> Rows:
        if not self._is_large:
            return np.flatnonzero((self.host == host) & (self.score > NOTHING))
        if self._by_host is None:
            self._by_host = RowsByHost(self.host)
        rows = self._by_host[host]
        used: Rows = rows[(self.host[rows] == host) & (self.score[rows] > NOTHING)]
        self._by_host.replace(host, used)
        return used

    @property
    def _is_large(self) -> bool:
        return len(self._rows) >= MANY

    def above_cut(self, count: int) -> tuple[list[tuple[int, Entry]], float]:
        """About `count` best rows with their hosts, best first, and the score they all exceed."""
        cut = float(NOTHING)
        if len(self.score) > count:
            cut = float(np.partition(self.score, len(self.score) - count)[len(self.score) - count])
        rows = self._in_order(np.flatnonzero(self.score > cut))
        return list(zip(self.host[rows].tolist(), self._entries(rows), strict=True)), cut

    def worst(self, count: int) -> tuple[Rows, Vector]:
        """The rows with the lowest scores, the newest among equals, and these scores; no seeds."""
        rows = np.flatnonzero(np.isfinite(self.score))
        count = min(max(count, 0), len(rows))
        kept = len(rows) - count
        if count and kept:
            worst = np.ones(len(rows), np.bool_)
            worst[_largest(self.score[rows], self.age[rows], kept)] = False
            rows = rows[worst]
        rows = rows[:count]
        return rows, self.score[rows].copy()

    def _in_order(self, rows: Rows) -> Rows:
        return rows[np.lexsort((self.age[rows], -self.score[rows]))]

    def _entries(self, rows: Rows) -> Iterator[Entry]:
        columns = (-self.score[rows], self.age[rows], rows)
        return zip(*(column.tolist() for column in columns), strict=True)

    def state(self) -> State:
        """Everything that `load` restores."""
        return {
            "rows": self._rows.state(),
            "row_of": self._row_of.state(),
            "free": np.array(self._free, np.int32),
            "hosts": self._hosts.state(),
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._rows.load(state["rows"])
        self._row_of.load(state["row_of"])
        self._free = state["free"].tolist()
        self._hosts.load(state["hosts"])
        self._by_host = None

    def _claim(self, hosts: Ids) -> NDArray[np.int32]:
        """Free or new rows for links of these hosts."""
        reused = [self._free.pop() for _ in range(min(len(hosts), len(self._free)))]
        fresh = self._rows.add(len(hosts) - len(reused))
        np.add.at(self._hosts["waiting"], hosts, 1)
        rows = np.array([*reused, *fresh], np.int32)
        if self._by_host is not None:
            self._by_host.add(hosts, rows)
            if len(self._by_host) > 2 * len(self._rows):  # most are of rows that were freed
                self._by_host = None
        return rows

    def _grow(self, pages: Ids) -> None:
        self._row_of.grow(int(pages.max(initial=-1)) + 1)


def _largest(scores: Vector, ages: NDArray[Any], count: int) -> Rows:
    """Places of the `count` largest scores; among equal ones the oldest."""
    worst = np.partition(scores, len(scores) - count)[len(scores) - count]
    above, equal = np.flatnonzero(scores > worst), np.flatnonzero(scores == worst)
    room = count - len(above)
    if len(equal) > room:
        equal = equal[np.argpartition(ages[equal], room - 1)[:room]]
    return np.concatenate([above, equal])
