"""Connections that read a response in slices and bound what may come around its body."""

import asyncio
import functools
from collections.abc import Callable
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.helpers import set_exception
from aiohttp.http import RawResponseMessage
from aiohttp.http_exceptions import BadHttpMessage
from aiohttp.streams import StreamReader

MAX_INTERIM = 32  # responses such as "100 Continue" before the final one
MAX_HEAD = 256 * 1024  # bytes before the body, interim responses included
MAX_FRAMING = (
    64 * 1024
)  # bytes of chunk sizes and extensions, besides twice as many as the body has
_SLICE = 8 * 1024  # bytes parsed before the limits are looked at


class BoundedConnector(aiohttp.TCPConnector):
    """Opens connections whose responses are bounded outside their bodies, too."""

    def __init__(self, is_crowded: Callable[[], bool], **settings: Any) -> None:
        super().__init__(**settings)
        self._is_crowded = is_crowded  # whether no connection is kept for a next request
        loop = asyncio.get_running_loop()
        self._factory = functools.partial(BoundedProtocol, loop=loop)  # type: ignore[assignment]

    def _release(self, key: Any, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        """Keep a connection for a next request, or close it where too many are open."""
        super()._release(key, protocol, should_close=should_close or self._is_crowded())


class BoundedProtocol(ResponseHandler):
    """Parses one response a request; fails one that is mostly interim responses or framing."""

    _interim = _final = 0  # responses
    _received = 0  # bytes, of the head and then of the body
    _body: StreamReader | None = None  # of the final response, once its head was read

    def set_response_params(self, **settings: Any) -> None:
        """Begin to wait for a response."""
        self._interim = self._final = self._received = 0
        self._body = None
        super().set_response_params(**settings)

    def data_received(self, data: bytes) -> None:
        """Parse a slice at a time, and nothing more once a limit is passed."""
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
        """Fail a body that a reset cut short, also one that only the end of data delimits."""
        body = self._payload
        if isinstance(exc, ConnectionError) and body is not None and not body.is_eof():
            set_exception(body, aiohttp.ClientPayloadError(repr(exc)), exc)
        super().connection_lost(exc)

    def _is_over(self) -> bool:
        """Whether a limit is passed; the response has failed then."""
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
