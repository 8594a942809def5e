"""Failures of the crawler's own machine, which are no host's fault: outages, too few descriptors.

Both are recognised, waited out and repeated, so that no link, retry or budget is lost.
"""

import asyncio
import logging
import time
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Protocol

from honeyguide.contracts import Link, OfHost, Response
from honeyguide.urls.patterns import UrlLists
from honeyguide.urls.spelling import host_of, origin_of, target
from honeyguide.web.connections import TOO_MANY_FILES
from honeyguide.web.fetch_limits import ANYTHING, Terms, WebFetcher
from honeyguide.web.host_schedule import FAILURES, Clock, HostSchedule, Sleep

# Failures of a fetch while the network is down; each can also be the fault of a link.
SUSPECT = frozenset(
    {
        "timeout",
        "connection refused",
        "connection reset",
        "unreachable",
        "dns",
        "truncated",
        "proxy unreachable",
    }
)
_ANY = SUSPECT | {""}  # also fetches that have not begun
_FEWEST = 3  # hosts that must fail in an outage; two may be one server
_PROBED = 3  # sites, before the network counts as down
_TRUSTED = 60.0  # seconds after a check in which a few failures start no other
_LONGEST = 60.0  # seconds between two probes in an outage
_LOOKS, _LOOK = 40, 0.25  # how often, and seconds between, running fetches are waited for
_SILENCE = 5.0  # seconds that fetches are held back before it is said why
_NAMED = 3  # hosts in such a sentence
_REMEMBERED = 64  # sites that can be probed
_PATIENCE = 60.0  # seconds to wait before a probe
_PROBE = Terms(ANYTHING, 0, 0, cut=True)  # that there is an answer is all that is wanted
WANTED = 1_000  # descriptors that a crawl can make use of
_RESERVED = 20  # for the database, archives, snapshots and a parser process
_LONGEST_RETRY = 5.0  # seconds between two tries for a descriptor

_log = logging.getLogger(__name__)


class Network(WebFetcher, Protocol):
    """A fetcher that looks up host names and remembers their addresses."""

    @property
    def names(self) -> int:
        """How many host names were looked up and found."""
        ...

    def forget(self, host: str) -> None:
        """Look a host's name up again the next time."""
        ...


class Connecting(Network, Protocol):
    """A fetcher that keeps connections alive between requests."""

    def keep_open(self, connections: int) -> None:
        """Keep at most so many connections alive between requests."""
        ...


class ProbeSites:
    """Sites that answered recently, and can be probed to learn whether the network is up."""

    def __init__(
        self,
        fetcher: Network,
        schedule: HostSchedule,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._fetcher = fetcher
        self._schedule = schedule
        self._sleep = sleep
        self._known: dict[str, None] = {}  # origins, in the order of their last answers

    def hosts(self) -> set[str]:
        """The hosts of all sites that can be probed."""
        return set(map(host_of, self._known))

    def note(self, origin: str, status: int) -> None:
        """Remember a site that answered, unless it is overloaded."""
        self._known.pop(origin, None)
        if status < 500 and status != 429:
            self._remember(origin)

    def drop(self, hosts: Container[str]) -> None:
        """Forget the sites of these hosts."""
        self._known = {each: None for each in self._known if host_of(each) not in hosts}

    def recall(self, learnt: Iterable[OfHost]) -> None:
        """Remember hosts that answered before the crawl was resumed."""
        for host, what, value in learnt:
            if what == FAILURES and not value:
                self._remember(origin_of(host))

    def in_order(self, failed: Container[str]) -> list[str]:
        """The origins to probe: first those that have not failed and may be asked now."""

        def hindered(origin: str) -> tuple[bool, bool]:
            host = host_of(origin)
            return host in failed, self._schedule.wait(host) > 0

        return sorted(self._known, key=hindered)

    async def probe(self, origin: str) -> Response:
        """Request a site's robots.txt, and put the site last in the order."""
        self._remember(origin)
        await self.prepare(origin)
        response = await self._fetcher.fetch(Link(f"{origin}/robots.txt"), _PROBE)
        if response.status:
            self.note(origin, response.status)
        return response

    async def prepare(self, origin: str) -> None:
        """Wait until a host may be asked again, and look its name up again."""
        host = host_of(origin)
        if (wait := self._schedule.wait(host)) > 0:
            await self._sleep(min(wait, _PATIENCE))
        self._schedule.probe(origin)
        self._fetcher.forget(host)

    def _remember(self, origin: str) -> None:
        self._known.pop(origin, None)
        self._known[origin] = None
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]


class OutageRetry:
    """Recognises outages of the own network; repeats what failed in them when they are over."""

    def __init__(
        self,
        fetcher: Network,
        sites: ProbeSites,
        many: int = 8,  # hosts that fail in a row before the network is probed at once
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._fetcher = fetcher
        self._sites = sites
        self._many = many
        self._clock = clock
        self._sleep = sleep
        self._failed: dict[str, str] = {}  # by host, since the last answer
        self._waiting: dict[asyncio.Future[bool], str] = {}  # fetches that wait for a verdict
        self._names = 0  # look-ups that had succeeded when one last failed
        self._under_way = 0  # fetches that may yet be answered
        self._trusted_until = 0.0
        self._down_since: float | None = None
        self._lost = 0.0  # seconds of outages
        self._outages = 0
        self._check: asyncio.Task[None] | None = None

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """Fetch a link; wait and repeat while the network is down."""
        place = target(link.url)
        if isinstance(place, str):
            return Response(link, link.url, 0, failure=place)
        if self._down_since is not None:
            await self._verdict("")
            self._fetcher.forget(place.host)
        while True:
            before = self._outages
            response = await self._ask(link, terms)
            if response.failure not in SUSPECT:
                self._heard(place.origin, response.status)
                return response
            # a fetch that began in an outage may fail after its end
            if before == self._outages and not await self._is_own(place.host, response.failure):
                return response
            await self._sites.prepare(place.origin)

    def recall(self, learnt: Iterable[OfHost]) -> None:
        """Remember hosts that answered before the crawl was resumed."""
        self._sites.recall(learnt)

    def relist(self, lists: UrlLists) -> None:
        """Probe no site that a deny list refuses from now on."""
        refusal = UrlLists(deny=lists.deny, host_globs=lists.host_globs).refusal()
        hosts = self._sites.hosts()
        self._sites.drop({host for host in hosts if refusal(f"{origin_of(host)}/")})

    def clock(self) -> float:
        """Seconds, without those of outages."""
        now = self._clock() if self._down_since is None else self._down_since
        return now - self._lost

    async def close(self) -> None:
        """Close the inner fetcher and cancel whatever waits for the network."""
        if self._check is not None:
            self._check.cancel()
            await asyncio.gather(self._check, return_exceptions=True)
        for waiting in self._waiting:
            waiting.cancel()
        await self._fetcher.close()

    async def _ask(self, link: Link, terms: Terms | None) -> Response:
        self._under_way += 1
        try:
            return await self._fetcher.fetch(link, terms)
        finally:
            self._under_way -= 1

    def _heard(self, origin: str, status: int) -> None:
        """Clear failures after an answer; failed look-ups only after a successful one."""
        if not status:
            return
        self._sites.note(origin, status)
        cleared = SUSPECT if self._fetcher.names != self._names else SUSPECT - {"dns"}
        self._failed = {host: why for host, why in self._failed.items() if why not in cleared}
        if self._down_since is None:
            self._tell(False, cleared)
        elif not self._failed:
            self._settle(True)

    async def _is_own(self, host: str, failure: str) -> bool:
        """Whether the own network caused a failure; waits until that is known."""
        is_down = self._down_since is not None
        if not is_down and not self._sites.hosts():  # no host ever answered
            return False
        self._failed[host] = failure
        if failure == "dns":
            self._names = self._fetcher.names
        return (is_down or not self._is_trusted(failure)) and await self._verdict(failure)

    def _is_trusted(self, failure: str) -> bool:
        """Whether a probe succeeded a moment ago, and no running fetch will tell more soon."""
        is_well = self._clock() < self._trusted_until and len(self._failed) < self._many
        return is_well and (failure == "dns" or not self._under_way)

    async def _verdict(self, failure: str) -> bool:
        waiting: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting[waiting] = failure
        if self._check is None or self._check.done():
            self._check = asyncio.create_task(self._find_out())
            self._check.add_done_callback(self._raise)
        try:
            return await waiting
        finally:
            self._waiting.pop(waiting, None)

    def _raise(self, check: asyncio.Task[None]) -> None:
        """Raise a bug in every fetch that would otherwise wait for ever."""
        bug = None if check.cancelled() else check.exception()
        for waiting in self._waiting if bug else ():
            if bug and not waiting.done():
                waiting.set_exception(bug)

    def _tell(self, is_own: bool, failures: frozenset[str], most: int | None = None) -> None:
        told = [each for each, failure in self._waiting.items() if failure in failures]
        for waiting in told[:most]:
            del self._waiting[waiting]
            if not waiting.done():
                waiting.set_result(is_own)

    async def _find_out(self) -> None:
        """Find out whether the network is down; if so, wait until it is back."""
        told = asyncio.get_running_loop().call_later(_SILENCE, self._say_that_it_checks)
        try:
            await self._gather()
            is_down = await self._no_site_answers()
        finally:
            told.cancel()
        if not is_down:
            if self._waiting:
                self._settle(False)
            return
        self._down_since = self._clock()
        _log.warning(
            "no host answers any more (%s): this machine's network seems to be down; waiting until"
            " it is back",
            self._failures(),
        )
        for pause in _pauses():
            await self._sleep(pause)
            self._tell(True, _ANY, 1)  # one fetch may try: all known sites may be gone for good
            sites = self._sites.in_order(self._failed)
            if sites and await self._answers(sites[0]):
                break
        self._settle(True)

    def _say_that_it_checks(self) -> None:
        if not self._failed:  # others have answered meanwhile
            return
        _log.warning(
            "no host has answered for a while (%s): checking whether this machine's network is"
            " down",
            self._failures(),
        )

    def _failures(self) -> str:
        """Some of the hosts that failed since the last answer, and how."""
        named = [f"{host}: {failure}" for host, failure in self._failed.items()][:_NAMED]
        more = len(self._failed) - len(named)
        return ", ".join(named) + (f" and {more} more" if more else "")

    async def _gather(self) -> None:
        """Let running fetches end before a site is probed."""
        for _ in range(_LOOKS):
            if not self._waiting or not self._under_way or len(self._failed) >= self._many:
                return
            await self._sleep(_LOOK)

    async def _no_site_answers(self) -> bool:
        """Whether none of a few sites answers; False as well when too few are known."""
        if len({*self._failed} | self._sites.hosts()) < _FEWEST:
            return False
        for origin in self._sites.in_order(self._failed)[:_PROBED]:
            if not self._waiting or await self._answers(origin):
                return False
        return bool(self._waiting) and len(self._failed) >= _FEWEST

    async def _answers(self, origin: str) -> bool:
        response, host = await self._sites.probe(origin), host_of(origin)
        if response.status:
            self._failed.pop(host, None)
            return True
        why = response.failure if response.failure in SUSPECT else "timeout"
        self._failed.setdefault(host, why)
        return False

    def _settle(self, is_own: bool) -> None:
        """End a check or an outage: every waiting fetch is repeated, or has failed."""
        now = self._clock()
        if self._down_since is None:
            self._trusted_until = now + _TRUSTED
        else:
            _log.warning("the network is back after %.0f s", now - self._down_since)
            self._lost += now - self._down_since
            self._down_since = None
            self._outages += 1
        self._sites.drop(self._failed)  # until they answer again
        self._failed.clear()
        self._tell(is_own, _ANY)
        if self._check is not None and self._check is not asyncio.current_task():
            self._check.cancel()
        self._check = None


def _pauses() -> Iterator[float]:
    pause = 1.0
    while True:
        yield pause
        pause = min(2.0 * pause, _LONGEST)


class DescriptorLimit:
    """Limits fetches at once to the free file descriptors; repeats those that found none."""

    def __init__(self, fetcher: Connecting, sleep: Sleep = asyncio.sleep) -> None:
        self._fetcher = fetcher
        self._sleep = sleep
        self._places: asyncio.Semaphore | None = None
        self._waiting = 0  # fetches that found no free descriptor

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """Fetch a link as soon as there is a descriptor for it."""
        async with self._places or self._open():
            response = await self._fetcher.fetch(link, terms)
            if response.failure == TOO_MANY_FILES:
                response = await self._again(link, terms)
        return response

    @property
    def names(self) -> int:
        """How many host names were looked up and found."""
        return self._fetcher.names

    def forget(self, host: str) -> None:
        """Look a host's name up again the next time."""
        self._fetcher.forget(host)

    async def close(self) -> None:
        """Close the inner fetcher."""
        await self._fetcher.close()

    def _open(self) -> asyncio.Semaphore:
        most = connections_at_once()
        # as many again may be kept alive between requests
        at_once = max(1, most // 2)
        self._fetcher.keep_open(at_once)
        if most < WANTED // 4:
            _log.warning(
                "few files can be open at once: at most %d connections (see 'ulimit -n')", at_once
            )
        self._places = asyncio.Semaphore(at_once)
        return self._places

    async def _again(self, link: Link, terms: Terms | None) -> Response:
        """Repeat a request until there is a descriptor for it."""
        if not self._waiting:
            _log.warning("too many files are open: waiting until some are closed")
        self._waiting += 1
        pause = 0.1
        try:
            while True:
                await self._sleep(pause)
                response = await self._fetcher.fetch(link, terms)
                if response.failure != TOO_MANY_FILES:
                    return response
                pause = min(2.0 * pause, _LONGEST_RETRY)
        finally:
            self._waiting -= 1


def connections_at_once() -> int:
    """How many connections can be open; raises the soft limit as far as needed."""
    return max(1, _file_limit() - _open_files() - _RESERVED)


def _file_limit() -> int:
    """How many files can be open, up to the number that a crawl can use."""
    try:
        import resource  # noqa: PLC0415 Windows has no such limits
    except ImportError:
        return WANTED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return WANTED if soft == resource.RLIM_INFINITY else min(soft, WANTED)


def _open_files() -> int:
    try:
        return len(list(Path("/proc/self/fd").iterdir()))
    except OSError:  # another system
        return 40
