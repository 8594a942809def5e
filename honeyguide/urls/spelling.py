"""URLs: one spelling for each, its host, and the words it shows."""

import re
from functools import lru_cache
from urllib.parse import unquote

from ada_url import join_url

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
