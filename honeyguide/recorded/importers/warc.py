"""Import WARC files, or the WAT files that Common Crawl derives from them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from honeyguide import urls
from honeyguide.contracts import Link, Page
from honeyguide.errors import HoneyguideError
from honeyguide.recorded.importers.streams import Progress
from honeyguide.recorded.writer import GraphWriter
from honeyguide.warc.reader import MAX_BODY, METADATA, RESPONSE, archived, records, target
from honeyguide.web.archive import answer, warc_files
from honeyguide.web.fetch_limits import Terms
from honeyguide.web.html import parse
from honeyguide.web.robots_txt import obey_directives

_TERMS = Terms(cut=True)


class _WatLink(msgspec.Struct):
    path: str = ""
    url: str = ""
    text: str = ""


class _WatHead(msgspec.Struct):
    title: str = msgspec.field(default="", name="Title")
    base: str = msgspec.field(default="", name="Base")


class _WatHtml(msgspec.Struct):
    head: _WatHead = msgspec.field(default_factory=_WatHead, name="Head")
    links: list[_WatLink] = msgspec.field(default_factory=list, name="Links")


def import_warc(
    sources: Path | Sequence[Path], out: Path, progress: Progress | None = None
) -> dict[str, int]:
    """Write a recorded web from the pages of WARC or WAT files; return counts."""
    files = list(warc_files([sources] if isinstance(sources, str | Path) else sources))
    sizes = [path.stat().st_size for path in files]
    with GraphWriter(out) as writer:
        for number, path in enumerate(files):
            for record in records(path):
                if progress is not None:
                    progress(sum(sizes[:number]) + record.stream_pos, sum(sizes))
                page = _page(record)
                if page is not None:
                    _add(writer, page)
        if not len(writer):
            raise HoneyguideError(f"{files[0]} has no pages")
    return writer.counts


def _add(writer: GraphWriter, page: Page) -> None:
    links = [(link.url, link.anchor, link.context, link.tag_path) for link in page.links]
    writer.add(page.url, page.url, page.title, page.text, links, ())


def _page(record: Any) -> Page | None:
    """Return the page of a record; None if it has none."""
    url = urls.canonical(target(record))
    if url is None:
        return None
    if record.record_type == RESPONSE:
        return _from_response(record, url)
    if record.record_type == METADATA:
        return _from_wat(record, url)
    return None


def _from_response(record: Any, url: str) -> Page | None:
    found = archived(record)
    if found is None or found.status != 200:
        return None
    body, failure = answer(found, _TERMS)
    if failure or not body:
        return None
    parsed = parse(body, url, found.headers.get("content-type", ""))
    return obey_directives(parsed.page, parsed.noindex, found.headers)[0]


def _from_wat(record: Any, url: str) -> Page | None:
    """Return the page of a WAT record: title and links without text."""
    if "json" not in (record.headers.get("Content-Type") or ""):
        return None
    try:
        envelope = msgspec.json.decode(record.reader.read(MAX_BODY))["Envelope"]
        about = envelope["Payload-Metadata"]["HTTP-Response-Metadata"]["HTML-Metadata"]
        html = msgspec.convert(about, _WatHtml)
    except (
        msgspec.DecodeError,
        KeyError,
        TypeError,
        RecursionError,
    ):  # metadata of a request or an image, or broken
        return None
    base = urls.canonical(html.head.base, url) or url
    links = [
        Link(to, link.text)
        for link in html.links
        if link.path.startswith(("A@", "AREA@")) and (to := urls.canonical(link.url, base))
    ]
    return Page(url, html.head.title, "", tuple(links))
