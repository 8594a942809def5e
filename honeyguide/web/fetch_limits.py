"""What a fetch may bring, how long it may take, and what every fetcher on the web can do."""

from dataclasses import dataclass
from typing import Protocol

from honeyguide.contracts import Link, Response

PAGES = frozenset({"text/html", "application/xhtml+xml"})
ANYTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Terms:
    """What a fetch may bring and on which condition."""

    content_types: frozenset[str] = PAGES  # empty: any
    max_bytes: int = 10_000_000  # of the body as transferred
    max_decoded_bytes: int = 20_000_000
    cut: bool = False  # a larger body is cut, not refused
    etag: str = ""  # of the copy at hand: only a changed page is wanted
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a server may take, in seconds."""

    dns: float = 10.0
    connect: float = 10.0
    read: float = 20.0  # to the first byte, and between any two pieces
    total: float = 60.0  # from asking to the last byte
    turn: float = 60.0  # in the queue for a host or an address


class WebFetcher(Protocol):
    """A fetcher that takes terms."""

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """Bring what a link points to, on these terms or on its own."""
        ...

    async def close(self) -> None:
        """Let go of everything that is open."""
        ...
