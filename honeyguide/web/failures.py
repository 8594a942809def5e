"""Short, stable names for everything that can go wrong between asking and the last byte."""

import errno
import socket

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from honeyguide.web.addresses import TOO_MANY_FILES, PrivateAddressError

# What a request can raise; timeouts are OSErrors.
ERRORS = (aiohttp.ClientError, HttpProcessingError, OSError, ValueError)

_BY_NUMBER = {
    errno.ECONNREFUSED: "connection refused",
    errno.ECONNRESET: "connection reset",
    errno.ECONNABORTED: "connection reset",
    errno.EPIPE: "connection reset",
    errno.ETIMEDOUT: "timeout",
    errno.EMFILE: TOO_MANY_FILES,
    errno.ENFILE: TOO_MANY_FILES,
}
_BY_TYPE: tuple[tuple[type[BaseException], str], ...] = (
    (TimeoutError, "timeout"),
    (PrivateAddressError, "private address"),
    (socket.gaierror, "dns"),
    (aiohttp.ClientSSLError, "tls"),
    (aiohttp.ServerDisconnectedError, "connection reset"),
    (aiohttp.ClientResponseError, "bad response"),
)


def name(error: BaseException) -> str:
    """Name what went wrong."""
    if isinstance(error, aiohttp.ClientPayloadError):
        return _name_of_broken_body(error)
    for kind, known in _BY_TYPE:
        if isinstance(error, kind):
            return known
    if isinstance(error, aiohttp.ClientConnectorError) and error.os_error is not error:
        return name(error.os_error)
    if isinstance(error, OSError):
        return _BY_NUMBER.get(error.errno or 0, "unreachable")
    return "bad response"


def _name_of_broken_body(error: aiohttp.ClientPayloadError) -> str:
    text = f"{error!r} {error.__cause__!r}"
    if "ConnectionReset" in text:
        return "connection reset"
    return "bad response" if "TransferEncoding" in text else "truncated"
