"""Report to site owners what a crawl did to a host: requests, gaps, robots.txt, Retry-After."""

import heapq
import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import NamedTuple

from honeyguide.contracts import OfHost, Request
from honeyguide.errors import HoneyguideError
from honeyguide.storage import requests
from honeyguide.storage.database import about, has_table, reading, settings
from honeyguide.storage.ends import UncleanEnds, earlier_unclean_ends, unclean_ends
from honeyguide.storage.lock import holder
from honeyguide.urls.spelling import canonical, host_of, target
from honeyguide.web.host_schedule import NOT_ASKED, NOT_YET_ASKED
from honeyguide.web.robots import from_learnt
from honeyguide.web.robots_txt import RobotsTxt

PRODUCT = "honeyguide"  # as robots.txt files name this crawler
LONGEST_CRAWL_DELAY = 60.0  # seconds; a longer Crawl-delay is cut to it, see HostSchedule
LONGEST_RETRY_AFTER = 86_400.0  # seconds; the same for Retry-After
_CLOCK = 0.01  # seconds by which a timer may be early
_EXAMPLES = 10  # answers with Retry-After that a report shows
# failures of requests that cannot have reached the host
_UNSENT = frozenset(
    {"connection refused", "unreachable", "tls", "plain http", "dns", "private address"}
    | {"too many open files"}
)
_EVERY_EVENT = (1 << 63) - 1  # larger than the number of any event

_Row = Request | str | None  # a request, a refused URL, or None: a visit without its request
RobotsBody = Callable[[str], bytes | None]  # origin -> its robots.txt; None if not stored
Rules = Callable[[str], RobotsTxt | None]  # the same, parsed


class Coverage(NamedTuple):
    """Which of a crawl's requests were stored: older versions stored visits only."""

    requests: int
    first: float | None  # when the first stored one was sent, in seconds since 1970
    earlier_visits: int  # answered visits before that, by an older version
    older_events: int  # the last event of that version
    unclean_ends: UncleanEnds

    @property
    def is_complete(self) -> bool:
        """Whether nothing suggests that a request is missing."""
        return self.requests > 0 and not self.earlier_visits and not self.unclean_ends.times


@dataclass(frozen=True, slots=True)
class Gaps:
    """Seconds from the start of a request to the start of the next one to the same host."""

    count: int
    smallest: float | None = None  # None without any
    median: float | None = None


@dataclass(frozen=True, slots=True)
class Refusals:
    """URLs that were not requested because one line of robots.txt forbids them."""

    rule: str  # as written in the file; empty if unknown
    line: int  # 0 if unknown
    count: int
    example: str


@dataclass(frozen=True, slots=True)
class Wait:
    """One answer with Retry-After, and how long the crawl waited after it."""

    status: int
    answered: float  # seconds since 1970
    asked: float  # seconds of Retry-After
    waited: float | None  # seconds until the next request was sent; None: none was


@dataclass(frozen=True, slots=True)
class Waits:
    """All answers with a Retry-After header."""

    asked: int = 0
    obeyed: int = 0  # those after which no request came too early
    examples: tuple[Wait, ...] = ()  # those that were not obeyed come first


@dataclass(frozen=True, slots=True)
class HostReport:
    """What a crawl did to one host; times are seconds since 1970."""

    host: str
    complete: bool  # nothing suggests that a request is missing from the report
    requests: int
    missing: int  # answered visits whose requests were not stored
    unclean_ends: int  # how often the crawl was killed; requests in flight then are unknown
    cut_off_visits: int  # visits to any host that were in flight then, at most
    unsent: int  # requests among them for which no connection could be made
    first: float
    last: float
    robots_txt: int  # requests for robots.txt, the hops of its redirects included
    redirect_hops: int  # requests that followed a redirect of the same host
    gaps: Gaps | None  # between requests of different visits; None: unknown
    follow_ups: Gaps | None  # within a visit: after robots.txt, and after a redirect
    bytes: int  # of bodies; as transferred, if complete
    bytes_per_day: dict[str, int]  # by date (UTC)
    statuses: dict[str, int]
    failures: dict[str, int]
    refused: tuple[Refusals, ...]  # by robots.txt
    crawl_delay: float | None  # seconds, by the last robots.txt; None: none, or unknown
    crawl_delay_obeyed: bool | None  # None: unknown
    retry_after: Waits | None  # None: unknown
    clock_set_back: int  # how often a request has an earlier time than its predecessor

    @property
    def is_empty(self) -> bool:
        """Whether the crawl neither asked nor avoided the host."""
        return not (self.requests or self.missing or self.refused)

    @property
    def refusals(self) -> int:
        """How many URLs were not requested because robots.txt forbids them."""
        return sum(each.count for each in self.refused)


def host_reports(folder: Path, host: str = "") -> Iterator[HostReport]:
    """Yield a report for each host, or for the one named, even if it was never asked."""
    with reading(folder) as database:
        database.create_function("host_of", 1, host_of, deterministic=True)
        database.execute("BEGIN")  # one consistent view, while a crawl may write
        coverage = _request_coverage(database, folder)
        read = requests.by_host if coverage.requests else _visits
        all_rows: Iterator[tuple[str, int, _Row]] = heapq.merge(
            ((request.host, 0, request) for request in read(database, host)),
            ((name, 1, url) for name, url in _refused(database, host)),
            ((name, 2, None) for name in _missing(database, host, coverage)),
            key=itemgetter(0, 1),
        )
        body = partial(stored_robots_txt, database)
        found = False
        for name, rows in groupby(all_rows, key=itemgetter(0)):
            found = True
            yield _report(name, map(itemgetter(2), rows), body, coverage)
        if host and not found:
            yield _report(host, (), body, coverage)


def host_named(text: str) -> str:
    """The host of a URL, or of a name with or without a port; empty if there is none."""
    text = text.strip()
    is_bare_address = text.count(":") > 1 and not text.startswith("[")  # IPv6
    authority = f"[{text}]" if is_bare_address else text
    return host_of(canonical(text if "://" in text else f"http://{authority}/") or "")


def request_coverage(folder: Path) -> Coverage:
    """Which of a crawl's requests were stored in its folder."""
    with reading(folder) as database:
        return _request_coverage(database, folder)


def stored_robots_txt(database: sqlite3.Connection, origin: str) -> bytes | None:
    """The robots.txt that an origin last sent; None if none is stored."""
    if not has_table(database, "hosts"):
        return None
    asked = "SELECT host, what, value FROM hosts WHERE host = ?"
    for row in database.execute(asked, (host_of(f"{origin}/"),)):
        found = from_learnt(OfHost(*row))
        if found is not None and found[0] == origin and found[1].body is not None:
            return found[1].file()
    return None


def _request_coverage(database: sqlite3.Connection, folder: Path) -> Coverage:
    count, begin = requests.count_and_begin(database)
    known = about(database)
    older = known.get("unchecked", _EVERY_EVENT)
    [[earlier]] = database.execute(
        "SELECT count(*) FROM pages WHERE status > 0 AND n <= ? AND (? IS NULL OR fetched < ?)",
        (older, begin, begin),
    )
    world = settings(folder).get("world", "")
    if not count and world.partition(":")[0] != "web":
        raise HoneyguideError(f"{folder} sent no requests: its pages come from world {world!r}")
    ends = earlier_unclean_ends(known) if holder(folder) else unclean_ends(known, count > 0)
    return Coverage(count, begin, earlier, older, ends)


# --------------------------------------------------------------------------- reading


def _visits(database: sqlite3.Connection, host: str) -> Iterator[Request]:
    """Visits in place of requests, for folders without them: one for each, when it was absorbed."""
    rows = database.execute(
        "SELECT host_of(url) AS host, url, fetched, seconds, status, failure, bytes FROM pages"
        " WHERE status IS NOT NULL AND (? = '' OR host_of(url) = ?) ORDER BY host, n",
        (host, host),
    )
    for name, url, fetched, seconds, status, failure, size in rows:
        if failure not in NOT_ASKED | NOT_YET_ASKED:
            failed = "" if failure.startswith("status ") else failure
            yield Request(name, url, fetched, seconds, status, failed, size)


def _refused(database: sqlite3.Connection, host: str) -> Iterator[tuple[str, str]]:
    """The host and URL of each link that robots.txt forbids, ordered by host."""
    return iter(
        database.execute(
            "SELECT host_of(url) AS host, url FROM pages"
            " WHERE failure = 'robots' AND (? = '' OR host_of(url) = ?) ORDER BY host, n",
            (host, host),
        )
    )


def _missing(database: sqlite3.Connection, host: str, coverage: Coverage) -> Iterator[str]:
    """The host of each answered visit whose request was lost because the crawl was killed."""
    if not coverage.requests:
        return iter(())
    database.create_function("asked_url", 1, _asked_url, deterministic=True)
    rows = database.execute(
        "SELECT host_of(url) AS host FROM pages"
        " WHERE status > 0 AND NOT (n <= ? AND fetched < ?) AND (? = '' OR host_of(url) = ?)"
        " AND asked_url(url) NOT IN (SELECT url FROM requests) ORDER BY host",
        (coverage.older_events, coverage.first, host, host),
    )
    return (name for (name,) in rows)


def _asked_url(url: str) -> str:
    """A URL as it is spelled in the table `requests`."""
    place = target(url)
    return url if isinstance(place, str) else place.url


# --------------------------------------------------------------------------- counting


def _report(host: str, rows: Iterable[_Row], body: RobotsBody, coverage: Coverage) -> HostReport:
    """Make the report of one host; its requests come first in `rows`, in order."""

    @lru_cache(maxsize=8)
    def rules(origin: str) -> RobotsTxt | None:
        found = body(origin)
        return None if found is None else RobotsTxt(found, PRODUCT)

    tally, refused, missing = _Tally(), _RefusedTally(rules), 0
    for row in rows:
        if isinstance(row, Request):
            tally.add(row)
        elif row is None:
            missing += 1
        else:
            refused.add(row)
    is_timed = coverage.requests > 0
    gaps = _gaps(tally.apart)
    wish = _crawl_delay(tally.origins | refused.origins, rules)
    return HostReport(
        host=host,
        complete=coverage.is_complete and not missing,
        requests=tally.count,
        missing=missing,
        unclean_ends=coverage.unclean_ends.times,
        cut_off_visits=coverage.unclean_ends.visits,
        unsent=tally.unsent,
        first=tally.first,
        last=tally.last,
        robots_txt=tally.robots_txt,
        redirect_hops=tally.hops,
        gaps=gaps if is_timed else None,
        follow_ups=_gaps(tally.at_once) if is_timed else None,
        bytes=sum(tally.bytes.values()),
        bytes_per_day=dict(sorted(tally.bytes.items())),
        statuses=dict(sorted(tally.statuses.items())),
        failures=dict(tally.failures.most_common()),
        refused=refused.found(),
        crawl_delay=wish,
        crawl_delay_obeyed=_is_obeyed(wish, gaps) if is_timed else None,
        retry_after=tally.waits() if is_timed else None,
        clock_set_back=tally.set_back,
    )


class _Tally:
    """Counts the requests to one host, in the order in which they were sent."""

    def __init__(self) -> None:
        self.count = self.unsent = self.robots_txt = self.hops = self.set_back = 0
        self.first = self.last = 0.0
        self.apart, self.at_once = array("d"), array("d")  # seconds between visits, within one
        self.bytes: Counter[str] = Counter()  # by day
        self.statuses: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.origins: set[str] = set()
        self._previous: Request | None = None
        self._robots_of = ""  # origin whose robots.txt the previous request asked for, or ""
        self._waits, self._obeyed = 0, 0
        self._examples: list[tuple[bool, int, Wait]] = []  # (obeyed, number, wait), sorted

    def add(self, request: Request) -> None:
        """Count a request; the gap to the previous one is between visits or within one."""
        origin, path = _parts(request.url)
        before = self._previous
        is_hop = before is not None and before.location == request.url
        is_robots = path == "/robots.txt"
        is_another_try = is_robots and origin == self._robots_of
        is_follow_up = is_hop or (self._robots_of != "" and not is_another_try)
        if not (is_hop and self._robots_of):
            self._robots_of = origin if is_robots else ""
        self.robots_txt += self._robots_of != ""
        self.hops += is_hop and not self._robots_of
        if before is None:
            self.first = request.sent
        else:
            self._add_gap(request.sent - before.sent, is_follow_up)
            self._end_wait(before, request.sent)
        self.origins.add(origin)
        self._add_answer(request)
        self._previous = request

    def waits(self) -> Waits:
        """How Retry-After was obeyed; call it once, after the last request."""
        if self._previous is not None:
            self._end_wait(self._previous, None)
        self._previous = None
        return Waits(self._waits, self._obeyed, tuple(wait for _, _, wait in self._examples))

    def _add_gap(self, seconds: float, is_follow_up: bool) -> None:
        if seconds < 0:
            self.set_back += 1
        else:
            (self.at_once if is_follow_up else self.apart).append(seconds)

    def _add_answer(self, request: Request) -> None:
        self.count += 1
        self.last = max(self.last, request.sent)
        self.unsent += request.failure in _UNSENT
        self.bytes[_day(int(request.sent) // 86_400)] += request.bytes
        if request.status:
            self.statuses[str(request.status)] += 1
        if request.failure:
            self.failures[request.failure] += 1

    def _end_wait(self, answer: Request, next_sent: float | None) -> None:
        if answer.retry_after is None:
            return
        end = answer.sent + answer.seconds
        waited = None if next_sent is None else max(0.0, next_sent - end)
        wish = min(answer.retry_after, LONGEST_RETRY_AFTER)
        is_obeyed = waited is None or waited >= wish - _CLOCK
        self._waits += 1
        self._obeyed += is_obeyed
        wait = Wait(answer.status, end, answer.retry_after, waited)
        self._examples = sorted([*self._examples, (is_obeyed, self._waits, wait)])[:_EXAMPLES]


class _RefusedTally:
    """Counts refused URLs by the line of robots.txt that refuses them."""

    def __init__(self, rules: Rules) -> None:
        self.origins: set[str] = set()
        self._rules = rules
        self._counts: Counter[tuple[int, str]] = Counter()
        self._examples: dict[tuple[int, str], str] = {}

    def add(self, url: str) -> None:
        """Count a refused URL under the line that forbids it; under line 0 if that is unknown."""
        place = target(url)
        rules = None
        if not isinstance(place, str):
            self.origins.add(place.origin)
            rules = self._rules(place.origin)
        decision = rules.decide(url) if rules else None
        # if allowed now: a redirect target was forbidden, or the file has changed since
        is_known = decision is not None and not decision.allowed
        key = (decision.line, decision.rule) if decision and is_known else (0, "")
        self._counts[key] += 1
        self._examples.setdefault(key, url)

    def found(self) -> tuple[Refusals, ...]:
        """Refusals by line of robots.txt, the most frequent first."""
        return tuple(
            Refusals(rule, line, count, self._examples[line, rule])
            for (line, rule), count in self._counts.most_common()
        )


def _parts(url: str) -> tuple[str, str]:
    """Split a requested URL into origin and path."""
    end = url.find("/", url.find("://") + 3)
    return url[:end], url[end:]


@lru_cache
def _day(number: int) -> str:
    """The ISO date of a day that is counted from 1970."""
    return datetime.fromtimestamp(number * 86_400, UTC).date().isoformat()


def _gaps(seconds: "array[float]") -> Gaps:
    return Gaps(len(seconds), min(seconds), median(seconds)) if seconds else Gaps(0)


def _crawl_delay(origins: Iterable[str], rules: Rules) -> float | None:
    """The longest Crawl-delay of a host's origins (scheme and port), in seconds."""
    found = (rules(origin) for origin in sorted(origins))
    wishes = [each.crawl_delay for each in found if each and each.crawl_delay is not None]
    return max(wishes, default=None)


def _is_obeyed(wish: float | None, gaps: Gaps) -> bool | None:
    if wish is None or gaps.smallest is None:
        return None
    return gaps.smallest >= min(wish, LONGEST_CRAWL_DELAY) - _CLOCK
