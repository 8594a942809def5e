"""URLs: one spelling for each, the words it shows, and the parts that a request needs."""

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from ada_url import check_url, join_url

MAX_LENGTH = 2048  # characters; longer ones are traps or data, not addresses

# Names of query parameters that say who came from where, not what is shown.
NOISE = frozenset(
    "gclid dclid gclsrc gbraid wbraid fbclid msclkid yclid twclid ttclid igshid mc_cid mc_eid"
    " _ga _gl _hsenc _hsmi mkt_tok oly_anon_id oly_enc_id vero_id wickedid"
    " phpsessid jsessionid asp.net_sessionid cfid cftoken sessionid session_id sessid".split()
)
_looks_like_session = re.compile(r"(?=.*\d)[\w-]{16,}").fullmatch
_path_session = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?;]*", re.IGNORECASE).sub

# A URL that the WHATWG parser leaves as it is, if it has no dot segment and no punycode.
_plain = re.compile(
    r"https?://[a-z0-9.-]+\.[a-z]+/[\w~!$&'()*+,;=:@%./-]*(?:\?[\w~!$&()*+,;=:@%./?-]+)?",
    re.ASCII,
).fullmatch

# The same for a request, where an empty query stays; an apostrophe may have to be encoded.
_is_plain = re.compile(r"https?://[a-z0-9.-]+\.[a-z]+/[\w~!$&()*+,;=:@%./?-]*", re.ASCII).fullmatch

# Ports that browsers refuse as well, because other protocols live there (WHATWG Fetch, "bad port").
_BAD_PORTS = frozenset(
    int(port)
    for port in """0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104
    109 110 111 113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531
    532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061
    6000 6566 6665 6666 6667 6668 6669 6679 6697 10080""".split()
)
_not_ascii = re.compile(rb"[\x80-\xff]").sub

_extension = re.compile(r"\.(?:[sx]?html?|php\d?|aspx?|jspx?|cgi)$", re.IGNORECASE).sub
_words = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]").findall


def canonical(url: str, base: str = "") -> str | None:
    """The one spelling of an http or https URL, relative to a base; None when it is none."""
    if "#" in url and (before := url.partition("#")[0])[-1:] > " ":
        url = before  # with a control character before it, only the parser may take it off
    if len(url) > MAX_LENGTH:
        return None
    href = _joined(url, base) if base else url
    if not (_plain(href) and "/." not in href and "%2" not in href and "xn--" not in href):
        try:
            # "" against a URL is that URL
            href = join_url(base, url) if base else join_url(url, "")
        except ValueError:
            return None
        href = _plain_authority(href.partition("#")[0])
        if not href.startswith(("http://", "https://")) or len(href) > MAX_LENGTH:
            return None
    return _without_noise(href) if "?" in href or ";" in href else href


def typed(said: str) -> str | None:
    """The URL that a person means, who may leave out https://; None when it is none.

    Without a scheme, a word without a dot is no host: it may be a topic or the name of a file.
    """
    if "://" in said:
        return canonical(said)
    url = canonical(said) or canonical(f"https://{said}")
    return url if url is not None and "." in host(url) else None


def _plain_authority(href: str) -> str:
    """Without what names the same place: credentials, which are never sent, and a last dot."""
    scheme, separator, rest = href.partition("://")
    authority, slash, path = rest.partition("/")
    if "@" not in authority and ".:" not in authority and not authority.endswith("."):
        return href
    name, colon, port = authority.rpartition("@")[2].partition(":")
    name = name.rstrip(".")
    return f"{scheme}{separator}{name}{colon}{port}{slash}{path}" if name else ""


def _joined(url: str, base: str) -> str:
    """A guess at the joined URL: right wherever the result is plain."""
    if ":" in url or url.startswith(("//", "?")) or "\\" in url or not url:
        return url
    origin, folder = _places(base)
    if url[0] == "/":
        return origin + url
    while url.startswith("../"):
        url = url[3:]
        folder = folder[: folder.rfind("/", len(origin), -1) + 1] or origin + "/"
    return folder + url


@lru_cache(maxsize=1 << 10)
def _places(base: str) -> tuple[str, str]:
    place = base.partition("#")[0].partition("?")[0]
    origin = "/".join(place.split("/", 3)[:3])
    return origin, place[: place.rfind("/", len(origin)) + 1] or origin + "/"


def _without_noise(href: str) -> str | None:
    place, _, query = href.partition("?")
    clean = _path_session("", place) if ";" in place else place
    kept = [pair for pair in query.split("&") if pair and not _is_noise(pair)]
    if kept:
        clean += "?" + "&".join(kept)
    # what is left may need parsing again: "/..;jsessionid=1"
    return href if clean == href else canonical(clean)


def _is_noise(pair: str) -> bool:
    name, _, value = pair.partition("=")
    name = name.lower()
    if name in NOISE or name.startswith(("utm_", "aspsessionid")):
        return True
    return name in ("sid", "s") and _looks_like_session(value) is not None


def host(url: str) -> str:
    """The host name of a canonical URL, without its port."""
    authority = url.split("/", 3)[2]
    if ":" not in authority and "@" not in authority:
        return authority
    authority = authority.rpartition("@")[2]
    return authority if authority.endswith("]") else re.sub(r":\d*$", "", authority)


@lru_cache(maxsize=1 << 16)
def words(url: str) -> str:
    """The readable words of a URL's host and path, in lower case."""
    place = url.partition("://")[2].partition("#")[0].partition("?")[0].removeprefix("www.")
    return " ".join(_words(_extension("", unquote(place)))).lower()


def path_words(url: str) -> str:
    """The readable words of a URL's path, in lower case, without MediaWiki's /wiki/."""
    path = url.partition("://")[2].partition("/")[2].removeprefix("wiki/")
    return words(f"://{path}")


# ----------------------------------------------------------------------- for requests


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
