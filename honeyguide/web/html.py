"""Parse HTML into a page: main text, title, language, and links with their context."""

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5
from selectolax.lexbor import LexborHTMLParser

from honeyguide import urls
from honeyguide.contracts import Link, Metadata, Page
from honeyguide.web.blocks import read_blocks
from honeyguide.web.main_text import main_text
from honeyguide.web.metadata import SELECTOR, Statements

MAX_BODY = 2_000_000  # bytes read of a page
MAX_TAGS = 20_000  # the parser takes time quadratic in the depth of nesting
MAX_LINKS = 5_000
MAX_LINK_CHARACTERS = 500_000  # of all URLs of a page
MAX_ANCHOR = 300  # characters
MAX_DEPTH = 64  # tags in a path
MAX_TAG = 32  # characters of a tag in a path
MAX_TEXT = 500_000  # characters of a page that are judged and kept
CONTEXT = 150  # characters either side of a link

_MARK = "\x01"  # put before and after each link to find it again in the text
_charset = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE).search
_meta_charset = re.compile(
    rb"<meta[^>]{1,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE
).search
_not_ascii = re.compile(rb"[\x80-\xff]").search
_GUESSED = 16 * 1024  # bytes from which an encoding is guessed
_LINKS = "a[href], area[href], frame[src]"
_SAID = f"base[href], meta, head link[rel][href], {SELECTOR}"
_UNSEEN = ["script", "style", "template"]

# What makes a small page expensive: see _defused.
_FORMATTING = r"<(/?)(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/>])"
_tags = re.compile(r"<[a-zA-Z/]").finditer
_formatting = re.compile(_FORMATTING, re.IGNORECASE)
_ATTRIBUTE = r"[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+)?+)?+"
_language = re.compile(r"[A-Za-z]{2}(?![A-Za-z])").match
_attributes = re.compile(rf"</?[^\s/>]*+(?:{_ATTRIBUTE}){{0,999}}+({_ATTRIBUTE})?").match
# without one of these no tag has that many: a long one, or one with > inside quotes
_long_tag = re.compile(r"<[a-zA-Z/][^>]{2000}").search
_quoted_end = re.compile(r"=\s*+(?:\"[^\">]*+>|'[^'>]*+>)").search


@dataclass(frozen=True, slots=True)
class Parsed:
    """A page and what its head asks of crawlers."""

    page: Page
    nofollow: bool = False
    noindex: bool = False


class Raw(NamedTuple):
    """What was parsed from a page, as plain texts and numbers for another process."""

    title: str
    text: str
    links: list[tuple[str, str, str, str]]  # URL, anchor, context, tag path
    head: tuple[str, bool, bool]  # language, nofollow, noindex
    metadata: tuple[str, str, str, list[str]]  # canonical, author, published, headings


def parse(
    body: bytes,
    url: str,
    content_type: str = "",
    max_links: int = MAX_LINKS,
    follow_nofollow: bool = False,
) -> Parsed:
    """Parse a page, however broken, in bounded time and memory."""
    return build(url, read(body, url, content_type, max_links, follow_nofollow))


def build(url: str, raw: Raw) -> Parsed:
    """Build the page from what was parsed."""
    links = tuple([Link(*link, 0, url) for link in raw.links])
    language, nofollow, noindex = raw.head
    canonical, author, published, headings = raw.metadata
    metadata = Metadata(canonical, author, published, tuple(headings))
    page = Page(url, raw.title, raw.text, links, declared_language=language, metadata=metadata)
    return Parsed(page, nofollow, noindex)


def read(
    body: bytes,
    url: str,
    content_type: str = "",
    max_links: int = MAX_LINKS,
    follow_nofollow: bool = False,
) -> Raw:
    """Parse a page as `parse` does, into plain texts and numbers."""
    html = _defused(decode(body[:MAX_BODY], content_type))
    tree = LexborHTMLParser(html)
    head = _Head(tree, url)
    if tree.root is not None:
        tree.root.strip_tags(_UNSEEN)
    title = title_of(tree)
    text = main_text(read_blocks(tree), title)
    follows = follow_nofollow or not head.nofollow
    nodes = _link_nodes(tree, follow_nofollow)[:max_links] if follows else []
    flat, spans = _flat_text(tree, nodes)
    links = list(_links(nodes, flat, spans, head.base, url))
    asked = head.language, head.nofollow, head.noindex
    return Raw(title, (text or flat)[:MAX_TEXT], links, asked, head.metadata)


def tree(body: bytes, content_type: str = "") -> LexborHTMLParser:
    """The tag tree of a page, however broken, in bounded time and memory."""
    return LexborHTMLParser(_defused(decode(body[:MAX_BODY], content_type)))


# ----------------------------------------------------------------------- bytes to text


def decode(body: bytes, content_type: str = "") -> str:
    """Decode a body by its byte-order mark, header or meta tag; else guess the encoding."""
    for mark, encoding in (
        (BOM_UTF8, "utf-8"),
        (BOM_UTF16_LE, "utf-16-le"),
        (BOM_UTF16_BE, "utf-16-be"),
    ):
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    encoding = _declared(body, content_type)
    if encoding:
        return body.decode(encoding, "replace")
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode(_guessed(body), "replace")


def _guessed(body: bytes) -> str:
    """Guess an encoding from the bytes around the first that is not ASCII."""
    found = _not_ascii(body)
    start = max(0, found.start() - _GUESSED // 4) if found else 0
    return str(detect_encoding(body[start : start + _GUESSED]))


def _declared(body: bytes, content_type: str) -> str:
    found = _charset(content_type)
    label = found[1] if found else ""
    encoding: str | None = map_encoding_to_html5(label, fallback_utf8=False)
    if encoding is None and (meta := _meta_charset(body, 0, 2048)):
        encoding = map_encoding_to_html5(meta[1].decode("ascii", "replace"), fallback_utf8=False)
        if encoding and encoding.startswith("utf-16"):
            encoding = "utf-8"  # a meta tag that is readable as ASCII is not in UTF-16
    return encoding or ""


def _defused(html: str) -> str:
    """The page without what would take quadratic time or memory to parse."""
    tags = html.count("<")
    if "\x00" in html:
        html = html.replace("\x00", "")
    if tags > MAX_TAGS:
        one_too_many = next(islice(_tags(html), MAX_TAGS, None), None)
        html = html[: one_too_many.start()] if one_too_many else html
    if len(html) > 64_000 and (_long_tag(html) or _quoted_end(html)):
        html = html[: _attribute_bomb(html)]
    # parsers repeat unclosed formatting tags inside every block
    if tags > 2_000 and len(_formatting.findall(html)) * tags > 2_000_000:
        html = _formatting.sub(r"<\1span", html)
    return html


def _attribute_bomb(html: str) -> int:
    """Where a tag of a thousand attributes begins: parsers compare each with all others."""
    work = 0  # characters looked at
    for tag in _tags(html):
        found = _attributes(html, tag.start())
        if found is not None:
            work += found.end() - found.start()
            if found.lastindex or work > 10 * MAX_BODY:
                return tag.start()
    return len(html)


# ----------------------------------------------------------------------- links


class _Head:
    """What a page says to crawlers and about itself: base URL, robots directives, metadata."""

    def __init__(self, tree: LexborHTMLParser, url: str) -> None:
        self.base, self.canonical = url, ""
        self.nofollow = self.noindex = False
        self.language = ((tree.root.attributes.get("lang") if tree.root else "") or "")[:2].lower()
        statements = Statements()
        # a misplaced tag ends the head early, so robots directives may be in the body
        for node in tree.css(_SAID):
            tag = node.tag
            if tag in ("base", "meta", "link"):
                self._read(tag, node.attributes, url, statements)
            else:
                statements.note(node)
        self.metadata = self.canonical, *statements.said(), statements.headings

    def _read(
        self, tag: str, given: dict[str, str | None], url: str, statements: Statements
    ) -> None:
        if tag == "meta":
            self._read_meta(given)
            statements.note_meta(given)
        elif tag == "base" and self.base == url:
            self.base = urls.canonical(given["href"] or "", url) or url
        elif tag == "link" and "canonical" in (given["rel"] or "").lower().split():
            self.canonical = self.canonical or urls.canonical(given["href"] or "", self.base) or ""

    def _read_meta(self, given: dict[str, str | None]) -> None:
        if (given.get("name") or "").strip().lower() in ("robots", "honeyguide"):
            said = set(re.split(r"[\s,;|]+", (given.get("content") or "").lower()))
            self.nofollow |= bool(said & {"nofollow", "none"})
            self.noindex |= bool(said & {"noindex", "none"})


def _link_nodes(tree: LexborHTMLParser, follow_nofollow: bool) -> list[Any]:
    nodes = tree.css(_LINKS)
    if follow_nofollow or not tree.css_matches('[rel*="nofollow" i]'):
        return nodes
    return [node for node in nodes if "nofollow" not in (node.attributes.get("rel") or "").lower()]


def _flat_text(tree: LexborHTMLParser, nodes: list[Any]) -> tuple[str, list[tuple[int, int]]]:
    """The page as one line of text, and the position of each link in it."""
    if tree.root is None:
        return "", [(0, 0)] * len(nodes)
    for image in tree.css("a[href] img[alt]")[:MAX_LINKS]:
        image.insert_before(image.attributes["alt"] or "")
    for node in nodes:
        node.insert_before(_MARK)
        node.insert_after(_MARK)
    root = tree.body or tree.root
    # marks stand alone between spaces: of the two around each, one is kept
    pieces = [piece.rstrip() for piece in " ".join(root.text(separator=" ").split()).split(_MARK)]
    flat = "".join(pieces)
    if len(pieces) != 2 * len(nodes) + 1:  # the page itself contains such marks
        return flat, [(0, 0)] * len(nodes)
    return flat, list(_spans(pieces))


def _spans(pieces: list[str]) -> Iterator[tuple[int, int]]:
    end = 0
    for before, inside in zip(pieces[::2], pieces[1::2], strict=False):
        start = end + len(before)
        end = start + len(inside)
        yield start, end


def _links(
    nodes: list[Any], flat: str, spans: Iterable[tuple[int, int]], base: str, source: str
) -> Iterator[tuple[str, str, str, str]]:
    paths: dict[int, tuple[str, int]] = {}
    room = MAX_LINK_CHARACTERS
    for node, (start, end) in zip(nodes, spans, strict=True):
        given = node.attributes
        url = urls.canonical(given.get("href") or given.get("src") or "", base)
        if url is None or url == source:
            continue
        room -= len(url)
        if room < 0:
            return
        stop = min(end, start + MAX_ANCHOR)
        anchor = flat[start:stop].strip()
        anchor = anchor or (given.get("alt") or given.get("title") or "")[:MAX_ANCHOR].strip()
        around = _around(flat, start, stop)
        yield url, anchor, around, f"{_path(node.parent, paths)}/{_own_tag(node.tag, given)}"


def _own_tag(tag: str, given: dict[str, str | None]) -> str:
    """The last tag of a link's path; "a[hreflang=fr]" if the link says its target's language."""
    language = _language(given.get("hreflang") or "")
    return f"{tag}[hreflang={language[0].lower()}]" if language else tag


def _around(flat: str, start: int, stop: int) -> str:
    """The text around a link, CONTEXT characters either side."""
    return flat[max(0, start - CONTEXT) : stop + CONTEXT].strip()


def _path(node: Any, known: dict[int, tuple[str, int]]) -> str:
    """The tags from the root to a node: "html/body/ul/li"."""
    unknown = []
    found = None
    while node is not None and (found := known.get(key := node.mem_id)) is None:
        if (tag := node.tag) == "-document":
            break
        unknown.append((key, (tag or "")[:MAX_TAG]))
        node = node.parent
    path, depth = found or ("", 0)
    for key, tag in reversed(unknown):
        if depth < MAX_DEPTH:
            path, depth = f"{path}/{tag}" if path else tag, depth + 1
        known[key] = path, depth
    return path


# ----------------------------------------------------------------------- text


def title_of(tree: LexborHTMLParser) -> str:
    """The title of a page as one line."""
    title = tree.css_first("title")
    return _line(title.text() if title else "")


def _line(text: str) -> str:
    return " ".join(text.split())[:MAX_ANCHOR]
