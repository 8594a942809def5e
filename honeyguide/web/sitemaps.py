"""Sitemaps as a source of links: bounded in files, bytes, entries and depth."""

import asyncio
import codecs
import io
import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import islice

from honeyguide.contracts import Link, Response
from honeyguide.web.decoding import decode
from honeyguide.web.fetch_limits import ANYTHING, Terms, WebFetcher
from honeyguide.web.politeness import may_pass
from honeyguide.web.request_url import host_of

_MAX_BYTES = 10_000_000  # as transferred
_MAX_DECODED_BYTES = 50_000_000  # what the protocol grants one file
_MAX_URL = 2_048  # characters
_MAX_ENTRIES = 100_000  # looked at in one file; the protocol grants it half of them
_WINDOW = 1 << 18  # bytes searched at once: while one search runs, nothing else does
_OVERLAP = 8_192  # bytes of the next window in which a URL may end
_TERMS = Terms(ANYTHING, _MAX_BYTES, _MAX_DECODED_BYTES, cut=True)

# Nothing is expanded and no grammar is followed, so that no document can be a bomb,
# and half a document or a broken one still gives its links.
_locations = re.compile(
    rb"<(?!image:|video:)(?:[\w-]{1,40}:)?loc>\s*(?:<!\[CDATA\[\s*)?([^<>\s]{1,2048})"
).finditer
_is_index = re.compile(rb"<(?:[\w-]{1,40}:)?sitemapindex[\s>]").search


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
    """Reads a site's sitemaps through a fetcher."""

    def __init__(
        self,
        fetcher: WebFetcher,
        max_urls: int = 10_000,
        max_files: int = 20,
        max_depth: int = 2,  # of an index of indexes
        unwell: Callable[[Response], None] = lambda response: None,  # told when a host is
    ) -> None:
        self._fetcher = fetcher
        self._max_urls = max_urls
        self._max_files = max_files
        self._max_depth = max_depth
        self._unwell = unwell

    async def links(self, sitemaps: Sequence[str], host: str, pause: float) -> list[Link]:
        """The links to pages of a host that its sitemaps name, `pause` seconds between files."""
        found: dict[str, str] = {}  # with the sitemap that has it
        waiting, seen = [(sitemap, 0) for sitemap in sitemaps], set(sitemaps)
        while waiting and len(found) < self._max_urls:
            url, depth = waiting.pop(0)
            await asyncio.sleep(pause)
            read = await self._read(url)
            if read is None:  # the host is unwell: no more of this
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
            self._unwell(response)
            return None
        if response.failure or response.status != 200:
            return Sitemap(False, ())
        return await asyncio.to_thread(parse_sitemap, response.body, self._max_urls)
