"""Which addresses a crawl may connect to, and the resolver that enforces it."""

import asyncio
import errno
import os
import socket
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

# IANA's registry of special-purpose IPv4 addresses, multicast, and one cloud's metadata address
# that looks public.
_SPECIAL_4 = tuple(
    map(
        IPv4Network,
        "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24"
        " 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24"
        " 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32".split(),
    )
)
_UNICAST_6 = IPv6Network("2000::/3")  # all that IANA hands out for the public internet
_SPECIAL_6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
_NAT64 = IPv6Network("64:ff9b::/96")

TOO_MANY_FILES = "too many open files"  # the failure of a machine at its limit
_CAPACITY = 100_000  # hosts whose addresses are remembered
_LIFETIME = 600.0  # seconds that addresses are remembered
_FAILURE_LIFETIME = 60.0  # seconds that the lack of an address is remembered
_TRIED = 4  # addresses of a host that may be connected to
_THREADS = 32  # look-ups at once


@lru_cache(maxsize=1 << 14)
def is_public(address: str) -> bool:
    """Whether an IP address is globally routable, whatever form it hides in."""
    ip = ip_address(address)
    if isinstance(ip, IPv4Address):
        return not any(ip in network for network in _SPECIAL_4)
    inner = ip.ipv4_mapped or ip.sixtofour
    if inner is None and ip in _NAT64:
        inner = IPv4Address(int(ip) & 0xFFFFFFFF)
    if inner is not None:
        return is_public(str(inner))
    return ip in _UNICAST_6 and not any(ip in network for network in _SPECIAL_6)


@dataclass(frozen=True, slots=True)
class Found:
    """The addresses of a host that may be connected to, or why there are none."""

    addresses: tuple[str, ...] = ()
    port: int = 0  # 0: the port that the URL names
    failure: str = ""
    until: float = 0.0  # by the loop's clock

    @property
    def servers(self) -> tuple[str, ...]:
        """The addresses in one order, however the answer was shuffled."""
        return tuple(sorted(self.addresses))


class PrivateAddressError(OSError):
    """A connection to an address that is not globally routable was refused."""


class Resolver(AbstractResolver):
    """Host names to addresses that may be connected to, and sockets to nothing else."""

    def __init__(
        self,
        allow_private: bool = False,
        hosts: Mapping[str, tuple[str, int]] | None = None,  # name -> address and port
        timeout: float = 10.0,  # seconds for one look-up
    ) -> None:
        self._allow_private = allow_private
        self._hosts = hosts or {}
        self._timeout = timeout
        self.names = 0  # that the system was asked for, and knew
        self._known: dict[str, Found] = {}
        self._pending: dict[str, asyncio.Task[Found]] = {}
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="dns")
        self._free = asyncio.Semaphore(_THREADS)  # a look-up that timed out holds its thread

    async def find(self, host: str) -> Found:
        """The addresses of a host; one look-up serves all who ask at once."""
        found = self._known.get(host)
        if found and found.until > asyncio.get_running_loop().time():
            return found
        task = self._pending.get(host)
        if task is None:
            task = self._pending[host] = asyncio.create_task(self._look_up(host))
        return await asyncio.shield(task)

    def forget(self, host: str) -> None:
        """Look a host up anew when it is next asked for."""
        self._known.pop(host, None)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Answer the connector: only addresses that passed."""
        found = await self.find(host)
        if found.failure == "dns":
            raise socket.gaierror(socket.EAI_NONAME, host)
        if found.failure:
            raise PrivateAddressError(f"{host} has no globally routable address")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=found.port or port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in found.addresses
        ]

    def open_socket(self, info: tuple[Any, Any, int, str, tuple[Any, ...]]) -> socket.socket:
        """Make the socket for one connection: the last look at the very address it goes to."""
        family, kind, protocol, _, address = info
        if not self._may_reach(address[0]):
            raise PrivateAddressError(f"{address[0]} is not globally routable")
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        """Forget everything and let go of the threads."""
        for task in self._pending.values():
            task.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _look_up(self, host: str) -> Found:
        loop = asyncio.get_running_loop()
        try:
            addresses, port = await self._addresses(host)
            allowed = tuple(filter(self._may_reach, addresses))[:_TRIED]
            failure = "" if allowed else "private address"
        except (OSError, UnicodeError):  # gaierror and timeouts are OSErrors
            allowed, port = (), 0
            failure = TOO_MANY_FILES if _is_short_of_files() else "dns"
        finally:
            del self._pending[host]
        if failure == TOO_MANY_FILES:  # which says nothing of the host
            return Found(failure=failure)
        until = loop.time() + (_FAILURE_LIFETIME if failure else _LIFETIME)
        if len(self._known) >= _CAPACITY:
            del self._known[next(iter(self._known))]
        found = self._known[host] = Found(allowed, port, failure, until)
        return found

    async def _addresses(self, host: str) -> tuple[list[str], int]:
        if host in self._hosts:
            address, port = self._hosts[host]
            return [address], port
        try:
            return [str(ip_address(host))], 0
        except ValueError:
            pass
        loop = asyncio.get_running_loop()
        await self._free.acquire()  # the time to wait for a thread says nothing of the host
        asked = loop.run_in_executor(self._threads, _ask_system, host)
        asked.add_done_callback(self._answered)
        async with asyncio.timeout(self._timeout):
            infos = await asyncio.shield(asked)
        self.names += 1
        return list(dict.fromkeys(infos)), 0

    def _answered(self, asked: "asyncio.Future[list[str]]") -> None:
        self._free.release()
        if not asked.cancelled():
            asked.exception()  # too late for anybody to want it

    def _may_reach(self, address: str) -> bool:
        return self._allow_private or is_public(address)


def _is_short_of_files() -> bool:
    """Whether no file can be opened now: a look-up that fails for that does not say so."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    return False


def _ask_system(host: str) -> list[str]:
    flags = socket.AI_ADDRCONFIG  # no IPv6 addresses on a machine that has none itself
    return [
        str(info[4][0]) for info in socket.getaddrinfo(host, None, 0, socket.SOCK_STREAM, 0, flags)
    ]
