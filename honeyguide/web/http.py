"""Requests over HTTP: one at a time, or along redirects; every failure is a response."""

import asyncio
import errno
import re
import socket
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from msgspec import structs
from multidict import CIMultiDictProxy
from yarl import URL

from honeyguide.contracts import Link, Request, Response
from honeyguide.errors import HoneyguideError
from honeyguide.registry import part
from honeyguide.urls.spelling import MAX_LENGTH, Target, as_ascii, follow, host_of, target
from honeyguide.version import VERSION
from honeyguide.web.access import Access, basic
from honeyguide.web.connections import (
    TOO_MANY_FILES,
    BoundedConnector,
    PrivateAddressError,
    Resolver,
)
from honeyguide.web.decoding import decode_apart
from honeyguide.web.fetch_limits import Terms, Timeouts, WebFetcher
from honeyguide.web.host_schedule import Clock, HostSchedule, is_redirect, retry_after
from honeyguide.web.proxies import (
    NoProxyError,
    ProxiedNames,
    ProxyError,
    ProxyLoginError,
    socks_connect,
)

_ASKED = {
    "Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1",
    "Accept-Encoding": "gzip, deflate, br, zstd",
}
_MAX_HEADERS = 128  # lines
_MAX_HEADER = 32_768  # bytes of one line
_MAX_CONNECTIONS = 400  # open; while there are more, none is kept alive
_KEEP_ALIVE = 15.0  # seconds
_PIECE = 1 << 16  # bytes of a body taken at once
# seconds that a redirect may ask to wait; after longer waits a link is tried later
_LONGEST_WAIT = 60.0

# What a request can raise; timeouts are OSErrors.
_ERRORS = (aiohttp.ClientError, HttpProcessingError, OSError, ValueError)

_BY_ERRNO = {
    errno.ECONNREFUSED: "connection refused",
    errno.ECONNRESET: "connection reset",
    errno.ECONNABORTED: "connection reset",
    errno.EPIPE: "connection reset",
    errno.ETIMEDOUT: "timeout",
    errno.EMFILE: TOO_MANY_FILES,
    errno.ENFILE: TOO_MANY_FILES,
}
# What OpenSSL calls an answer that is no TLS, by its version.
_NOT_TLS = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"})
_BY_TYPE: tuple[tuple[type[BaseException], str], ...] = (
    (TimeoutError, "timeout"),
    (PrivateAddressError, "private address"),
    (socket.gaierror, "dns"),
    (aiohttp.ClientSSLError, "tls"),
    (aiohttp.ServerDisconnectedError, "connection reset"),
    (aiohttp.ClientResponseError, "bad response"),
)


def user_agent(contact: str = "", said: str = "") -> str:
    """The User-Agent header: what the user has said, or the crawler's name and its operator."""
    if said:
        if not (said.isascii() and said.isprintable() and re.search("[A-Za-z]", said)):
            raise HoneyguideError(f"{said!r} is no User-Agent that a header can carry")
        return said.strip()
    product = f"honeyguide/{VERSION}"
    if not contact:
        return product
    if not ("@" in contact or "://" in contact) or not contact.isascii():
        raise HoneyguideError(f"contact must be a web or e-mail address, not {contact!r}")
    if not contact.isprintable() or set(contact) & set("() "):
        raise HoneyguideError(f"contact {contact!r} has characters that a header cannot carry")
    return f"{product} (+{contact})"


def robots_name(user_agent: str) -> str:
    """The name in a User-Agent that rules for crawlers are matched with; empty if there is none.

    It is the last product in a comment that begins with "compatible;", else the first product.
    """
    comment = re.search(r"\(compatible;([^)]*)\)", user_agent, re.IGNORECASE)
    within = re.findall(r"[A-Za-z_-]+(?=/)", comment[1] if comment else "")
    first = re.match(r"[A-Za-z_-]+", user_agent)
    return within[-1] if within else first[0] if first else ""


def asked_with(contact: str, said: str = "") -> dict[str, str]:
    """The headers that every request sends; those with secrets are not among them."""
    return {"User-Agent": user_agent(contact, said), **_ASKED}


@part("fetcher", "http")
class HttpFetcher:
    """Sends one request for a link; redirects are not followed."""

    def __init__(
        self,
        user_agent: str,
        terms: Terms | None = None,
        timeouts: Timeouts | None = None,
        allow_private: bool = False,
        hosts: Mapping[str, tuple[str, int]] | None = None,  # name -> address and port
        schedule: HostSchedule | None = None,  # None: one of its own
        access: Access | None = None,  # None: no secrets, no proxy
    ) -> None:
        self._terms = terms or Terms()
        self._timeouts = timeouts or Timeouts()
        self._access = access or Access()
        self._headers = {"User-Agent": user_agent, **_ASKED, **self._access.harmless}
        self._proxy = self._access.proxy
        self._resolver: Resolver | ProxiedNames = (
            ProxiedNames(self._proxy, allow_private)
            if self._proxy
            else Resolver(allow_private, hosts, self._timeouts.dns)
        )
        self._schedule = schedule or HostSchedule()
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._max_connections = _MAX_CONNECTIONS
        self._session: aiohttp.ClientSession | None = None
        self._observer: Callable[[Request], None] = lambda request: None

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """Request what a link points to; failures are responses."""
        place = target(link.url)
        if isinstance(place, str):
            return Response(link, link.url, 0, failure=place)
        found = await self._resolver.find(place.host)
        if found.failure:
            return Response(link, place.url, 0, failure=found.failure)
        begin = time.monotonic()
        turn = self._schedule.turn(place.host, found.servers, self._timeouts.turn)
        async with turn as entered:
            if not entered:
                return Response(link, place.url, 0, failure="busy")
            response = await self._ask(link, place, terms or self._terms)
            return replace(response, seconds=time.monotonic() - begin)

    def observe(self, observer: Callable[[Request], None]) -> None:
        """Call the observer when a request has ended, however it ended."""
        self._observer = observer

    @property
    def names(self) -> int:
        """How many host names were looked up and found."""
        return self._resolver.names

    def forget(self, host: str) -> None:
        """Look a host's name up again the next time."""
        self._resolver.forget(host)

    def keep_open(self, connections: int) -> None:
        """Keep at most so many connections alive between requests."""
        self._max_connections = min(_MAX_CONNECTIONS, connections)

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None
        await self._resolver.close()

    async def _ask(self, link: Link, place: Target, terms: Terms) -> Response:
        session = self._session or self._open_session()
        status, headers, body, received, failure = 0, {}, b"", 0, "cancelled"
        sent, begin = time.time(), time.monotonic()
        secrets = self._access.secrets_for(place)
        # without TLS there is no tunnel: the proxy reads the request itself
        login = self._proxy_login() if place.url.startswith("http:") else {}
        try:
            answer = await session.get(
                URL(place.url, encoded=True),
                headers=self._extra(terms) | secrets | login,
                allow_redirects=False,
                ssl=self._access.ssl_for(place.host),
                **self._through_proxy(),
            )
            try:
                status, headers = answer.status, _plain(answer.headers)
                if secrets:  # a renewed session is a secret, too
                    headers.pop("set-cookie", None)
                failure = _refusal(status, headers, terms)
                if not failure and _has_page(status, headers, terms):
                    body, failure = await _body(answer.content, headers, terms)
            finally:
                received = answer.content.total_bytes
                answer.close()
        except _ERRORS as error:
            failure = _proxy_failure(error) or _failure_of(error)
        finally:
            seconds = time.monotonic() - begin
            self._observer(_request_of(place, sent, seconds, status, headers, failure, received))
        return Response(link, place.url, status, headers, body, failure, sent=sent)

    def _through_proxy(self) -> dict[str, Any]:
        """What tells aiohttp about an HTTP proxy; the connector knows a SOCKS proxy."""
        if self._proxy is None or self._proxy.is_socks:
            return {}
        return {"proxy": str(self._proxy), "proxy_headers": self._proxy_login()}

    def _proxy_login(self) -> dict[str, str]:
        login = self._proxy.login if self._proxy and not self._proxy.is_socks else None
        return {"Proxy-Authorization": basic(*login)} if login else {}

    def _extra(self, terms: Terms) -> dict[str, str]:
        extra = {}
        if terms.etag:
            extra["If-None-Match"] = terms.etag
        if terms.last_modified:
            extra["If-Modified-Since"] = terms.last_modified
        if self._open_connections() >= self._max_connections:
            extra["Connection"] = "close"
        return extra

    def _open_session(self) -> aiohttp.ClientSession:
        times = self._timeouts
        self._session = aiohttp.ClientSession(
            connector=BoundedConnector(
                self._is_crowded,
                self._connect_by_socks if self._proxy and self._proxy.is_socks else None,
                resolver=self._resolver,
                use_dns_cache=False,
                socket_factory=self._open_socket,
                limit=0,  # visits in flight and the host schedule bound it
                keepalive_timeout=_KEEP_ALIVE,
            ),
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(
                total=times.total,
                connect=times.connect,
                sock_connect=times.connect,
                sock_read=times.read,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            max_line_size=_MAX_HEADER,
            max_field_size=_MAX_HEADER,
            max_headers=_MAX_HEADERS,
        )
        return self._session

    async def _connect_by_socks(self, host: str, port: int) -> socket.socket:
        assert self._proxy is not None  # noqa: S101 it is a SOCKS proxy
        return await socks_connect(self._proxy, host, port, self._open_socket)

    def _is_crowded(self) -> bool:
        return self._open_connections() > self._max_connections

    def _open_connections(self) -> int:
        if len(self._sockets) >= self._max_connections:  # closed ones may wait to be collected
            for closed in [each for each in self._sockets if each.fileno() < 0]:
                self._sockets.discard(closed)
        return len(self._sockets)

    def _open_socket(self, info: Any) -> socket.socket:
        opened = self._resolver.open_socket(info)
        self._sockets.add(opened)
        return opened


class Redirects:
    """Follows redirects; every hop passes all checks of the inner fetcher."""

    def __init__(
        self,
        fetcher: WebFetcher,
        limit: int = 10,
        patience: float = 120.0,
        clock: Clock = time.monotonic,
        schedule: HostSchedule | None = None,  # None: one of its own
        wall_clock: Clock = time.time,  # seconds since 1970
    ) -> None:
        self._fetcher = fetcher
        self._limit = limit
        self._patience = patience  # seconds after which no further hop is begun
        self._clock = clock
        self._schedule = schedule or HostSchedule()
        self._wall_clock = wall_clock

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """Fetch a link and follow redirects, but none whose Retry-After is long."""
        response = await self._fetcher.fetch(link, terms)
        if not is_redirect(response):
            return response
        seen = {response.url}
        deadline = self._clock() + self._patience
        for _ in range(self._limit):
            url = follow(response.url, response.headers["location"])
            if len(url) > MAX_LENGTH:
                return replace(response, link=link, failure="bad url")
            if url in seen:  # without cookies, the answer would be the same again
                break
            if self._clock() >= deadline:
                return replace(response, link=link, failure="timeout")
            if not await self._wait(response, deadline - self._clock()):
                return replace(response, link=link)
            seen.add(url)
            response = await self._fetcher.fetch(structs.replace(link, url=url), terms)
            if not is_redirect(response):
                return replace(response, link=link)
        return replace(response, link=link, failure="too many redirects")

    async def _wait(self, response: Response, seconds_left: float) -> bool:
        """Wait for a redirect's Retry-After (RFC 9110, 10.2.3); False if that is too long."""
        wait = retry_after(response.headers, self._wall_clock()) or 0.0
        if wait > min(seconds_left, _LONGEST_WAIT):
            return False
        if wait:
            self._schedule.hold(host_of(response.url), wait)
            await asyncio.sleep(wait)
        return True

    async def close(self) -> None:
        """Close the inner fetcher."""
        await self._fetcher.close()


def _request_of(
    place: Target,
    sent: float,  # seconds since 1970
    seconds: float,
    status: int,
    headers: Mapping[str, str],
    failure: str,
    received: int,  # bytes of the body, as transferred
) -> Request:
    """The row that is kept of a request."""
    wait = retry_after(headers, sent + seconds) if "retry-after" in headers else None
    is_led_on = 300 <= status < 400 and "location" in headers
    location = follow(place.url, headers["location"]) if is_led_on else ""
    location = location if len(location) <= MAX_LENGTH else ""  # never followed
    return Request(place.host, place.url, sent, seconds, status, failure, received, wait, location)


def _proxy_failure(error: BaseException) -> str:
    """The failure of a proxy; empty if it is not one."""
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return "proxy login" if error.status == 407 else "proxy"
    if isinstance(error, aiohttp.ClientProxyConnectionError | NoProxyError):
        return "proxy unreachable"
    if isinstance(error, ProxyError):
        return "proxy login" if isinstance(error, ProxyLoginError) else "proxy"
    return _proxy_failure(error.__cause__) if error.__cause__ is not None else ""


def _failure_of(error: BaseException) -> str:
    """A short, stable name for what a request raised."""
    if isinstance(error, aiohttp.ClientPayloadError):
        return _body_failure(error)
    if getattr(getattr(error, "os_error", None), "reason", "") in _NOT_TLS:
        return "plain http"
    for kind, known in _BY_TYPE:
        if isinstance(error, kind):
            return known
    if isinstance(error, aiohttp.ClientConnectorError) and error.os_error is not error:
        return _failure_of(error.os_error)
    if isinstance(error, OSError):
        return _BY_ERRNO.get(error.errno or 0, "unreachable")
    return "bad response"


def _body_failure(error: aiohttp.ClientPayloadError) -> str:
    text = f"{error!r} {error.__cause__!r}"
    if "ConnectionReset" in text:
        return "connection reset"
    return "bad response" if "TransferEncoding" in text else "truncated"


def _plain(headers: CIMultiDictProxy[str]) -> dict[str, str]:
    plain: dict[str, str] = {}
    for name, raw in headers.items():
        key = name.lower()
        value = raw if raw.isascii() else _readable(key, raw)
        if key not in plain:
            plain[key] = value
        elif key != "location":
            # an empty element, which lists may have, keeps two header lines apart
            plain[key] += (", , " if key == "x-robots-tag" else ", ") + value
    return plain


def _readable(key: str, value: str) -> str:
    if key == "location":
        return as_ascii(value)
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _refusal(status: int, headers: Mapping[str, str], terms: Terms) -> str:
    if status == 304:
        return "not modified"
    if status < 200:  # 101: another protocol was not asked for
        return "bad response"
    if status < 300 and not _is_wanted(headers, terms):
        return "content type"
    length = headers.get("content-length", "")
    if status < 300 and not terms.cut and length.isdigit() and int(length) > terms.max_bytes:
        return "too large"
    return ""


def _has_page(status: int, headers: Mapping[str, str], terms: Terms) -> bool:
    leads_on = 300 <= status < 400 and "location" in headers
    return not leads_on and _is_wanted(headers, terms)


def _is_wanted(headers: Mapping[str, str], terms: Terms) -> bool:
    kind = headers.get("content-type")
    if not kind or not terms.content_types:
        return True
    return kind.partition(";")[0].partition(",")[0].strip().lower() in terms.content_types


def _encodings(headers: Mapping[str, str]) -> str:
    """The encodings of a body in the order they were applied: content first, then transfer."""
    said = [headers.get("content-encoding", ""), headers.get("transfer-encoding", "")]
    return ", ".join(filter(None, said))


async def _body(
    content: aiohttp.StreamReader, headers: Mapping[str, str], terms: Terms
) -> tuple[bytes, str]:
    pieces: list[bytes] = []
    room = terms.max_bytes
    while room >= 0 and (piece := await content.read(_PIECE)):
        pieces.append(piece)
        room -= len(piece)
        if len(piece) == _PIECE:  # more may be buffered: let other tasks run first
            await asyncio.sleep(0)
    if room < 0 and not terms.cut:
        return b"", "too large"
    body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    body = body[: terms.max_bytes]
    encodings = _encodings(headers)
    if not encodings or not body:
        return body, ""
    body, failure = await decode_apart(body, encodings, terms.max_decoded_bytes)
    if terms.cut and failure in ("too large", "truncated"):
        return body, ""
    return (b"", failure) if failure else (body, "")
