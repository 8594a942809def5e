"""Who may use the dashboard: the right host name, the token, the same origin, the same user."""

import hmac
import os
import secrets
from ipaddress import ip_address
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler

COOKIE = "honeyguide"
CSRF_HEADER = "X-Honeyguide"
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
        " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Access:
    """Refuses requests that do not come from this dashboard's own page."""

    def __init__(self, host: str, token: str = "") -> None:
        self._is_local = is_loopback(host)
        self._host = f"[{host}]" if ":" in host else host
        self.token = token or ("" if self._is_local else secrets.token_urlsafe(24))
        self.csrf = secrets.token_urlsafe(24)  # what the page sends with each order
        self.port = 0  # set once it is known

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Let a request through, or refuse it; every answer has the headers above."""
        refused = self._refusal(request)
        if refused:
            response: web.StreamResponse = web.Response(status=403, text=f"{refused}\n")
        elif self.token and request.query.get("token"):
            response = self._log_in(request)
        else:
            response = await _answered(request, handler)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    def _refusal(self, request: web.Request) -> str:
        if request.host not in self._names():
            return f"this dashboard is not called {request.host!r}"
        if not self._has_token(request):
            return "open the address with the token that honeyguide dashboard has printed"
        if request.method == "GET":
            return ""
        return self._refused_order(request)

    def _refused_order(self, request: web.Request) -> str:
        """Why an order is refused: it must come from the page itself, of the same user."""
        if request.headers.get("Origin") != f"http://{request.host}":
            return "an order must come from the dashboard's own page"
        if not _same(request.headers.get(CSRF_HEADER, ""), self.csrf):
            return "an order must carry the page's own token: load the page again"
        if request.content_type != "application/json":
            return "an order is a JSON object"
        if self._is_local and not _is_own_connection(request):
            return "another user of this machine must not give orders"
        return ""

    def _names(self) -> set[str]:
        names = set(LOOPBACK_NAMES) if self._is_local else set()
        if self._host not in ("0.0.0.0", "[::]"):  # noqa: S104 compared, not bound
            names.add(self._host)
        return {f"{name}:{self.port}" for name in names} | self._any_name()

    def _any_name(self) -> set[str]:
        """Bound to all addresses: each address of this machine, none of the names of others."""
        return set() if self._is_local else {f"{name}:{self.port}" for name in _own_addresses()}

    def _has_token(self, request: web.Request) -> bool:
        if not self.token:
            return True
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        given = (request.cookies.get(COOKIE, ""), request.query.get("token", ""), bearer)
        return any(_same(each, self.token) for each in given)

    def _log_in(self, request: web.Request) -> web.Response:
        """Put the token into a cookie, and out of the address."""
        response = web.Response(status=303, headers={"Location": request.path})
        response.set_cookie(COOKIE, self.token, httponly=True, samesite="Strict")
        return response


def is_loopback(host: str) -> bool:
    """Whether an address is of this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def _answered(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as error:
        return web.Response(status=error.status, text=f"{error.reason}\n")


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _own_addresses() -> set[str]:
    """The names and addresses by which this machine may be asked."""
    import socket  # noqa: PLC0415 only needed where the dashboard is open to others

    name = socket.gethostname()
    try:
        found = {str(info[4][0]) for info in socket.getaddrinfo(name, None)}
    except OSError:
        found = set()
    plain = {f"[{each}]" if ":" in each else each for each in found}
    return {name, *plain, *LOOPBACK_NAMES}


def _is_own_connection(request: web.Request) -> bool:
    """Whether a connection on loopback is of the same user; where that is unknown, it counts so."""
    peer = request.transport.get_extra_info("peername") if request.transport else None
    if peer is None or not hasattr(os, "geteuid"):
        return True
    owner = _owner_of_port(peer[1])
    return owner is None or owner in (os.geteuid(), 0)


def _owner_of_port(port: int) -> int | None:
    """The user whose socket on loopback has a port, by the system's table; None if unknown."""
    for name in ("tcp", "tcp6"):
        try:
            lines = Path(f"/proc/self/net/{name}").read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            columns = line.split()
            if int(columns[1].rpartition(":")[2], 16) == port and columns[3] == "01":
                return int(columns[7])
    return None
