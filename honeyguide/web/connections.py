"""Connections: which addresses they may go to, and how much a server may send around a body."""

import asyncio
import errno
import functools
import os
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.helpers import set_exception
from aiohttp.http import RawResponseMessage
from aiohttp.http_exceptions import BadHttpMessage
from aiohttp.streams import StreamReader

from honeyguide.errors import HoneyguideError

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

TOO_MANY_FILES = "too many open files"  # the failure of a machine without free descriptors
_CAPACITY = 100_000  # hosts whose addresses are remembered
_LIFETIME = 600.0  # seconds that addresses are remembered
_FAILURE_LIFETIME = 60.0  # seconds that the lack of an address is remembered
_TRIED = 4  # addresses of a host that may be connected to
_THREADS = 32  # look-ups at once

MAX_INTERIM = 32  # responses such as "100 Continue" before the final one
MAX_HEAD = 256 * 1024  # bytes before the body, interim responses included
# bytes of chunk sizes and extensions, besides twice as many as the body has
MAX_FRAMING = 64 * 1024
_SLICE = 8 * 1024  # bytes parsed before the limits are looked at


@lru_cache(maxsize=1 << 14)
def is_public(address: str) -> bool:
    """Whether an IP address is globally routable; an IPv4 address inside an IPv6 one counts."""
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
    """The addresses of a host that may be connected to, or the failure."""

    addresses: tuple[str, ...] = ()
    port: int = 0  # 0: the port that the URL names
    failure: str = ""
    until: float = 0.0  # by the loop's clock

    @property
    def servers(self) -> tuple[str, ...]:
        """The addresses, sorted."""
        return tuple(sorted(self.addresses))


class PrivateAddressError(OSError):
    """A connection to an address that is not globally routable was refused."""


class Resolver(AbstractResolver):
    """Looks up host names, and opens sockets to allowed addresses only."""

    def __init__(
        self,
        allow_private: bool = False,
        hosts: Mapping[str, tuple[str, int]] | None = None,  # name -> address and port
        timeout: float = 10.0,  # seconds for one look-up
    ) -> None:
        self._allow_private = allow_private
        self._hosts = hosts or {}
        self._timeout = timeout
        self.names = 0  # look-ups that found an address
        self._known: dict[str, Found] = {}
        self._pending: dict[str, asyncio.Task[Found]] = {}
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="dns")
        self._free = asyncio.Semaphore(_THREADS)  # a look-up that timed out holds its thread

    async def find(self, host: str) -> Found:
        """The addresses of a host; concurrent calls share one look-up."""
        found = self._known.get(host)
        if found and found.until > asyncio.get_running_loop().time():
            return found
        task = self._pending.get(host)
        if task is None:
            task = self._pending[host] = asyncio.create_task(self._look_up(host))
        return await asyncio.shield(task)

    def forget(self, host: str) -> None:
        """Look a host up again the next time."""
        self._known.pop(host, None)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Answer the connector with allowed addresses only."""
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
        """Open the socket for one connection, after a last check of the very address it goes to."""
        family, kind, protocol, _, address = info
        if not self._may_reach(address[0]):
            raise PrivateAddressError(f"{address[0]} is not globally routable")
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        """Cancel pending look-ups and end the threads."""
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
        if failure == TOO_MANY_FILES:  # it says nothing about the host, so it is not remembered
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
        await self._free.acquire()  # the wait for a thread does not count against the timeout
        asked = loop.run_in_executor(self._threads, _ask_system, host)
        asked.add_done_callback(self._answered)
        async with asyncio.timeout(self._timeout):
            infos = await asyncio.shield(asked)
        self.names += 1
        return list(dict.fromkeys(infos)), 0

    def _answered(self, asked: "asyncio.Future[list[str]]") -> None:
        self._free.release()
        if not asked.cancelled():
            asked.exception()  # retrieved, so that asyncio does not report it

    def _may_reach(self, address: str) -> bool:
        return self._allow_private or is_public(address)


def _is_short_of_files() -> bool:
    """Whether no file can be opened now: a look-up does not say when it fails for this reason."""
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


class FixedAddresses(Mapping[str, tuple[str, int]]):
    """Addresses of hosts that are not looked up: "NAME=ADDRESS:PORT,..."; * is any name."""

    def __init__(self, said: str) -> None:
        self._places: dict[str, tuple[str, int]] = {}
        for piece in said.split(","):
            name, equals, place = piece.partition("=")
            address, colon, port = place.rpartition(":")
            is_port = port.isascii() and port.isdigit() and len(port) <= 5 and int(port) < 1 << 16
            if not (name and equals and address and colon and is_port):
                raise HoneyguideError(f"{piece!r} is not of the form NAME=ADDRESS:PORT")
            self._places[name] = address.strip("[]"), int(port)

    def __getitem__(self, name: str) -> tuple[str, int]:
        return self._places.get(name) or self._places["*"]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class BoundedConnector(aiohttp.TCPConnector):
    """Opens connections that bound interim responses, headers and chunk framing."""

    def __init__(
        self,
        is_crowded: Callable[[], bool],  # whether connections are closed after each response
        connect: Callable[[str, int], Awaitable[socket.socket]] | None = None,  # None: directly
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self._is_crowded = is_crowded
        self._connect = connect
        loop = asyncio.get_running_loop()
        self._factory = functools.partial(BoundedProtocol, loop=loop)  # type: ignore[assignment]

    def _release(self, key: Any, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        """Keep a connection alive, or close it when too many are open."""
        super()._release(key, protocol, should_close=should_close or self._is_crowded())

    async def _wrap_create_connection(
        self, *args: Any, addr_infos: Any, req: Any, **settings: Any
    ) -> Any:
        """Open a connection: by the function that was given, or directly."""
        if self._connect is None:
            return await super()._wrap_create_connection(
                *args, addr_infos=addr_infos, req=req, **settings
            )
        async with asyncio.timeout(settings["timeout"].sock_connect):
            opened = await self._connect(req.url.raw_host, req.url.port)
        return await self._wrap_existing_connection(*args, req=req, sock=opened, **settings)


class BoundedProtocol(ResponseHandler):
    """Parses one response a request; fails one with too much besides its body."""

    _interim = _final = 0  # responses
    _received = 0  # bytes, of the head and then of the body
    _body: StreamReader | None = None  # of the final response, once its head was read

    def set_response_params(self, **settings: Any) -> None:
        """Reset the counters before the next response."""
        self._interim = self._final = self._received = 0
        self._body = None
        super().set_response_params(**settings)

    def data_received(self, data: bytes) -> None:
        """Parse slice by slice, until a limit is exceeded."""
        if not data:
            super().data_received(data)
        while data:
            size = _SLICE if self._body is None else 4 * _SLICE
            piece, data = data[:size], data[size:]
            self._received += len(piece)
            super().data_received(piece)
            if self._exception is not None or self._is_over():
                return
        if self._interim and self._body is None:
            self.start_timeout()  # an interim response has ended the wait for this one

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """Hand on the final response; interim ones are counted and dropped (RFC 9110, 15.2)."""
        message, payload = data
        if 100 <= message.code < 200 and message.code != 101:
            self._interim += 1
            return
        self._final += 1
        self._received = 0
        self._body = payload
        super().feed_data(data, size)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Fail a body that a reset cut short, also one of unknown length."""
        body = self._payload
        if isinstance(exc, ConnectionError) and body is not None and not body.is_eof():
            set_exception(body, aiohttp.ClientPayloadError(repr(exc)), exc)
        super().connection_lost(exc)

    def _is_over(self) -> bool:
        """Whether a limit is exceeded; fails the response if so."""
        reason = self._excess()
        if not reason:
            return False
        error = BadHttpMessage(reason)
        self.set_exception(error)
        if self._payload is not None:
            set_exception(self._payload, aiohttp.ClientPayloadError(f"TransferEncoding: {reason}"))
        if self.transport is not None:
            self.transport.close()
        return True

    def _excess(self) -> str:
        if self._body is None:
            if self._interim > MAX_INTERIM:
                return "too many interim responses"
            return "head too large" if self._received > MAX_HEAD else ""
        if self._final > 1:
            return "more responses than requests"
        # what is not parsed yet, because the reader is behind, is no framing
        framing = 0 if self._reading_paused else self._received - 3 * self._body.total_bytes
        return "more framing than body" if framing > MAX_FRAMING else ""
