"""Shortages of file descriptors: foreseen, waited out, and held against nobody."""

import asyncio
import logging
from pathlib import Path
from typing import Protocol

from honeyguide.contracts import Link, Response
from honeyguide.web.addresses import TOO_MANY_FILES
from honeyguide.web.fetch_limits import Terms
from honeyguide.web.reachability import Network, Sleep

WANTED = 1_000  # descriptors that a crawl can make use of
_RESERVED = 20  # for the database, archives, snapshots and a process that reads pages
_LONGEST = 5.0  # seconds between two tries

_log = logging.getLogger(__name__)


def connections_at_once() -> int:
    """How many connections can be open, after the soft limit was raised as far as needed."""
    return max(1, _file_limit() - _open_files() - _RESERVED)


def _file_limit() -> int:
    """How many files can be open, as far as a crawl can make use of them."""
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


class Connecting(Network, Protocol):
    """A fetcher that keeps connections open for a next request."""

    def keep_open(self, connections: int) -> None:
        """Keep no more connections than this for a next request."""
        ...


class Shortage:
    """Asks another fetcher for no more at once than files can be open, and again if some fail."""

    def __init__(self, fetcher: Connecting, sleep: Sleep = asyncio.sleep) -> None:
        self._fetcher = fetcher
        self._sleep = sleep
        self._places: asyncio.Semaphore | None = None
        self._waiting = 0  # fetches that failed for want of a descriptor

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """Bring what a link points to, as soon as there is a descriptor for it."""
        async with self._places or self._open():
            response = await self._fetcher.fetch(link, terms)
            if response.failure == TOO_MANY_FILES:
                response = await self._again(link, terms)
        return response

    @property
    def names(self) -> int:
        """How many names were looked up and found."""
        return self._fetcher.names

    def forget(self, host: str) -> None:
        """Look a name up anew when it is next asked for."""
        self._fetcher.forget(host)

    async def close(self) -> None:
        """Close the other fetcher."""
        await self._fetcher.close()

    def _open(self) -> asyncio.Semaphore:
        most = connections_at_once()
        # as many again may be kept open for a next request
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
                pause = min(2.0 * pause, _LONGEST)
        finally:
            self._waiting -= 1
