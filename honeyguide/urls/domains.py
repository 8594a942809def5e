"""The domain that somebody registered, by the public suffix list."""

from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


# reserved by RFC 2606 and RFC 7686, or usual inside networks
_INSIDE = frozenset(
    "corp example home internal intranet invalid lan local localhost onion test".split()
)


@lru_cache(maxsize=1 << 14)
def registrable(host: str) -> str:
    """example.co.uk of www.example.co.uk; an address, a bare name or a public suffix is its own."""
    if "." not in host or host[-1] == "]" or host[-1].isdigit():
        return host
    return _suffixes().privatesuffix(host) or host


def is_top_level(name: str) -> bool:
    """Whether there is a top-level domain of this name, or one that networks use inside."""
    return name in _INSIDE or _suffixes().publicsuffix(name, accept_unknown=False) is not None


@cache
def _suffixes() -> "PublicSuffixList":
    from publicsuffixlist import PublicSuffixList  # noqa: PLC0415 read only by crawls that need it

    return PublicSuffixList()
