"""What sites ask of crawlers: robots.txt (RFC 9309) and X-Robots-Tag headers."""

import io
import math
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from honeyguide.contracts import Page
from honeyguide.urls.spelling import target

_MAX_SITEMAPS = 100
_MAX_LINE = 16 * 1024  # bytes; a longer Disallow is cut (which forbids more), an Allow ignored
# Limit on the cost of matching a path against wildcard patterns, in units of about 0.5 ns: _STEP
# for each piece of a pattern, and 1 for each pair of a character of it and one of the path.
_MAX_WORK = 8_000_000
_STEP = 1_000
_UNRESERVED = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"  # RFC 3986, 2.3
)
_KEYS = {
    "user-agent": "user-agent",
    "useragent": "user-agent",
    "user agent": "user-agent",
    "allow": "allow",
    "disallow": "disallow",
    "crawl-delay": "crawl-delay",
    "crawldelay": "crawl-delay",
    "sitemap": "sitemap",
    "site-map": "sitemap",
    # common misspellings
    "dissallow": "disallow",
    "dissalow": "disallow",
    "disalow": "disallow",
    "diasllow": "disallow",
    "disallaw": "disallow",
}
_in_rules = re.compile(rb"[^\x21-\x7e]|%[0-9A-Fa-f]{2}").sub
_in_paths = re.compile(rb"[^\x21-\x7e]|[*$]|%[0-9A-Fa-f]{2}").sub
_in_queries = re.compile(r"%(?:2[1789CF]|3[ABF]|40|5[BD])").sub  # ! ' ( ) , / : ; ? @ [ ]
_asterisks = re.compile(r"\*+").sub
_product = re.compile(r"[A-Za-z_-]+")
_directive = re.compile(r"[a-z_-]+").fullmatch
_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)


class Decision(NamedTuple):
    """Whether a URL may be fetched, and which rule decides."""

    allowed: bool
    rule: str = ""  # the deciding line as written, or the reason where no line decides
    line: int = 0  # 0 where no line decides
    crawl_delay: float | None = None  # seconds
    sitemaps: tuple[str, ...] = ()


class Rule(NamedTuple):
    """One Allow or Disallow line."""

    pieces: tuple[str, ...]  # the pattern between its asterisks
    anchored: bool  # the pattern ends in "$"
    allow: bool
    text: str
    line: int
    length: int  # of the pattern as it is compared: the longest that matches decides
    least: int  # characters of a path that it can match

    @property
    def rank(self) -> tuple[int, bool]:
        """The order of precedence among rules that match (RFC 9309, 2.2.2)."""
        return self.length, self.allow

    @property
    def weight(self) -> int:
        """Approximate bytes of memory."""
        return 300 + len(self.text) + sum(60 + len(piece) for piece in self.pieces)

    def matches(self, path: str) -> bool:
        """Whether the pattern matches a prefix of the path, or all of it when anchored."""
        first = self.pieces[0]
        if not path.startswith(first):
            return False
        place = len(first)
        for piece in self.pieces[1:]:
            found = path.find(piece, place)
            if found < 0:
                return False
            place = found + len(piece)
        if not self.anchored or place == len(path):
            return True
        # the last piece may match again at the end of the path
        return len(self.pieces) > 1 and path.endswith(self.pieces[-1])


TOO_MUCH = Rule((), False, False, "too many wildcard patterns to compare: refused", 0, 0, 0)


class RobotsTxt:
    """The rules of one robots.txt file for one crawler."""

    def __init__(self, body: bytes, user_agent: str) -> None:
        match = _product.match(user_agent)
        product = match[0].lower() if match else ""
        own, anyone = _Group(), _Group()
        self.sitemaps = tuple(_read(body, {product: own, "*": anyone}))[:_MAX_SITEMAPS]
        group = own if own.named else anyone
        self.crawl_delay = group.crawl_delay
        self._rules = _Rules(group.rules)
        self.weight = 1000 + sum(rule.weight for rule in group.rules)  # bytes, about

    def allows(self, path: str) -> bool:
        """Whether a path with its query may be fetched."""
        rule = self._deciding(path)
        return rule is None or rule.allow

    def decide(self, url: str) -> Decision:
        """Whether a URL may be fetched, and which line decides."""
        place = target(url)
        if isinstance(place, str):
            return Decision(False, f"not a URL to fetch: {place}", 0)
        rule = self._deciding(place.path)
        if rule is None:
            return Decision(True, "no rule matches", 0, self.crawl_delay, self.sitemaps)
        return Decision(rule.allow, rule.text, rule.line, self.crawl_delay, self.sitemaps)

    def _deciding(self, path: str) -> Rule | None:
        return None if path == "/robots.txt" else self._rules.deciding(_spellings(path))


class _Rules:
    """Rules indexed so that looking up a path is fast, however many there are."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._prefixes: dict[str, Rule] = {}  # patterns without asterisks, by themselves
        self._whole: dict[str, Rule] = {}  # those that must fit all of a path
        wildcards: dict[tuple[int, bool], dict[tuple[str, ...], Rule]] = {}
        for rule in rules:
            if len(rule.pieces) > 1:
                same_rank = wildcards.setdefault(rule.rank, {})
                same_rank.setdefault((*rule.pieces, "$" if rule.anchored else ""), rule)
                continue
            plain = self._whole if rule.anchored else self._prefixes
            before = plain.get(rule.pieces[0])
            if before is None or rule.rank > before.rank:
                plain[rule.pieces[0]] = rule
        self._lengths = sorted(set(map(len, self._prefixes)), reverse=True)
        self._wildcards = [
            rule for rank in sorted(wildcards, reverse=True) for rule in wildcards[rank].values()
        ]

    def deciding(self, spellings: tuple[str, ...]) -> Rule | None:
        """The rule that decides about a path; TOO_MUCH when finding it would take too long."""
        plain = [rule for path in spellings if (rule := self._plain(path)) is not None]
        best = max(plain, key=lambda rule: rule.rank, default=None)
        work = _MAX_WORK
        for rule in self._wildcards:
            if best is not None and rule.rank <= best.rank:
                break
            for path in spellings:
                work -= _STEP
                if rule.least > len(path) or not path.startswith(rule.pieces[0]):
                    continue
                work -= _STEP * len(rule.pieces) + rule.least * len(path)
                if work >= 0 and rule.matches(path):
                    return rule
            if work < 0:
                return TOO_MUCH
        return best

    def _plain(self, path: str) -> Rule | None:
        if path in self._whole:  # its "$" makes it longer than any that is a prefix
            return self._whole[path]
        found = (self._prefixes.get(path[:length]) for length in self._lengths)
        return next((rule for rule in found if rule is not None), None)


class _Group:
    def __init__(self) -> None:
        self.named = False
        self.rules: list[Rule] = []
        self.crawl_delay: float | None = None

    def add(self, key: str, value: bytes, line: int) -> None:
        if key == "crawl-delay":
            self._slow_down(value)
        elif value.startswith((b"/", b"*")):
            self._rule(key, value, value, line)
        elif value and key == "disallow":  # the leading slash was forgotten
            self._rule(key, value, b"/" + value, line)

    def _rule(self, key: str, written: bytes, meant: bytes, line: int) -> None:
        place, mark, query = _in_rules(_normal_byte, meant).decode("ascii").partition("?")
        pattern = place + mark + _in_queries(_plain_character, query)
        pieces = _asterisks("*", pattern.removesuffix("$").replace("$", "%24")).split("*")
        text = f"{key.capitalize()}: {written.decode('utf-8', 'replace')}"
        anchored, allow = pattern.endswith("$"), key == "allow"
        sizes = len(pattern), sum(map(len, pieces))
        self.rules.append(Rule(tuple(pieces), anchored, allow, text, line, *sizes))

    def _slow_down(self, value: bytes) -> None:
        try:
            seconds = float(value)
        except ValueError:
            return
        if math.isfinite(seconds) and seconds >= 0:
            self.crawl_delay = max(seconds, self.crawl_delay or 0.0)


def _read(body: bytes, groups: dict[str, _Group]) -> Iterator[str]:
    """Fill the groups from a file, and yield its sitemaps."""
    current: list[_Group] = []
    listening = False  # whether the lines just above named crawlers
    for line, key, value in _lines(body):
        if key == "user-agent":
            if not listening:
                current, listening = [], True
            group = groups.get(_named(value))
            if group is not None:
                group.named = True
                current.append(group)
        elif key == "sitemap":
            yield value.decode("utf-8", "replace")
        else:
            # lines the RFC does not know must not end a list of crawlers (RFC 9309, 2.2.4)
            listening = listening and key == "crawl-delay"
            for group in current:
                group.add(key, value, line)


def _lines(body: bytes) -> Iterator[tuple[int, str, bytes]]:
    for number, line in enumerate(io.BytesIO(_with_newlines(body)), start=1):
        content = line[:_MAX_LINE].partition(b"#")[0].replace(b"\0", b"")
        name, colon, value = content.replace(BOM_UTF8, b"").strip().partition(b":")
        if not colon:
            words = name.split()
            if len(words) != 2:  # "Disallow /path" is accepted, prose is not
                continue
            name, value = words
        key = _KEYS.get(name.strip().lower().decode("latin-1"))
        if key and not (key == "allow" and len(line) > _MAX_LINE):
            yield number, key, value.strip()


def _with_newlines(body: bytes) -> bytes:
    """A file as UTF-8 without a (partial) byte-order mark, with newlines as line ends."""
    if body.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        body = body.decode("utf-16", "replace").encode()
    # as Google's parser does; more marks are left out of the lines they are in
    mark = next((size for size in (3, 2, 1) if body.startswith(BOM_UTF8[:size])), 0)
    body = body[mark:]
    return body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _named(value: bytes) -> str:
    text = value.decode("latin-1")
    if text[:1] == "*" and (len(text) == 1 or text[1].isspace()):
        return "*"
    match = _product.match(text)
    return match[0].lower() if match else "?"  # matches no crawler


def _spellings(path: str) -> tuple[str, ...]:
    normal = path
    if not path.isascii() or "%" in path or "*" in path or "$" in path:
        normal = _in_paths(_normal_byte, path.encode("utf-8", "replace")).decode("ascii")
    place, mark, query = normal.partition("?")
    plain = place + mark + _in_queries(_plain_character, query) if "%" in query else normal
    return (normal,) if plain == normal else (normal, plain)


def _normal_byte(found: re.Match[bytes]) -> bytes:
    """Normalise a byte: itself if unreserved, else percent-encoded (RFC 9309, 2.2.2)."""
    raw = found[0]
    byte = int(raw[1:], 16) if len(raw) == 3 else raw[0]
    return bytes((byte,)) if byte in _UNRESERVED else b"%%%02X" % byte


def _plain_character(found: re.Match[str]) -> str:
    return chr(int(found[0][1:], 16))


# ----------------------------------------------------------------------- X-Robots-Tag


def robots_directives(headers: Mapping[str, str], product: str = "honeyguide") -> frozenset[str]:
    """The X-Robots-Tag directives for this crawler, such as "noindex" and "nofollow"."""
    found: set[str] = set()
    is_meant = True  # "otherbot: noindex, nofollow" is for another crawler up to its end
    for piece in headers.get("x-robots-tag", "").lower().split(","):
        name, colon, rest = map(str.strip, piece.partition(":"))
        directive = name
        if not name:
            is_meant = True  # an empty element separates two header lines
        elif colon and name not in _WITH_VALUE and _directive(name):
            is_meant = name == product
            directive = rest
        if is_meant and _directive(directive):
            found |= {"noindex", "nofollow"} if directive == "none" else {directive}
    return frozenset(found - _WITH_VALUE)


def obey_directives(
    page: Page, noindex: bool, headers: Mapping[str, str], product: str = "honeyguide"
) -> tuple[Page, bool]:
    """Remove from a page what noindex and nofollow forbid; False when it must not be judged."""
    directives = robots_directives(headers, product)
    if "nofollow" in directives:
        page = replace(page, links=())
    if noindex or "noindex" in directives:
        return replace(page, title="", text=""), False
    return page, True
