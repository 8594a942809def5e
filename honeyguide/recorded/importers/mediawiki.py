"""Read MediaWiki's XML exports page by page."""

import bz2
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, NamedTuple
from xml.parsers import expat

from honeyguide.errors import HoneyguideError
from honeyguide.recorded.importers.streams import Progress, UnpackLimit, open_stream
from honeyguide.recorded.importers.wikitext import Site

CHUNK, PACKED = 1 << 20, 1 << 16  # bytes read at once
MAX_TEXT = 1 << 24  # characters of a page; MediaWiki's own limit is 2 MB
MAX_NAME = 1 << 12  # characters of anything else; titles have at most 255 bytes
MAX_TAG = 1 << 24  # bytes of a tag or comment
MAX_DEPTH = 20  # nested elements; an export has six


class RawPage(NamedTuple):
    """An exported page with the text of its last revision."""

    title: str
    namespace: int
    id: int
    redirect: str  # target title of a redirect; empty for other pages
    text: str


class Export:
    """An export file of Special:Export or of a whole wiki, compressed or not."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.site = Site()  # as is `base`, set before the first page is read
        self.base = ""  # URL prefix of pages

    def pages(self, progress: Progress | None = None) -> Iterator[RawPage]:
        """Yield all wikitext pages in order."""
        handler = _Handler(self)
        for chunk in chunks(self.path, progress):
            handler.feed(chunk)
            yield from handler.pages
            handler.pages.clear()
        handler.feed(b"")


class _Handler:
    """Collects pages from the events of the XML parser."""

    def __init__(self, export: Export) -> None:
        self.pages: list[RawPage] = []
        self._export = export
        self._values: dict[str, str] = {}  # texts of the present page or site, by element
        self._pieces: list[str] = []  # of the present element's text
        self._size = self._most = 0  # characters of the present element, and the most to keep
        self._fed = self._depth = 0  # bytes read, elements that are open
        self._redirect = ""
        self._ignoring = False  # inside a revision's content other than its wikitext
        self._key = 0  # number of the present namespace
        self._namespaces: dict[int, str] = {}
        self._as_written: set[int] = set()
        parser = self._parser = expat.ParserCreate()
        parser.buffer_text, parser.buffer_size = True, 1 << 16
        parser.StartElementHandler, parser.EndElementHandler = self._root, self._end
        parser.StartDoctypeDeclHandler = self._no_export

    def feed(self, chunk: bytes) -> None:
        """Parse a chunk; an empty one ends the file."""
        self._fed += len(chunk)
        try:
            self._parser.Parse(chunk, not chunk)
        except expat.ExpatError as error:
            raise self._syntax_error(error, cut_off=not chunk) from None
        except (LookupError, ValueError) as error:
            raise HoneyguideError(f"cannot read {self._export.path}: {error}") from None
        if self._fed - max(0, self._parser.CurrentByteIndex) > MAX_TAG:
            raise HoneyguideError(f"{self._export.path} has a tag of more than {MAX_TAG >> 20} MB")

    def _syntax_error(self, error: expat.ExpatError, cut_off: bool) -> HoneyguideError:
        if self._parser.StartElementHandler == self._root:
            return HoneyguideError(f"{self._export.path} is not a MediaWiki export")
        where = f"line {error.lineno}"
        if title := self._values.get("title"):
            where += f", in or after the page {title!r}"
        if cut_off:
            return HoneyguideError(f"{self._export.path} is cut off in {where}")
        return HoneyguideError(
            f"{self._export.path} is broken in {where}: {expat.errors.messages[error.code]}"
        )

    def _no_export(self, name: str, *_: object) -> None:
        raise HoneyguideError(
            f"{self._export.path} is not a MediaWiki export: it begins with {name}"
        )

    # ------------------------------------------------------------------- elements

    def _root(self, name: str, _: dict[str, str]) -> None:
        if name != "mediawiki":
            self._no_export(f"<{name}>")
        self._parser.StartElementHandler = self._start

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise HoneyguideError(
                f"{self._export.path} is not a MediaWiki export: its tags are nested too deeply"
            )
        if name in _READ:
            # the first of several ids is the page's own
            if not self._ignoring and (name != "id" or "id" not in self._values):
                self._size, self._most = 0, MAX_TEXT if name == "text" else MAX_NAME
                self._parser.CharacterDataHandler = self._characters
            if name == "namespace":
                self._key = _number(attributes.get("key", ""))
                if attributes.get("case") == "case-sensitive":
                    self._as_written.add(self._key)
        elif name == "page":
            self._values.clear()
            self._redirect = ""
        elif name == "redirect":
            self._redirect = attributes.get("title", "")[:MAX_NAME]
        elif name == "content":
            self._ignoring = True

    def _characters(self, text: str) -> None:
        self._size += len(text)
        if self._size <= self._most:
            self._pieces.append(text)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if self._parser.CharacterDataHandler is not None:
            self._parser.CharacterDataHandler = None
            self._values[name] = "".join(self._pieces)
            self._pieces.clear()
        if name == "page":
            self._add()
        elif name == "content":
            self._ignoring = False
        elif name == "namespace":
            self._namespaces[self._key] = self._values.get("namespace", "")
        elif name == "siteinfo":
            self._export.site = Site(self._namespaces, frozenset(self._as_written))
            self._export.base = _base(self._values.get("base", ""))

    def _add(self) -> None:
        values = self._values
        if not values.get("title"):
            line = self._parser.CurrentLineNumber
            raise HoneyguideError(
                f"{self._export.path} is broken in line {line}: a page has no title"
            )
        if values.get("model", "wikitext") == "wikitext":
            namespace, id = _number(values.get("ns", "")), _number(values.get("id", ""))
            page = RawPage(values["title"], namespace, id, self._redirect, values.get("text", ""))
            self.pages.append(page)


_READ = frozenset("base namespace title ns id model text".split())
_is_number = re.compile(r"\s*-?[0-9]{1,18}\s*").fullmatch


def _number(text: str) -> int:
    return int(text) if _is_number(text) else 0


def _base(main_page: str) -> str:
    """Return the URL prefix of pages, given the URL of the main page."""
    for mark in ("title=", "/wiki/"):
        before, found, _ = main_page.partition(mark)
        if found:
            return before + mark
    return main_page[: main_page.rfind("/") + 1]


# --------------------------------------------------------------------------- bytes


def chunks(path: Path, progress: Progress | None = None) -> Iterator[bytes]:
    """Yield the content of a plain, bzip2, gzip or zstd file; a thread decompresses ahead."""
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
    """Decompress all bzip2 streams of a file, one after another."""
    limit = UnpackLimit(path)
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
                limit.count(len(chunk))
                if chunk:
                    yield chunk
            data = unpacker.unused_data
