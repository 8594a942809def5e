"""Requests through a proxy: HTTP (RFC 9110, 9.3.6), or SOCKS5 with names looked up by the proxy."""

import asyncio
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote, urlsplit

from aiohttp.abc import AbstractResolver, ResolveResult

from honeyguide.errors import HoneyguideError
from honeyguide.web.connections import Found, is_public

SCHEMES = {"http": 80, "socks5": 1080, "socks5h": 1080}  # with their default ports
# endings of names that belong to a network of one's own
LOCAL_NAMES = ("localhost", "local", "internal", "intranet", "lan", "home.arpa")
_VERSION, _CONNECT, _NAME = 5, 1, 3  # RFC 1928
_NO_LOGIN, _LOGIN = 0, 2
_LENGTHS = {1: 4, 4: 16}  # bytes of an address, by its type
_REPLIES = {2: "not allowed", 3: "network unreachable", 4: "host unreachable", 5: "refused"}


class ProxyError(OSError):
    """The proxy did not open a connection."""


class ProxyLoginError(ProxyError):
    """The proxy wants a name and a password, or others."""


class NoProxyError(ProxyError):
    """The proxy does not answer."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """Where a proxy is, and how to log in there."""

    scheme: str
    host: str
    port: int
    login: tuple[str, str] | None = None  # name and password

    @property
    def is_socks(self) -> bool:
        """Whether it speaks SOCKS5, else HTTP."""
        return self.scheme != "http"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def parse_proxy(said: str) -> Proxy:
    """Read http://NAME:PASSWORD@HOST:PORT, socks5://HOST:PORT or HOST:PORT, which is HTTP."""
    try:
        parts = urlsplit(said if "://" in said else f"http://{said}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
        parts = urlsplit("")
    if not host or parts.scheme not in SCHEMES or parts.path.strip("/") or parts.query:
        shown = said.rpartition("@")[2]  # never a password in a message
        raise HoneyguideError(f"{shown!r} is no proxy: say http://HOST:PORT or socks5://HOST:PORT")
    login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    return Proxy(parts.scheme, host, port or SCHEMES[parts.scheme], login)


class ProxiedNames(AbstractResolver):
    """Leaves names to the proxy; refuses what can be told to be private without looking it up."""

    def __init__(self, proxy: Proxy, allow_private: bool = False) -> None:
        self._proxy = proxy
        self._allow_private = allow_private
        self.names = 0  # looked up by this process

    async def find(self, host: str) -> Found:
        """No address is known: one is refused only if it is written in the URL."""
        is_refused = not self._allow_private and _is_private(host)
        return Found(failure="private address" if is_refused else "")

    def forget(self, host: str) -> None:
        """Do nothing: the proxy looks names up."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Look up the proxy itself; other names are handed on as they are."""
        if host != self._proxy.host:
            return [_result(host, host, port, socket.AF_INET)]
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return [_result(host, str(info[4][0]), port, info[0]) for info in found]

    def open_socket(self, info: tuple[Any, Any, int, str, tuple[Any, ...]]) -> socket.socket:
        """Open a socket to the proxy, wherever that is."""
        family, kind, protocol, _, _ = info
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        """Do nothing."""


def _result(host: str, address: str, port: int, family: socket.AddressFamily) -> ResolveResult:
    return ResolveResult(
        hostname=host, host=address, port=port, family=family, proto=0, flags=socket.AI_NUMERICHOST
    )


def _is_private(host: str) -> bool:
    """Whether a host is a private address, or a name that only a network of one's own knows."""
    try:
        return not is_public(str(ip_address(host)))
    except ValueError:
        return "." not in host or host.endswith(tuple(f".{name}" for name in LOCAL_NAMES))


async def socks_connect(
    proxy: Proxy,
    host: str,
    port: int,
    open_socket: Callable[[Any], socket.socket],
) -> socket.socket:
    """A connection to a host through a SOCKS5 proxy, which looks the name up (RFC 1928, 1929)."""
    opened = await _reach(proxy, open_socket)
    try:
        await _greet(opened, proxy.login)
        await _ask(opened, host, port)
    except BaseException:
        opened.close()
        raise
    return opened


async def _reach(proxy: Proxy, open_socket: Callable[[Any], socket.socket]) -> socket.socket:
    loop = asyncio.get_running_loop()
    try:
        info = (await loop.getaddrinfo(proxy.host, proxy.port, type=socket.SOCK_STREAM))[0]
        opened = open_socket(info)
        opened.setblocking(False)
    except socket.gaierror as error:
        raise NoProxyError(str(error)) from None
    try:
        await loop.sock_connect(opened, info[4])
    except BaseException as error:
        opened.close()
        if isinstance(error, OSError) and not isinstance(error, TimeoutError):
            raise NoProxyError(str(error)) from None
        raise
    return opened


async def _greet(opened: socket.socket, login: tuple[str, str] | None) -> None:
    loop = asyncio.get_running_loop()
    method = _LOGIN if login else _NO_LOGIN
    await loop.sock_sendall(opened, bytes((_VERSION, 1, method)))
    if await _read(opened, 2) != bytes((_VERSION, method)):
        raise ProxyLoginError("the proxy refuses the way to log in")
    if login:
        name, password = (each.encode()[:255] for each in login)
        said = bytes((1, len(name))) + name + bytes((len(password),)) + password
        await loop.sock_sendall(opened, said)
        if (await _read(opened, 2))[1] != 0:
            raise ProxyLoginError("the proxy refuses the name or password")


async def _ask(opened: socket.socket, host: str, port: int) -> None:
    loop = asyncio.get_running_loop()
    name = host.encode("idna") if not host.isascii() else host.encode()
    head = bytes((_VERSION, _CONNECT, 0, _NAME, len(name)))
    await loop.sock_sendall(opened, head + name + struct.pack("!H", port))
    _, reply, _, kind = await _read(opened, 4)
    if reply:
        raise ProxyError(f"the proxy says: {_REPLIES.get(reply, f'error {reply}')}")
    length = _LENGTHS.get(kind) or (await _read(opened, 1))[0]
    await _read(opened, length + 2)  # the address that the proxy uses


async def _read(opened: socket.socket, count: int) -> bytes:
    """Exactly so many bytes."""
    loop = asyncio.get_running_loop()
    read = b""
    while len(read) < count:
        piece = await loop.sock_recv(opened, count - len(read))
        if not piece:
            raise ProxyError("the proxy closed the connection")
        read += piece
    return read
