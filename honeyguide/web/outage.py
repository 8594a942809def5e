"""Outages of the crawler's own network: recognised, waited out, and held against nobody."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator

from honeyguide.contracts import Link, Response
from honeyguide.web.fetch_limits import Terms
from honeyguide.web.reachability import Network, Sleep, Witnesses
from honeyguide.web.request_url import host_of, target

# What a fetch ends with when no packet comes through; a link can be to blame for each of them.
SUSPECT = frozenset(
    {"timeout", "connection refused", "connection reset", "unreachable", "dns", "truncated"}
)
_ANY = SUSPECT | {""}  # also what was not yet asked for
_FEWEST = 3  # different hosts that fail when the network is away; two may be one server
_ASKED = 3  # witnesses, before the network is taken for away
_TRUSTED = 60.0  # seconds that a network which was found well is not doubted for a few failures
_LONGEST = 60.0  # seconds between two questions whether it is back
_LOOKS, _LOOK = 40, 0.25  # how often, and seconds between, until others are waited for no more

_log = logging.getLogger(__name__)


class Outage:
    """Asks another fetcher; what fails while the network is away waits here and is repeated."""

    def __init__(
        self,
        fetcher: Network,
        witnesses: Witnesses,
        many: int = 8,  # different hosts that fail in a row, until the network is doubted at once
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._fetcher = fetcher
        self._witnesses = witnesses
        self._many = many
        self._clock = clock
        self._sleep = sleep
        self._failed: dict[str, str] = {}  # by host; nothing has been heard since
        self._waiting: dict[asyncio.Future[bool], str] = {}  # to know whose fault a failure is
        self._names = 0  # found when a look-up last failed
        self._under_way = 0  # fetches that may yet be answered
        self._trusted_until = 0.0
        self._away_since: float | None = None
        self._lost = 0.0  # seconds that the network was away
        self._outages = 0
        self._doubt: asyncio.Task[None] | None = None

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """Bring what a link points to, when there is a network to bring it."""
        place = target(link.url)
        if isinstance(place, str):
            return Response(link, link.url, 0, failure=place)
        if self._away_since is not None:
            await self._verdict("")
            self._fetcher.forget(place.host)
        while True:
            before = self._outages
            response = await self._ask(link, terms)
            if response.failure not in SUSPECT:
                self._hear(place.origin, response.status)
                return response
            # what began in an outage may fail after its end
            if before == self._outages and not await self._is_ours(place.host, response.failure):
                return response
            await self._witnesses.prepare(place.origin)

    def clock(self) -> float:
        """Seconds, without those that the network was away."""
        now = self._clock() if self._away_since is None else self._away_since
        return now - self._lost

    async def close(self) -> None:
        """Close the other fetcher, and wait for no network; whoever still waits is cancelled."""
        if self._doubt is not None:
            self._doubt.cancel()
            await asyncio.gather(self._doubt, return_exceptions=True)
        for waiting in self._waiting:
            waiting.cancel()
        await self._fetcher.close()

    async def _ask(self, link: Link, terms: Terms | None) -> Response:
        self._under_way += 1
        try:
            return await self._fetcher.fetch(link, terms)
        finally:
            self._under_way -= 1

    def _hear(self, origin: str, status: int) -> None:
        """An answer clears the network of failures; of missing names, only one that was found."""
        if not status:
            return
        self._witnesses.hear(origin, status)
        cleared = SUSPECT if self._fetcher.names != self._names else SUSPECT - {"dns"}
        self._failed = {host: why for host, why in self._failed.items() if why not in cleared}
        if self._away_since is None:
            self._tell(False, cleared)
        elif not self._failed:
            self._settle(True)

    async def _is_ours(self, host: str, failure: str) -> bool:
        """Whether our network is to blame for a failure, once that is known."""
        is_away = self._away_since is not None
        if not is_away and not self._witnesses.hosts():  # nobody ever answered
            return False
        self._failed[host] = failure
        if failure == "dns":
            self._names = self._fetcher.names
        return (is_away or not self._is_trusted(failure)) and await self._verdict(failure)

    def _is_trusted(self, failure: str) -> bool:
        """Whether it was found well a moment ago, and nobody else will tell soon."""
        is_well = self._clock() < self._trusted_until and len(self._failed) < self._many
        return is_well and (failure == "dns" or not self._under_way)

    async def _verdict(self, failure: str) -> bool:
        waiting: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting[waiting] = failure
        if self._doubt is None or self._doubt.done():
            self._doubt = asyncio.create_task(self._find_out())
            self._doubt.add_done_callback(self._raise)
        try:
            return await waiting
        finally:
            self._waiting.pop(waiting, None)

    def _raise(self, doubt: asyncio.Task[None]) -> None:
        """Let a bug be seen by whoever would wait for ever."""
        bug = None if doubt.cancelled() else doubt.exception()
        for waiting in self._waiting if bug else ():
            if bug and not waiting.done():
                waiting.set_exception(bug)

    def _tell(self, is_ours: bool, failures: frozenset[str], most: int | None = None) -> None:
        told = [each for each, failure in self._waiting.items() if failure in failures]
        for waiting in told[:most]:
            del self._waiting[waiting]
            if not waiting.done():
                waiting.set_result(is_ours)

    async def _find_out(self) -> None:
        """Find out whether links or the network are to blame; if it is, wait until it is back."""
        await self._gather()
        if not await self._nobody_answers():
            if self._waiting:
                self._settle(False)
            return
        self._away_since = self._clock()
        _log.warning("no host answers any more: waiting for the network")
        for pause in _pauses():
            await self._sleep(pause)
            self._tell(True, _ANY, 1)  # one may try: all witnesses can be gone for good
            witnesses = self._witnesses.in_turn(self._failed)
            if witnesses and await self._answers(witnesses[0]):
                break
        self._settle(True)

    async def _gather(self) -> None:
        """Let others answer, or fail too, before anybody is asked."""
        for _ in range(_LOOKS):
            if not self._waiting or not self._under_way or len(self._failed) >= self._many:
                return
            await self._sleep(_LOOK)

    async def _nobody_answers(self) -> bool:
        """Whether none of a few witnesses answers; false as well when too few are known to tell."""
        if len({*self._failed} | self._witnesses.hosts()) < _FEWEST:
            return False
        for origin in self._witnesses.in_turn(self._failed)[:_ASKED]:
            if not self._waiting or await self._answers(origin):
                return False
        return bool(self._waiting) and len(self._failed) >= _FEWEST

    async def _answers(self, origin: str) -> bool:
        response, host = await self._witnesses.ask(origin), host_of(origin)
        if response.status:
            self._failed.pop(host, None)
            return True
        why = response.failure if response.failure in SUSPECT else "timeout"
        self._failed.setdefault(host, why)
        return False

    def _settle(self, is_ours: bool) -> None:
        """End a doubt or an outage: all that waits is repeated, or has failed."""
        now = self._clock()
        if self._away_since is None:
            self._trusted_until = now + _TRUSTED
        else:
            _log.warning("the network is back after %.0f s", now - self._away_since)
            self._lost += now - self._away_since
            self._away_since = None
            self._outages += 1
        self._witnesses.drop(self._failed)  # until they answer again, as all who are there will
        self._failed.clear()
        self._tell(is_ours, _ANY)
        if self._doubt is not None and self._doubt is not asyncio.current_task():
            self._doubt.cancel()
        self._doubt = None


def _pauses() -> Iterator[float]:
    pause = 1.0
    while True:
        yield pause
        pause = min(2.0 * pause, _LONGEST)
