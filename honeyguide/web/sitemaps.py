"""Sitemaps as a source of links, with limits on files, bytes, entries and depth."""

import asyncio
import codecs
import io
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import islice

from honeyguide import urls
from honeyguide.contracts import Link
from honeyguide.urls.spelling import host_of
from honeyguide.web.decoding import decode
from honeyguide.web.fetch_limits import ANYTHING, Terms, WebFetcher
from honeyguide.web.host_schedule import HostSchedule, may_pass
from honeyguide.web.robots import Robots

_MAX_BYTES = 10_000_000  # as transferred
_MAX_DECODED_BYTES = 50_000_000  # the protocol's limit for one file
_MAX_URL = 2_048  # characters
_MAX_ENTRIES = 100_000  # read from one file; the protocol's limit is half of that
_WINDOW = 1 << 18  # bytes searched at once: a search blocks the thread
_OVERLAP = 8_192  # bytes of the next window in which a URL may end
_MAX_NAMED = 5  # sitemaps of one robots.txt
_LONGEST_PAUSE = 60.0  # seconds between files, whatever Crawl-delay says
_TERMS = Terms(ANYTHING, _MAX_BYTES, _MAX_DECODED_BYTES, cut=True)

# Read by regular expressions, not by an XML parser: no entity can expand, and truncated or broken
# documents still give their links.
_locations = re.compile(
    rb"<(?!image:|video:)(?:[\w-]{1,40}:)?loc>\s*(?:<!\[CDATA\[\s*)?([^<>\s]{1,2048})"
).finditer
_named_sitemap = re.compile(
    r".*/[^/]*\.xml(\.gz)?|.*/[^/]*sitemap[^/]*\.txt(\.gz)?", re.IGNORECASE
).fullmatch
_is_index = re.compile(rb"<(?:[\w-]{1,40}:)?sitemapindex[\s>]").search


def is_sitemap(url: str) -> bool:
    """Whether a URL, given as a seed, names a sitemap rather than a page."""
    return _named_sitemap(url.partition("?")[0]) is not None


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The URLs of one file: of pages, or of more sitemaps."""

    is_index: bool
    urls: tuple[str, ...]


def parse_sitemap(body: bytes, max_urls: int = 50_000) -> Sitemap:
    """Read a sitemap, an index of sitemaps or a list of lines, gzipped or not."""
    if body.startswith(b"\x1f\x8b"):
        body, _ = decode(body, "gzip", _MAX_DECODED_BYTES)
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        body = _to_utf8(body)
    is_index = _is_index(body, 0, 4096) is not None
    urls: dict[str, None] = {}
    for url in islice(_urls(body), _MAX_ENTRIES):
        urls[url] = None
        if len(urls) >= max_urls:
            break
    return Sitemap(is_index, tuple(urls))


def _to_utf8(body: bytes) -> bytes:
    """A file in UTF-16 as UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    windows = (body[start : start + _WINDOW] for start in range(0, len(body), _WINDOW))
    return b"".join(decoder.decode(window).encode() for window in windows)


def _found(body: bytes) -> Iterator[re.Match[bytes]]:
    for start in range(0, len(body), _WINDOW):
        end = start + _WINDOW
        for found in _locations(body, start, end + _OVERLAP):
            if found.start() < end:
                yield found


def _urls(body: bytes) -> Iterator[str]:
    if body[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        for found in _found(body):
            yield unescape(found[1].removesuffix(b"]]").decode("utf-8", "replace"))
        return
    for line in io.BytesIO(body.removeprefix(b"\xef\xbb\xbf")):
        url = line.strip()
        if url.startswith((b"http://", b"https://")) and len(url) <= _MAX_URL:
            yield url.decode("utf-8", "replace")


def _of(named: Sequence[str], hosts: Container[str]) -> list[str]:
    """The URLs of these hosts."""
    return [url for url in named if host_of(url) in hosts]


class Sitemaps:
    """Reads a site's sitemaps through the pipeline that pages are fetched by."""

    def __init__(
        self,
        fetcher: WebFetcher,
        max_urls: int = 10_000,
        max_files: int = 20,
        max_depth: int = 2,  # of an index of indexes
        schedule: HostSchedule | None = None,  # None: one of its own
    ) -> None:
        self._fetcher = fetcher
        self._max_urls = max_urls
        self._max_files = max_files
        self._max_depth = max_depth
        self._schedule = schedule or HostSchedule()

    async def links(self, sitemaps: Sequence[str], host: str, pause: float) -> list[Link]:
        """Links to the pages of a host that its sitemaps name, `pause` seconds between files."""
        found: dict[str, str] = {}  # page: its sitemap
        waiting, seen = [(sitemap, 0) for sitemap in sitemaps], set(sitemaps)
        while waiting and len(found) < self._max_urls:
            url, depth = waiting.pop(0)
            await asyncio.sleep(pause)
            read = await self._read(url)
            if read is None:  # the host fails or is overloaded
                break
            if not read.is_index:
                found |= dict.fromkeys(await asyncio.to_thread(_of, read.urls, {host}), url)
                continue
            own = {host, host_of(url)}
            files = await asyncio.to_thread(_of, read.urls, own) if depth < self._max_depth else ()
            for each in files:
                if len(seen) < self._max_files and each not in seen:
                    seen.add(each)
                    waiting.append((each, depth + 1))
        return [Link(url, source=sitemap) for url, sitemap in found.items()][: self._max_urls]

    async def _read(self, url: str) -> Sitemap | None:
        response = await self._fetcher.fetch(Link(url), _TERMS)
        if may_pass(response):
            self._schedule.after(response.url, response, 0.0)
            return None
        if response.failure or response.status != 200:
            return Sitemap(False, ())
        return await asyncio.to_thread(parse_sitemap, response.body, self._max_urls)


class SiteSitemaps:
    """Reads the sitemaps that a site's robots.txt names, or /sitemap.xml."""

    def __init__(self, sitemaps: Sitemaps, robots: Robots, schedule: HostSchedule) -> None:
        self._sitemaps = sitemaps
        self._robots = robots
        self._schedule = schedule

    async def named(self, sitemap: str) -> list[Link]:
        """Links in one sitemap, or index of sitemaps, to pages of its host."""
        pause = self._schedule.delay
        return await self._sitemaps.links((sitemap,), urls.host(sitemap), pause)

    async def links(self, url: str, wait: float) -> list[Link]:
        """Links in the sitemaps of a URL's host, which may be asked after `wait` seconds."""
        origin, host = url[: url.index("/", 8)], urls.host(url)
        decision = await self._robots.decide(url)
        named = decision.sitemaps[:_MAX_NAMED] or (f"{origin}/sitemap.xml",)
        wish = min(decision.crawl_delay or 0.0, _LONGEST_PAUSE)
        return await self._sitemaps.links(named, host, max(self._schedule.delay, wait, wish))
