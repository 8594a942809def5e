"""Import WARC files, or the WAT files that Common Crawl derives from them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from honeyguide import urls
from honeyguide.contracts import Link, Page
from honeyguide.errors import HoneyguideError
from honeyguide.recorded.importers.streams import Progress
from honeyguide.recorded.importers.variants import Variants
from honeyguide.recorded.writer import GraphWriter
from honeyguide.text.words import counted
from honeyguide.warc.reader import (
    CONVERSION,
    MAX_BODY,
    METADATA,
    RESPONSE,
    archived,
    records,
    target,
)
from honeyguide.web.archive import answer, warc_files
from honeyguide.web.fetch_limits import Terms
from honeyguide.web.html import parse
from honeyguide.web.robots_txt import obey_directives

_TERMS = Terms(cut=True)


class _WatLink(msgspec.Struct):
    path: str = ""
    url: str = ""
    text: str = ""
    rel: str = ""


class _WatMeta(msgspec.Struct):
    name: str = ""
    content: str = ""


class _WatHead(msgspec.Struct):
    title: str = msgspec.field(default="", name="Title")
    base: str = msgspec.field(default="", name="Base")
    metas: list[_WatMeta] = msgspec.field(default_factory=list, name="Metas")


class _WatHtml(msgspec.Struct):
    head: _WatHead = msgspec.field(default_factory=_WatHead, name="Head")
    links: list[_WatLink] = msgspec.field(default_factory=list, name="Links")


def import_warc(
    sources: Path | Sequence[Path],
    out: Path,
    progress: Progress | None = None,
    strict: bool = False,  # whether a damaged file among several is an error
    join_variants: bool = False,  # whether variants of a URL and redirects lead to one page
    skipped: Callable[[str], None] = lambda line: None,  # is told which files were skipped, and why
) -> dict[str, int]:
    """Write a recorded web from the pages of WARC or WAT files; return counts."""
    files = list(warc_files([sources] if isinstance(sources, str | Path) else sources))
    sizes = [path.stat().st_size for path in files]
    variants = Variants() if join_variants else None
    with GraphWriter(out, ways=variants.ways if variants else None) as writer:
        failed: list[HoneyguideError] = []
        for number, path in enumerate(files):
            before, done = len(writer), sum(sizes[:number])
            notify = _shifted(progress, done, sum(sizes)) if progress else None
            try:
                _read(path, writer, variants, notify)
            except HoneyguideError as error:
                if strict or len(files) == 1:
                    raise
                failed.append(error)
                skipped(f"{error}: skipped{_after(len(writer) - before)}")
        if not len(writer):
            raise failed[0] if failed else HoneyguideError(f"{files[0]} has no pages")
    return writer.counts


def _shifted(progress: Progress, before: int, total: int) -> Callable[[int], None]:
    return lambda done: progress(before + done, total)


def _after(pages: int) -> str:
    return f" after {counted(pages, 'page')}, which are kept" if pages else ""


def _read(
    path: Path,
    writer: GraphWriter,
    variants: Variants | None,
    notify: Callable[[int], None] | None,
) -> None:
    """Add the pages of one file; a HoneyguideError if it is damaged or has no links."""
    for record in records(path):
        if notify is not None:
            notify(record.stream_pos)
        if record.record_type == CONVERSION:
            raise HoneyguideError(
                f"{path} is a WET file, which has texts but no links: take the WARC or WAT file"
            )
        found = _page(record)
        if isinstance(found, _Redirect):
            if variants is not None:
                variants.redirect(found.url, found.to)
        elif found is not None:
            _add(writer, found)


class _Redirect(NamedTuple):
    """An answer that sends to another URL."""

    url: str
    to: str


def _redirect(url: str, status: int, headers: Mapping[str, str]) -> _Redirect | None:
    to = urls.canonical(headers.get("location", ""), url) if 300 <= status < 400 else None
    return _Redirect(url, to) if to else None


def _add(writer: GraphWriter, page: Page) -> None:
    links = [(link.url, link.anchor, link.context, link.tag_path) for link in page.links]
    writer.add(page.url, page.url, page.title, page.text, links, ())


def _page(record: Any) -> Page | _Redirect | None:
    """Return the page or the redirect of a record; None if it has none."""
    url = urls.canonical(target(record))
    if url is None:
        return None
    if record.record_type == RESPONSE:
        return _from_response(record, url)
    if record.record_type == METADATA:
        return _from_wat(record, url)
    return None


def _from_response(record: Any, url: str) -> Page | _Redirect | None:
    found = archived(record)
    if found is None:
        return None
    if found.status != 200:
        return _redirect(url, found.status, found.headers)
    body, failure = answer(found, _TERMS)
    if failure or not body:
        return None
    parsed = parse(body, url, found.headers.get("content-type", ""))
    return obey_directives(parsed.page, parsed.noindex, found.headers)[0]


def _from_wat(record: Any, url: str) -> Page | _Redirect | None:
    """Return the page of a WAT record: title and links without text."""
    if "json" not in (record.headers.get("Content-Type") or ""):
        return None
    try:
        envelope = msgspec.json.decode(record.reader.read(MAX_BODY))["Envelope"]
        about = envelope["Payload-Metadata"]["HTTP-Response-Metadata"]
        status, headers = _wat_status(about), _wat_headers(about)
        if status != 200:
            return _redirect(url, status, headers)
        html = msgspec.convert(about["HTML-Metadata"], _WatHtml)
    except (
        msgspec.DecodeError,
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
    ):  # metadata of a request or an image, or broken
        return None
    return _obeyed(url, html, headers)


def _wat_status(about: Mapping[str, Any]) -> int:
    """The status of an answer; 200 if the file does not tell."""
    return int(about.get("Response-Message", {}).get("Status", 200))


def _wat_headers(about: Mapping[str, Any]) -> dict[str, str]:
    """Headers with names in lower case; a repeated one has a list of values."""
    headers: dict[str, str] = {}
    for name, value in about.get("Headers", {}).items():
        values = value if isinstance(value, list) else [value]
        headers[name.lower()] = ", , ".join(map(str, values))
    return headers


def _obeyed(url: str, html: _WatHtml, headers: Mapping[str, str]) -> Page:
    """The page without what it asks crawlers not to use."""
    said = {
        directive.strip()
        for meta in html.head.metas
        if meta.name.strip().lower() in ("robots", "honeyguide")
        for directive in meta.content.lower().split(",")
    }
    base = urls.canonical(html.head.base, url) or url
    links = [
        Link(to, link.text)
        for link in html.links
        if link.path.startswith(("A@", "AREA@"))
        and "nofollow" not in link.rel.lower()
        and (to := urls.canonical(link.url, base))
    ]
    page = Page(url, html.head.title, "", () if said & {"nofollow", "none"} else tuple(links))
    return obey_directives(page, bool(said & {"noindex", "none"}), headers)[0]
