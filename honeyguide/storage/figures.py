"""The figures of a crawl at one moment, counted while it runs or read from its folder."""

import heapq
import math
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from honeyguide.contracts import Visit
from honeyguide.engine.loop import Crawl
from honeyguide.engine.machine import resident_size
from honeyguide.storage.exports import status
from honeyguide.text.words import counted
from honeyguide.urls.spelling import host_of

RECENT = 100  # pages over which the latest harvest is counted
BLOCK = 20  # pages of one bar of the harvest
BLOCKS = 24  # bars that are shown
RATE_SECONDS = 30.0  # over which the rate is counted
SHOWN_FAILURES = 5  # kinds that are named
LAST_PAGES = 20  # relevant pages that are remembered
MOST_HOSTS = 100_000  # hosts that are counted one by one


@dataclass(frozen=True, slots=True)
class Figures:
    """How far a crawl is."""

    pages: int = 0  # fetched, failures included
    relevant: int = 0  # distinct relevant pages
    failures: dict[str, int] = field(default_factory=dict)  # by kind
    bytes: int = 0  # of bodies
    hosts: int = 0  # that this run fetched pages from
    waiting: int = 0  # links
    in_flight: int = 0  # visits
    budget: int = 0  # pages
    rate: float = 0.0  # pages a second, lately
    harvest: float = 0.0  # share of relevant pages among the latest hundred
    memory: int = 0  # bytes of the process; 0 if it does not run
    is_running: bool = True
    is_paused: bool = False

    @property
    def failed(self) -> int:
        """Visits that brought no page."""
        return sum(self.failures.values())

    def sentence(self) -> str:
        """The figures in one line."""
        failed = f"{self.failed:,} failed{_named(self.failures)}"
        return (
            f"{'paused: ' if self.is_paused else ''}{self.pages:,} of"
            f" {counted(self.budget, 'page')}, {self.rate:.1f} a second,"
            f" {self.relevant:,} relevant, {failed},"
            f" {counted(self.hosts, 'host')}, {self.waiting:,} waiting, {self.memory >> 20:,} MB"
        )


def failed_sentence(failures: dict[str, int]) -> str:
    """How many visits failed, by kind; empty if none did."""
    total = sum(failures.values())
    return f"{total:,} failed{_named(failures)}" if total else ""


def _named(failures: dict[str, int]) -> str:
    most = sorted(failures.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{count:,} {kind}" for kind, count in most[:SHOWN_FAILURES]]
    rest = sum(count for _, count in most[SHOWN_FAILURES:])
    named += [f"{rest:,} others"] if rest else []
    return f" ({', '.join(named)})" if named else ""


@dataclass(slots=True)
class HostFigures:
    """What a host has brought."""

    pages: int = 0
    relevant: int = 0


class Tally:
    """Counts the visits of a running crawl; `note` takes a few microseconds."""

    def __init__(
        self,
        before: Figures | None = None,  # of earlier runs
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        before = before or Figures()
        self._clock = clock
        self._crawl: Crawl | None = None
        self._begin = clock()
        self._times: deque[float] = deque(maxlen=4096)
        self._latest: deque[bool] = deque(maxlen=RECENT)
        self._bytes = before.bytes
        self._shares: deque[float] = deque(maxlen=BLOCKS)
        self._block = [0, 0]  # pages and relevant ones since the last share
        self.failures: Counter[str] = Counter(before.failures)
        self.hosts: dict[str, HostFigures] = {}
        self.last_relevant: deque[tuple[str, str]] = deque(maxlen=LAST_PAGES)  # title, URL

    def begin(self, crawl: Crawl) -> None:
        """Count the visits of this crawl, which may have been begun before."""
        self._crawl = crawl

    def note(self, visit: Visit) -> None:
        """Count an absorbed visit."""
        self._times.append(self._clock())
        relevant = visit.verdict.relevant
        self._latest.append(relevant)
        self._block[0] += 1
        self._block[1] += relevant
        if self._block[0] == BLOCK:
            self._shares.append(self._block[1] / BLOCK)
            self._block = [0, 0]
        if visit.failure:
            self.failures[visit.failure] += 1
        if visit.response is not None:
            self._bytes += len(visit.response.body)
        host = self.hosts.get(name := host_of(visit.link.url))
        if host is None and len(self.hosts) < MOST_HOSTS:
            host = self.hosts[name] = HostFigures()
        if host is not None:
            host.pages += 1
            host.relevant += relevant
        if relevant and visit.page is not None:
            self.last_relevant.append((visit.page.title, visit.page.url))

    def harvests(self) -> list[float]:
        """Shares of relevant pages, of twenty pages each, the latest last."""
        return list(self._shares)

    def top_hosts(self, count: int) -> list[tuple[str, HostFigures]]:
        """The hosts that brought most relevant pages, then most pages."""
        return heapq.nlargest(count, list(self.hosts.items()), key=_brought)

    def figures(self) -> Figures:
        """The figures now; may be called from another thread."""
        if self._crawl is None:
            return Figures()
        navigator, latest = self._crawl.navigator, list(self._latest)
        pages = self._crawl.limits.pages
        return Figures(
            pages=navigator.memory.visits,
            relevant=navigator.memory.relevant_found,
            failures=dict(self.failures),
            bytes=self._bytes,
            hosts=len(self.hosts),
            waiting=len(navigator.frontier),
            in_flight=self._crawl.running,
            budget=0 if math.isinf(pages) else int(pages),
            rate=self._rate(),
            harvest=sum(latest) / len(latest) if latest else 0.0,
            memory=resident_size() or 0,
            is_paused=self._crawl.is_paused,
        )

    def _rate(self) -> float:
        """Pages a second, in the last half minute."""
        now, times = self._clock(), list(self._times)
        since = max(now - RATE_SECONDS, self._begin)
        recent = [moment for moment in times if moment >= since]
        if len(recent) == self._times.maxlen:  # so fast that not all moments are known
            since = recent[0]
        return len(recent) / max(now - since, 1e-9)


def _brought(host: tuple[str, HostFigures]) -> tuple[int, int]:
    return host[1].relevant, host[1].pages


def figures_of(folder: Path) -> Figures:
    """The figures of a crawl by its folder, running or not."""
    known = status(folder)
    return Figures(
        pages=known["visits"],
        relevant=known["relevant"],
        failures=known["failures"],
        bytes=known["bytes"],
        waiting=known["waiting"] or 0,
        in_flight=known["in_flight"] if known["process"] else 0,
        budget=known["settings"].get("budget", 0),
        is_running=bool(known["process"]),
        is_paused="paused" in known["in_force"],
    )
