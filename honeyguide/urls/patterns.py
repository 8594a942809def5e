"""Which URLs a crawl may ask for: allow and deny lists, and a limit on the number of hosts."""

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from honeyguide import urls
from honeyguide.errors import HoneyguideError
from honeyguide.urls.domains import is_top_level
from honeyguide.urls.spelling import host_of, origin_of

DENIED, OUTSIDE = "denied", "not among what is allowed"
TITLE = "title:"  # begins an entry of a list that is compared with titles, not with URLs
ANOTHER_HOST = "another host: say --contact to go further"
Refusal = Callable[[str], str]  # why a URL is not asked for; empty when it may be
Host = TypeVar("Host", bound=Hashable)


_is_host_glob = re.compile(r"[\w.*-]*?([\w-]+\.)?([a-z-]+)", re.IGNORECASE).fullmatch
# top-level domains that end the names of files, too: *.zip means files, *.example.zip hosts
FILE_ENDINGS = frozenset("cab md mov pl ps py rs sh so zip".split())


class Patterns:
    """Matches URLs by host (subdomains included), by prefix, or by a pattern with *.

    A pattern with * that looks like a host matches hosts: *.example.org its subdomains, not
    example.org itself, and *.gov all of them. Others match whole URLs: *.pdf, *.pl, */archive/*.
    """

    def __init__(
        self,
        patterns: Iterable[str],
        host_globs: bool = True,  # whether a pattern with * may be one of hosts
    ) -> None:
        self._hosts: set[str] = set()
        starts: list[str] = []
        globs: list[str] = []
        host_patterns: list[str] = []
        for pattern in patterns:
            if len(pattern) > urls.MAX_LENGTH:
                raise HoneyguideError(f"a pattern is longer than any URL: {pattern[:60]} ...")
            if "*" in pattern:
                of_hosts = host_globs and _names_hosts(pattern)
                (host_patterns if of_hosts else globs).append(translated(pattern))
            elif "/" in pattern:
                starts.append(pattern.removeprefix("https://").removeprefix("http://"))
            else:
                self._hosts.add(pattern.lower().strip("."))
        self._starts = tuple(starts)
        self._globs = any_of(globs)
        self._host_globs = any_of(host_patterns) if host_patterns else None

    def match(self, url: str) -> bool:
        """Whether any of the patterns matches a canonical URL."""
        place = url.partition("://")[2]
        if self._starts and place.startswith(self._starts):
            return True
        names_host = "://" in url  # pages of a recorded web may have other names
        if names_host and (self._hosts or self._host_globs) and self._match_host(urls.host(url)):
            return True
        return self._globs.match(url) is not None or self._globs.match(place) is not None

    def _match_host(self, host: str) -> bool:
        if self._host_globs is not None and self._host_globs.match(host):
            return True
        labels = host.split(".")
        return any(".".join(labels[at:]) in self._hosts for at in range(len(labels)))


def _names_hosts(pattern: str) -> bool:
    """Whether a pattern ends in a top-level domain, and not in the ending of a file's name."""
    found = _is_host_glob(pattern)
    if found is None or (not found[1] and found[2].lower() in FILE_ENDINGS):
        return False
    return is_top_level(found[2].lower())


def any_of(expressions: Sequence[str]) -> re.Pattern[str]:
    """One expression for several; none matches nothing."""
    return re.compile("|".join(expressions) or r"(?!)", re.IGNORECASE)


def translated(pattern: str) -> str:
    """A pattern as a regular expression: * matches any text, without backtracking."""
    first, *middle, last = (re.escape(piece) for piece in re.split(r"\*+", pattern))
    return f"(?s:{first}{''.join(f'(?>.*?{piece})' for piece in middle)}.*{last})\\Z"


def listed(allow: Sequence[str], deny: Sequence[str], host_globs: bool = True) -> Refusal:
    """Refuse URLs that the deny list matches, or that a given allow list does not match."""
    allow, deny = _of_urls(allow), _of_urls(deny)
    allowed = Patterns(allow, host_globs) if allow else None
    denied = Patterns(deny, host_globs)

    def refusal(url: str) -> str:
        if denied.match(url):
            return DENIED
        return OUTSIDE if allowed is not None and not allowed.match(url) else ""

    return refusal


def _of_urls(patterns: Sequence[str]) -> list[str]:
    return [pattern for pattern in patterns if not pattern.startswith(TITLE)]


class UrlLists(NamedTuple):
    """The allow and deny lists of a crawl, as they are now."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    host_globs: bool = True  # as Patterns takes it

    def refusal(self) -> Refusal:
        """What says why a URL is refused."""
        return listed(*self)

    def denying(self, patterns: Sequence[str]) -> "UrlLists":
        """The lists with more denied; a HoneyguideError if all of it is denied already."""
        new = [pattern for pattern in patterns if pattern not in self.deny]
        if not new:
            raise HoneyguideError(f"{', '.join(patterns)}: denied already")
        return self._replace(deny=(*self.deny, *dict.fromkeys(new)))

    def allowing(self, patterns: Sequence[str]) -> "UrlLists":
        """The lists without these denials, and with more in an allow list that is not empty."""
        lists = self
        for pattern in patterns:
            lists = lists._with_allowed(pattern)
        return lists

    def _with_allowed(self, pattern: str) -> "UrlLists":
        if pattern in self.deny:
            return self._replace(deny=tuple(each for each in self.deny if each != pattern))
        if self.allow and pattern not in self.allow:
            return self._replace(allow=(*self.allow, pattern))
        denied = f" (what is: {', '.join(self.deny)})" if self.deny else ""
        raise HoneyguideError(f"{pattern} is not denied{denied}")


class HostLimit(Generic[Host]):
    """Admits the first few hosts that it is asked about, and no others."""

    def __init__(self, most: int, hosts: Iterable[Host] = ()) -> None:
        self.most = most
        self.hosts = list(hosts)  # admitted so far, in order

    @property
    def is_full(self) -> bool:
        """Whether no further host is admitted."""
        return len(self.hosts) >= self.most

    def admits(self, host: Host) -> bool:
        """Whether a host is among the first few; it takes a free place if there is one."""
        if host in self.hosts:
            return True
        if self.is_full:
            return False
        self.hosts.append(host)
        return True


class Scope:
    """Which URLs a crawl may request, redirects included: allow and deny lists, and few hosts."""

    def __init__(
        self,
        allow: Sequence[str] = (),
        deny: Sequence[str] = (),
        most_hosts: int | None = None,  # None: any number
        host_globs: bool = True,  # as Patterns takes it
    ) -> None:
        self.relist(UrlLists(tuple(allow), tuple(deny), host_globs))
        self._hosts: HostLimit[str] | None = None if most_hosts is None else HostLimit(most_hosts)

    def refusal(self, url: str) -> str:
        """Why a URL is not requested; empty when it may be."""
        return self._listed(url) or self._too_many(host_of(url))

    def relist(self, lists: UrlLists) -> None:
        """Use other allow and deny lists from now on."""
        self._listed = lists.refusal()

    def recall(self, host: str) -> None:
        """Count a host that was requested before the crawl was resumed."""
        self._too_many(host_of(f"{origin_of(host)}/"))

    def _too_many(self, host: str) -> str:
        is_free = self._hosts is None or not host or self._hosts.admits(host)
        return "" if is_free else ANOTHER_HOST
