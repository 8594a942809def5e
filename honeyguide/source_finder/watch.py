"""Watch source pages: what is new on them, each item once, also after a restart."""

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

SOONEST, LATEST = 600.0, 7 * 86_400.0  # seconds between two looks at a source
FIRST = 6 * 3_600.0
UNCHANGED = "not modified"  # the failure of a visit to a page that is as it was
LONGEST = 500  # characters of an item's text
LONGEST_HEADER = 1_000  # characters; a longer one is not sent back
LAST_YEAR = 2.5e11  # seconds since 1970; calendars end in the year 9999
MOST_KNOWN = 5_000  # items of a source that are remembered; the oldest are forgotten


@dataclass(frozen=True, slots=True)
class Item:
    """Something new on a source page."""

    source: str
    url: str
    title: str
    text: str
    seen: float  # when, in seconds since 1970


@dataclass(slots=True)
class Watched:
    """What is known of a source page."""

    url: str
    known: list[str] = field(default_factory=list)  # addresses of items, oldest first
    interval: float = FIRST  # seconds to the next look
    due: float = 0.0
    looks: int = 0
    failure: str = ""
    etag: str = ""  # of the page as it was last read
    last_modified: str = ""

    def note(self, fresh: int, now: float, rest: float = 0.0) -> None:
        """Come back sooner after news, later without, but not before the host has rested."""
        if self.looks:  # the first look finds everything new
            factor = 0.5 if fresh else 1.5
            self.interval = min(max(self.interval * factor, SOONEST), LATEST)
        self.looks += 1
        self.due = now + max(self.interval, rest)

    def keep(self, response: Response) -> None:
        """Remember what tells a page that is as it was."""
        said = (response.headers.get(name, "") for name in ("etag", "last-modified"))
        self.etag, self.last_modified = (v if len(v) <= LONGEST_HEADER else "" for v in said)


def items(body: bytes, url: str, content_type: str = "") -> list[tuple[str, str, str]]:
    """Address, title and text of the items in a page's largest list with links."""
    found = next((region for region in _lists(body, url, content_type)), None)
    rows = []
    for record in found.records if found else ():
        links = [link for link in record.links if link.url != url]
        if links:
            title = max((link.text for link in links[:3]), key=len) or record.text[:100]
            rows.append((links[0].url, encodable(title), encodable(record.text[:LONGEST])))
    return rows


def _lists(body: bytes, url: str, content_type: str) -> list[Region]:
    """Lists whose records mostly lead on and say more than a menu's, the largest first."""
    found = regions(read_tags(body, url, content_type))
    leading = [region for region in found if _leads(region, url) * 2 > len(region.records)]
    return sorted(leading, key=_is_menu)


def _leads(region: Region, url: str) -> int:
    return sum(any(link.url != url for link in record.links) for record in region.records)


def _is_menu(region: Region) -> bool:
    """Whether records say nothing beyond their links: the template of a site, not its news."""
    said = sum(len(record.text) for record in region.records)
    linked = sum(len(link.text) for record in region.records for link in record.links)
    return said <= linked


_watched = msgspec.json.Decoder(list[Watched]).decode
_item = msgspec.json.Decoder(Item).decode


class Watch:
    """Source pages in a state file that is written whole, after every look."""

    def __init__(self, state: Path, sources: Sequence[str]) -> None:
        self._path = state
        kept = self._read()
        self.sources = [kept.get(url) or Watched(url) for url in dict.fromkeys(sources)]

    def next_due(self) -> Watched:
        """The source whose turn comes first."""
        return min(self.sources, key=lambda watched: watched.due)

    async def look(self, watched: Watched, world: World, now: float) -> list[Item]:
        """Visit a source; what is new there."""
        visit = await _visit(watched, world)
        watched.failure = "" if visit.failure == UNCHANGED else visit.failure
        fresh: list[Item] = []
        if visit.page is not None:
            response = visit.response
            body = response.body if response else visit.page.html
            kind = response.headers.get("content-type", "") if response else ""
            if response:
                watched.keep(response)
            known = set(watched.known)
            for url, title, text in items(body, visit.page.url, kind):
                if url not in known:
                    known.add(url)
                    fresh.append(Item(watched.url, url, title, text, now))
        watched.known = (watched.known + [item.url for item in fresh])[-MOST_KNOWN:]
        watched.note(len(fresh), now, visit.host_delay or 0.0)
        return fresh

    def save(self) -> None:
        """Keep what is known, whole or not at all."""
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
            raise HoneyguideError(f"{self._path} is damaged: remove it to start anew") from None


async def _visit(watched: Watched, world: World) -> Visit:
    link = Link(watched.url)
    if isinstance(world, Revisitable):
        return await world.revisit(link, watched.etag, watched.last_modified)
    return await world.visit(link)


async def follow(watch: Watch, world: World, once: bool = False) -> AsyncIterator[list[Item]]:
    """What is new, look by look; once: every source that is due, then the end."""
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
        watch.save()  # after whoever reads them has them: an item may come twice, never not at all


def read_sources(path: Path) -> list[str]:
    """Addresses from a file: one a line, or JSON lines of 'honeyguide find --json'."""
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
        said = _found(line) if line[0] == "{" else [line]
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        raise HoneyguideError(
            f"{where} is neither an address nor a line of 'find --json'"
        ) from None
    known = [urls.canonical(url) for url in said]
    if None in known:
        raise HoneyguideError(f"{where} is no web address")
    return [url for url in known if url]


def write_rss(path: Path, found: Sequence[Item], home: str) -> None:
    """The latest items as an RSS feed of the page that a reader of it is led to."""
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
    """Items that were written before; a last line cut short by a crash is passed over."""
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


def once_each(fresh: Sequence[Item], written: Sequence[Item]) -> list[Item]:
    """Those of the items that were not written yet: a crash may fall between writing and saving."""
    known = {(item.source, item.url) for item in written}
    return [replace(item) for item in fresh if (item.source, item.url) not in known]
