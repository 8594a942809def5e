"""One request over HTTP and its response: bounded, guarded, and never an exception."""

import asyncio
import socket
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import aiohttp
from multidict import CIMultiDictProxy
from yarl import URL

from honeyguide.contracts import Link, Request, Response
from honeyguide.errors import HoneyguideError
from honeyguide.registry import part
from honeyguide.version import VERSION
from honeyguide.web import failures
from honeyguide.web.addresses import Resolver
from honeyguide.web.connections import BoundedConnector
from honeyguide.web.decoding import decode_apart
from honeyguide.web.fetch_limits import Terms, Timeouts
from honeyguide.web.request_url import Target, as_ascii, target
from honeyguide.web.requests import request_of
from honeyguide.web.turns import Turns

_ASKED = {
    "Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1",
    "Accept-Encoding": "gzip, deflate, br, zstd",
}
_MAX_HEADERS = 128  # lines
_MAX_HEADER = 32_768  # bytes of one line
_MAX_CONNECTIONS = 400  # open ones; beyond, none is kept for a next request
_KEEP_ALIVE = 15.0  # seconds
_PIECE = 1 << 16  # bytes of a body taken at once


NOBODY = "https://example.org/"  # the contact of a crawl so small that it needs none


def user_agent(contact: str) -> str:
    """How the crawler names itself to servers: with a way to reach whoever runs it."""
    if not ("@" in contact or "://" in contact) or not contact.isascii():
        raise HoneyguideError(f"contact must be a web or e-mail address, not {contact!r}")
    if not contact.isprintable() or set(contact) & set("() "):
        raise HoneyguideError(f"contact {contact!r} has characters that a header cannot carry")
    return f"honeyguide/{VERSION} (+{contact})"


def asked_with(contact: str) -> dict[str, str]:
    """The headers of every request."""
    return {"User-Agent": user_agent(contact or NOBODY), **_ASKED}


@part("fetcher", "http")
class HttpFetcher:
    """Asks a server once for what a link points to; redirects are responses like any other."""

    def __init__(
        self,
        user_agent: str,
        terms: Terms | None = None,
        timeouts: Timeouts | None = None,
        allow_private: bool = False,
        hosts: Mapping[str, tuple[str, int]] | None = None,  # name -> address and port
        per_host: int | None = 1,  # requests in flight; None: any number
        per_address: int | None = 2,  # the same, for an IP address
        address_interval: float = 0.25,  # seconds between two requests to an IP address
    ) -> None:
        self._terms = terms or Terms()
        self._timeouts = timeouts or Timeouts()
        self._headers = {"User-Agent": user_agent, **_ASKED}
        self._resolver = Resolver(allow_private, hosts, self._timeouts.dns)
        self._host_turns = Turns(per_host, 0.0, self._timeouts.turn)
        self._address_turns = Turns(per_address, address_interval, self._timeouts.turn)
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._max_connections = _MAX_CONNECTIONS
        self._session: aiohttp.ClientSession | None = None
        self.observer: Callable[[Request], None] = lambda request: None  # told of each one's end

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """Bring what a link points to, or the name of what went wrong."""
        place = target(link.url)
        if isinstance(place, str):
            return Response(link, link.url, 0, failure=place)
        found = await self._resolver.find(place.host)
        if found.failure:
            return Response(link, place.url, 0, failure=found.failure)
        begin = time.monotonic()
        if not await self._host_turns.enter(place.host):
            return Response(link, place.url, 0, failure="busy")
        entered: list[str] = []
        try:
            for server in found.servers:  # in one order, so that no two wait for each other
                if not await self._address_turns.enter(server):
                    return Response(link, place.url, 0, failure="busy")
                entered.append(server)
            response = await self._ask(link, place, terms or self._terms)
            return replace(response, seconds=time.monotonic() - begin)
        finally:
            for server in entered:
                self._address_turns.leave(server)
            self._host_turns.leave(place.host)

    @property
    def names(self) -> int:
        """How many names were looked up and found."""
        return self._resolver.names

    def forget(self, host: str) -> None:
        """Look a host's name up anew when it is next asked for."""
        self._resolver.forget(host)

    def keep_open(self, connections: int) -> None:
        """Keep no more connections than this for a next request."""
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
        try:
            answer = await session.get(
                URL(place.url, encoded=True), headers=self._extra(terms), allow_redirects=False
            )
            try:
                status, headers = answer.status, _plain(answer.headers)
                failure = _refusal(status, headers, terms)
                if not failure and _has_page(status, headers, terms):
                    body, failure = await _body(answer.content, headers, terms)
            finally:
                received = answer.content.total_bytes
                answer.close()
        except failures.ERRORS as error:
            failure = failures.name(error)
        finally:
            seconds = time.monotonic() - begin
            self.observer(request_of(place, sent, seconds, status, headers, failure, received))
        return Response(link, place.url, status, headers, body, failure, sent=sent)

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
                resolver=self._resolver,
                use_dns_cache=False,
                socket_factory=self._open_socket,
                limit=0,  # the crawl and the turns bound it
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
    if status < 200:  # 101: nobody asked for another protocol
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
    """How a body is encoded, in the order it was done: the content first, then its transfer."""
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
        if len(piece) == _PIECE:  # thousands of tiny chunks may be at hand: others go first
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
