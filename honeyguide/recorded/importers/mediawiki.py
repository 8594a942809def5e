"""MediaWiki's XML exports, page by page."""

import bz2
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, NamedTuple
from xml.parsers import expat

from honeyguide.errors import HoneyguideError
from honeyguide.recorded.importers.streams import Growth, Progress, open_stream
from honeyguide.recorded.importers.wikitext import Site

CHUNK, PACKED = 1 << 20, 1 << 16  # bytes read at once
MAX_TEXT = 1 << 24  # characters of a page; MediaWiki's own bound is 2 MB
MAX_NAME = 1 << 12  # characters of anything else; titles have at most 255 bytes
MAX_TAG = 1 << 24  # bytes of a tag or comment
MAX_DEPTH = 20  # elements within one another; an export has six


class RawPage(NamedTuple):
    """A page as exported; the text is that of its last revision."""

    title: str
    namespace: int
    id: int
    redirect: str  # the title it leads to; empty for other pages
    text: str


class Export:
    """A file that Special:Export or a dump of a whole wiki makes, compressed or not."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.site = Site()  # these two are known before the first page comes
        self.base = ""  # what URLs of pages begin with

    def pages(self, progress: Progress | None = None) -> Iterator[RawPage]:
        """All pages that are wikitext, in order."""
        handler = _Handler(self)
        for chunk in chunks(self.path, progress):
            handler.feed(chunk)
            yield from handler.pages
            handler.pages.clear()
        handler.feed(b"")


class _Handler:
    """Collects pages from what the XML parser reports."""

    def __init__(self, export: Export) -> None:
        self.pages: list[RawPage] = []
        self._export = export
        self._said: dict[str, str] = {}  # of the present page or site, by element
        self._heard: list[str] = []
        self._size = self._most = 0  # characters heard of an element, and those that are kept
        self._fed = self._depth = 0  # bytes read, elements that are open
        self._redirect = ""
        self._deaf = False  # inside other content of a revision than its wikitext
        self._key = 0  # of a namespace
        self._namespaces: dict[int, str] = {}
        self._as_written: set[int] = set()
        parser = self._parser = expat.ParserCreate()
        parser.buffer_text, parser.buffer_size = True, 1 << 16
        parser.StartElementHandler, parser.EndElementHandler = self._root, self._end
        parser.StartDoctypeDeclHandler = self._no_export

    def feed(self, chunk: bytes) -> None:
        """Read on; nothing means the end."""
        self._fed += len(chunk)
        try:
            self._parser.Parse(chunk, not chunk)
        except expat.ExpatError as error:
            raise self._complaint(error, cut_off=not chunk) from None
        except (LookupError, ValueError) as error:
            raise HoneyguideError(f"cannot read {self._export.path}: {error}") from None
        if self._fed - max(0, self._parser.CurrentByteIndex) > MAX_TAG:
            raise HoneyguideError(f"{self._export.path} has a tag of more than {MAX_TAG >> 20} MB")

    def _complaint(self, error: expat.ExpatError, cut_off: bool) -> HoneyguideError:
        if self._parser.StartElementHandler == self._root:
            return HoneyguideError(f"{self._export.path} is no MediaWiki export")
        where = f"line {error.lineno}"
        if title := self._said.get("title"):
            where += f", in or after the page {title!r}"
        if cut_off:
            return HoneyguideError(f"{self._export.path} is cut off in {where}")
        return HoneyguideError(
            f"{self._export.path} is broken in {where}: {expat.errors.messages[error.code]}"
        )

    def _no_export(self, name: str, *_: object) -> None:
        raise HoneyguideError(f"{self._export.path} is no MediaWiki export: it begins with {name}")

    # ------------------------------------------------------------------- elements

    def _root(self, name: str, _: dict[str, str]) -> None:
        if name != "mediawiki":
            self._no_export(f"<{name}>")
        self._parser.StartElementHandler = self._start

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise HoneyguideError(
                f"{self._export.path} is no MediaWiki export: too many tags in one"
            )
        if name in _HEARD:
            # of several ids the first is the page's own
            if not self._deaf and (name != "id" or "id" not in self._said):
                self._size, self._most = 0, MAX_TEXT if name == "text" else MAX_NAME
                self._parser.CharacterDataHandler = self._hear
            if name == "namespace":
                self._key = _number(attributes.get("key", ""))
                if attributes.get("case") == "case-sensitive":
                    self._as_written.add(self._key)
        elif name == "page":
            self._said.clear()
            self._redirect = ""
        elif name == "redirect":
            self._redirect = attributes.get("title", "")[:MAX_NAME]
        elif name == "content":
            self._deaf = True

    def _hear(self, text: str) -> None:
        self._size += len(text)
        if self._size <= self._most:
            self._heard.append(text)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if self._parser.CharacterDataHandler is not None:
            self._parser.CharacterDataHandler = None
            self._said[name] = "".join(self._heard)
            self._heard.clear()
        if name == "page":
            self._add()
        elif name == "content":
            self._deaf = False
        elif name == "namespace":
            self._namespaces[self._key] = self._said.get("namespace", "")
        elif name == "siteinfo":
            self._export.site = Site(self._namespaces, frozenset(self._as_written))
            self._export.base = _base(self._said.get("base", ""))

    def _add(self) -> None:
        said = self._said
        if not said.get("title"):
            line = self._parser.CurrentLineNumber
            raise HoneyguideError(
                f"{self._export.path} is broken in line {line}: a page has no title"
            )
        if said.get("model", "wikitext") == "wikitext":
            namespace, id = _number(said.get("ns", "")), _number(said.get("id", ""))
            page = RawPage(said["title"], namespace, id, self._redirect, said.get("text", ""))
            self.pages.append(page)


_HEARD = frozenset("base namespace title ns id model text".split())
_is_number = re.compile(r"\s*-?[0-9]{1,18}\s*").fullmatch


def _number(text: str) -> int:
    return int(text) if _is_number(text) else 0


def _base(main_page: str) -> str:
    """What comes before a title in a URL, from the URL of the main page."""
    for mark in ("title=", "/wiki/"):
        before, found, _ = main_page.partition(mark)
        if found:
            return before + mark
    return main_page[: main_page.rfind("/") + 1]


# --------------------------------------------------------------------------- bytes


def chunks(path: Path, progress: Progress | None = None) -> Iterator[bytes]:
    """The content of a plain, bzip2, gzip or zstd file; a thread decompresses ahead."""
    done = total = 0

    def note(*now: int) -> None:
        nonlocal done, total
        done, total = now

    with open_stream(path, note) as stream, ThreadPoolExecutor(1) as ahead:
        packed = stream.peek(3)[:3] == b"BZh"  # type: ignore[attr-defined]
        pieces = _bunzip(stream, path) if packed else iter(lambda: stream.read(CHUNK), b"")
        coming = ahead.submit(next, pieces, b"")
        while chunk := coming.result():
            coming = ahead.submit(next, pieces, b"")
            yield chunk
            if progress is not None:
                progress(done, total)


def _bunzip(stream: BinaryIO, path: Path) -> Iterator[bytes]:
    """Decompress one bzip2 stream after another, as many as there are."""
    growth = Growth(path)
    while data := stream.read(PACKED):
        while data:
            unpacker = bz2.BZ2Decompressor()
            while not unpacker.eof:
                if unpacker.needs_input and not (data := data or stream.read(PACKED)):
                    raise HoneyguideError(f"{path} is cut off")
                try:
                    chunk = unpacker.decompress(data, CHUNK)
                except OSError:
                    raise HoneyguideError(f"{path} is damaged") from None
                data = b""
                growth.note(len(chunk))
                if chunk:
                    yield chunk
            data = unpacker.unused_data
