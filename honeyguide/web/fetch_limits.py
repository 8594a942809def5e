"""Limits of a fetch, and the interface of all fetchers and pipeline stages."""

from dataclasses import dataclass
from typing import Protocol

from honeyguide.contracts import Link, Response

PAGES = frozenset({"text/html", "application/xhtml+xml"})
ANYTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Terms:
    """Which content a fetch accepts, how much of it, and whether only if it has changed."""

    content_types: frozenset[str] = PAGES  # empty: any
    max_bytes: int = 10_000_000  # of the body as transferred
    max_decoded_bytes: int = 20_000_000
    cut: bool = False  # a larger body is cut, not refused
    etag: str = ""  # of the copy at hand: the page is sent only if it has changed
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts of a request, in seconds."""

    dns: float = 10.0
    connect: float = 10.0
    read: float = 20.0  # to the first byte, and between two reads
    total: float = 60.0  # from sending the request to the last byte
    turn: float = 60.0  # in the queue for a host or an address


class WebFetcher(Protocol):
    """A fetcher, or a stage of the pipeline that wraps one."""

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """Fetch what a link points to, on these terms or on the fetcher's own."""
        ...

    async def close(self) -> None:
        """Close everything that is open."""
        ...
