"""Watch source pages and report each new item once, also across restarts."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from email.utils import formatdate
from pathlib import Path
from xml.sax.saxutils import escape

import msgspec

from honeyguide import urls
from honeyguide.contracts import Link, Response, Revisitable, Visit, World
from honeyguide.disk.files import replacing
from honeyguide.errors import HoneyguideError
from honeyguide.source_finder.regions import Region, regions
from honeyguide.source_finder.tag_tree import read_tags
from honeyguide.text.words import encodable

SOONEST, LATEST = 600.0, 7 * 86_400.0  # seconds between two visits to a source
FIRST = 6 * 3_600.0  # seconds to the second visit
UNCHANGED = "not modified"  # failure of a visit that was answered with 304
LONGEST = 500  # characters of an item's text
LONGEST_HEADER = 1_000  # characters; a longer one is not sent back
LAST_YEAR = 2.5e11  # seconds since 1970; calendars end in the year 9999
MOST_KNOWN = 5_000  # latest items of a source that are remembered


@dataclass(frozen=True, slots=True)
class Item:
    """A new item on a source page."""

    source: str
    url: str
    title: str
    text: str
    seen: float  # seconds since 1970


@dataclass(slots=True)
class Watched:
    """The state of a watched source page, as it is stored."""

    url: str
    known: list[str] = field(default_factory=list)  # addresses of items, oldest first
    interval: float = FIRST  # seconds between visits
    due: float = 0.0  # next visit, in seconds since 1970
    looks: int = 0  # visits so far
    failure: str = ""
    etag: str = ""  # of the last response, as is last_modified
    last_modified: str = ""

    def schedule(self, fresh: int, now: float, delay: float = 0.0) -> None:
        """Visit sooner after new items, later without, but not before the host's delay is over."""
        if self.looks:  # at the first visit everything is new
            factor = 0.5 if fresh else 1.5
            self.interval = min(max(self.interval * factor, SOONEST), LATEST)
        self.looks += 1
        self.due = now + max(self.interval, delay)

    def keep_validators(self, response: Response) -> None:
        """Remember ETag and Last-Modified for conditional requests."""
        sent = (response.headers.get(name, "") for name in ("etag", "last-modified"))
        self.etag, self.last_modified = (v if len(v) <= LONGEST_HEADER else "" for v in sent)


def items(body: bytes, url: str, content_type: str = "") -> list[tuple[str, str, str]]:
    """Return URL, title and text of the items in a page's largest list with links."""
    found = next((region for region in _lists(body, url, content_type)), None)
    rows = []
    for record in found.records if found else ():
        links = [link for link in record.links if link.url != url]
        if links:
            title = max((link.text for link in links[:3]), key=len) or record.text[:100]
            rows.append((links[0].url, encodable(title), encodable(record.text[:LONGEST])))
    return rows


def _lists(body: bytes, url: str, content_type: str) -> list[Region]:
    """Return the lists whose records mostly have links: menus last, else the largest first."""
    found = regions(read_tags(body, url, content_type))
    leading = [
        region for region in found if _linking_records(region, url) * 2 > len(region.records)
    ]
    return sorted(leading, key=_is_menu)


def _linking_records(region: Region, url: str) -> int:
    return sum(any(link.url != url for link in record.links) for record in region.records)


def _is_menu(region: Region) -> bool:
    """Return whether the records have no text besides their links, as a site's menu does."""
    written = sum(len(record.text) for record in region.records)
    linked = sum(len(link.text) for record in region.records for link in record.links)
    return written <= linked


_watched = msgspec.json.Decoder(list[Watched]).decode
_item = msgspec.json.Decoder(Item).decode


class Watch:
    """Watched source pages and their state file."""

    def __init__(self, state: Path, sources: Sequence[str]) -> None:
        self._path = state
        kept = self._read()
        self.sources = [kept.get(url) or Watched(url) for url in dict.fromkeys(sources)]

    def next_due(self) -> Watched:
        """Return the source that is due first."""
        return min(self.sources, key=lambda watched: watched.due)

    async def look(self, watched: Watched, world: World, now: float) -> list[Item]:
        """Visit a source and return its new items."""
        visit = await _visit(watched, world)
        watched.failure = "" if visit.failure == UNCHANGED else visit.failure
        fresh: list[Item] = []
        if visit.page is not None:
            response = visit.response
            body = response.body if response else visit.page.html
            kind = response.headers.get("content-type", "") if response else ""
            if response:
                watched.keep_validators(response)
            known = set(watched.known)
            for url, title, text in items(body, visit.page.url, kind):
                if url not in known:
                    known.add(url)
                    fresh.append(Item(watched.url, url, title, text, now))
        watched.known = (watched.known + [item.url for item in fresh])[-MOST_KNOWN:]
        watched.schedule(len(fresh), now, visit.host_delay or 0.0)
        return fresh

    def save(self) -> None:
        """Write the state file atomically."""
        with replacing(self._path) as file:
            file.write(json.dumps([asdict(watched) for watched in self.sources]).encode())

    def _read(self) -> dict[str, Watched]:
        try:
            return {watched.url: watched for watched in _watched(self._path.read_bytes())}
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise HoneyguideError(f"cannot read {self._path}: {error.strerror}") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise HoneyguideError(f"{self._path} is damaged: remove it to start again") from None


async def _visit(watched: Watched, world: World) -> Visit:
    link = Link(watched.url)
    if isinstance(world, Revisitable):
        return await world.revisit(link, watched.etag, watched.last_modified)
    return await world.visit(link)


async def follow(watch: Watch, world: World, once: bool = False) -> AsyncIterator[list[Item]]:
    """Yield the new items of each visit; with `once`, stop when all that are due are visited."""
    begun = time.time()
    while True:
        watched = watch.next_due()
        wait = watched.due - time.time()
        if once and watched.due > begun:
            return
        if wait > 0:
            await asyncio.sleep(wait)
        fresh = await watch.look(watched, world, time.time())
        yield fresh
        # saved after the items were used: after a crash an item may come twice, but none is lost
        watch.save()


def read_sources(path: Path) -> list[str]:
    """Return the URLs in a file: one per line, or JSON lines of 'honeyguide find --json'."""
    try:
        lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    except OSError as error:
        raise HoneyguideError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise HoneyguideError(f"{path} is not text in UTF-8") from None
    found: list[str] = []
    for number, line in enumerate(lines, 1):
        if line and not line.startswith("#"):
            found.extend(_addresses(line, f"{path} line {number}"))
    if not found:
        raise HoneyguideError(f"there is no source page in {path}")
    return list(dict.fromkeys(found))


class _Source(msgspec.Struct):
    url: str


class _Found(msgspec.Struct):
    sources: list[_Source]


def _found(line: str) -> list[str]:
    return [source.url for source in msgspec.json.decode(line, type=_Found).sources]


def _addresses(line: str, where: str) -> list[str]:
    try:
        listed = _found(line) if line[0] == "{" else [line]
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        raise HoneyguideError(f"{where} is neither a URL nor a line of 'find --json'") from None
    known = [urls.canonical(url) for url in listed]
    if None in known:
        raise HoneyguideError(f"{where} is not a web address")
    return [url for url in known if url]


def write_rss(path: Path, found: Sequence[Item], home: str) -> None:
    """Write items as an RSS feed whose link is `home`."""
    entries = "".join(
        f"<item><title>{_xml(item.title)}</title><link>{_xml(item.url)}</link>"
        f'<guid isPermaLink="true">{_xml(item.url)}</guid>'
        f"<description>{_xml(item.text)}</description>"
        f"<pubDate>{formatdate(item.seen, usegmt=True)}</pubDate></item>\n"
        for item in found
    )
    feed = (
        '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel>'
        f"<title>honeyguide watch</title><link>{_xml(home)}</link>"
        f"<description>New items of watched pages</description>\n{entries}</channel></rss>\n"
    )
    with replacing(path) as file:
        file.write(feed.encode())


def _xml(text: str) -> str:
    return escape("".join(sign for sign in text if sign.isprintable() or sign == " "))


def read_items(path: Path) -> list[Item]:
    """Return the items in a JSON lines file, without lines that a crash has cut off."""
    rows: list[Item] = []
    try:
        lines = path.read_bytes().splitlines() if path.exists() else []
    except OSError as error:
        raise HoneyguideError(f"cannot read {path}: {error.strerror}") from None
    for line in lines:
        try:
            rows.append(_item(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
    return [row for row in rows if 0 <= row.seen < LAST_YEAR]


def not_yet_written(fresh: Sequence[Item], written: Sequence[Item]) -> list[Item]:
    """Return the items that are not in `written`: a crash may come between writing and saving."""
    known = {(item.source, item.url) for item in written}
    return [replace(item) for item in fresh if (item.source, item.url) not in known]
