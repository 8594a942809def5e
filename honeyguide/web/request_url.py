"""Where a request goes: a URL taken apart the way every part of fetching sees it."""

import re
from functools import lru_cache
from typing import NamedTuple

from ada_url import check_url, join_url

# Ports that browsers refuse as well, because other protocols live there (WHATWG Fetch, "bad port").
_BAD_PORTS = frozenset(
    int(port)
    for port in """0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104
    109 110 111 113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531
    532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061
    6000 6566 6665 6666 6667 6668 6669 6679 6697 10080""".split()
)
# A URL that the WHATWG parser leaves as it is, if it has no dot segment and no punycode.
_is_plain = re.compile(r"https?://[a-z0-9.-]+\.[a-z]+/[\w~!$&()*+,;=:@%./?-]*", re.ASCII).fullmatch
_not_ascii = re.compile(rb"[\x80-\xff]").sub


class Target(NamedTuple):
    """A URL that may be asked for."""

    url: str  # without credentials and fragment
    origin: str  # "https://example.org:8443"
    host: str  # a name, an IPv4 address, or an IPv6 address without brackets
    path: str  # with the query


@lru_cache(maxsize=4096)
def target(url: str) -> Target | str:
    """Take a URL apart, or name the failure."""
    if _is_plain(url) and "/." not in url and "%2" not in url and "xn--" not in url:
        href = url
    else:
        try:
            href = join_url(url, "")  # "" against a URL is that URL without its fragment
        except ValueError:
            return "scheme" if check_url(url) else "bad url"  # "mailto:" is no base for anything
    scheme, separator, rest = href.partition("://")
    if scheme not in ("http", "https") or not separator:
        return "scheme"
    authority, _, path = rest.partition("/")
    authority = authority.rpartition("@")[2]
    host, port = _split_port(authority)
    if port and int(port) in _BAD_PORTS:
        return "port"
    origin = f"{scheme}://{authority}"
    return Target(f"{origin}/{path}", origin, host, "/" + path)


def host_of(url: str) -> str:
    """The host that a URL would be asked from; empty when it is not one to ask for."""
    place = target(url)
    return "" if isinstance(place, str) else place.host


def origin_of(host: str) -> str:
    """Where a host is found over plain HTTP; brackets of an IPv6 address may be missing."""
    bare = host.strip("[]")
    return f"http://[{bare}]" if ":" in bare else f"http://{bare}"


def follow(url: str, location: str) -> str:
    """The URL that a redirect names; the location itself when it is none."""
    try:
        return join_url(url, location).partition("#")[0]
    except ValueError:
        return location


def as_ascii(header: str) -> str:
    """A URL from a header line with every byte beyond ASCII percent-encoded."""
    if header.isascii():
        return header
    raw = header.encode("utf-8", "surrogateescape")
    return _not_ascii(lambda byte: b"%%%02X" % byte[0][0], raw).decode("ascii")


def _split_port(authority: str) -> tuple[str, str]:
    if authority.startswith("["):
        host, _, port = authority[1:].partition("]")
        return host, port.removeprefix(":")
    host, _, port = authority.partition(":")
    return host, port
