"""Sites that answered lately, and can be asked whether the network is there."""

import asyncio
from collections.abc import Awaitable, Callable, Container
from typing import Protocol

from honeyguide.contracts import Link, Response
from honeyguide.web.fetch_limits import ANYTHING, Terms, WebFetcher
from honeyguide.web.request_url import host_of, origin_of

Sleep = Callable[[float], Awaitable[object]]
_REMEMBERED = 64  # sites
_PATIENCE = 60.0  # seconds, for the rest of a host
_TERMS = Terms(ANYTHING, 0, 0, cut=True)  # that there is an answer is all that is wanted


class Network(WebFetcher, Protocol):
    """A fetcher that looks up names and remembers them."""

    @property
    def names(self) -> int:
        """How many names were looked up and found."""
        ...

    def forget(self, host: str) -> None:
        """Look a name up anew when it is next asked for."""
        ...


class Witnesses:
    """Remembers who answered, and asks them for robots.txt when they have had their rest."""

    def __init__(
        self,
        fetcher: Network,
        wait: Callable[[str], float] = lambda host: 0.0,  # seconds until it may be asked
        asked: Callable[[str], None] = lambda url: None,  # told of a host that will be
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._fetcher = fetcher
        self._wait = wait
        self._asked = asked
        self._sleep = sleep
        self._known: dict[str, None] = {}  # origins, heard of longest ago first

    def hosts(self) -> set[str]:
        """All that are remembered."""
        return set(map(host_of, self._known))

    def hear(self, origin: str, status: int) -> None:
        """Remember who answered, unless it asks to be left alone."""
        self._known.pop(origin, None)
        if status < 500 and status != 429:
            self._remember(origin)

    def drop(self, hosts: Container[str]) -> None:
        """Forget those of these hosts."""
        self._known = {each: None for each in self._known if host_of(each) not in hosts}

    def recall(self, host: str) -> None:
        """Remember who answered before a crawl was resumed."""
        self._remember(origin_of(host))

    def in_turn(self, failed: Container[str]) -> list[str]:
        """Their origins: first those that have not failed and may be asked now."""

        def hindered(origin: str) -> tuple[bool, bool]:
            host = host_of(origin)
            return host in failed, self._wait(host) > 0

        return sorted(self._known, key=hindered)

    async def ask(self, origin: str) -> Response:
        """Ask one of them, who is the last to be asked again."""
        self._remember(origin)
        await self.prepare(origin)
        response = await self._fetcher.fetch(Link(f"{origin}/robots.txt"), _TERMS)
        if response.status:
            self.hear(origin, response.status)
        return response

    async def prepare(self, origin: str) -> None:
        """Let a host have its rest, and its name be looked up anew, before it is asked again."""
        host = host_of(origin)
        if (wait := self._wait(host)) > 0:
            await self._sleep(min(wait, _PATIENCE))
        self._asked(origin)
        self._fetcher.forget(host)

    def _remember(self, origin: str) -> None:
        self._known.pop(origin, None)
        self._known[origin] = None
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]
