"""Read example pages from JSON lines (one page per line) or folders of text and HTML files."""

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from honeyguide.contracts import Page
from honeyguide.errors import HoneyguideError
from honeyguide.recorded.importers.streams import open_stream
from honeyguide.web.html import MAX_BODY, parse


class Row(msgspec.Struct):
    """One line as 'honeyguide export' writes it; other fields are ignored."""

    url: str | None = None
    title: str | None = None
    text: str | None = None


_decode = msgspec.json.Decoder(Row).decode


def read_pages(paths: Sequence[Path]) -> list[Page]:
    """Return the distinct pages with text in files and folders."""
    pages: dict[tuple[str, str], Page] = {}
    for path in paths:
        for page in _in_folder(path) if path.is_dir() else _in_file(path):
            if page.text.strip() or page.title.strip():
                pages.setdefault((page.title, page.text), page)
    if not pages:
        raise HoneyguideError(f"there is no page in {' or '.join(map(str, paths))}")
    return list(pages.values())


def _in_file(path: Path) -> Iterator[Page]:
    with open_stream(path) as stream:
        start = stream.peek(1024).removeprefix(BOM_UTF8).lstrip()[:1]  # type: ignore[attr-defined]
        if start == b"{":
            yield from _json_lines(stream, path)
        elif start == b"<":
            yield parse(stream.read(MAX_BODY), path.name).page
        else:
            yield from _text_lines(stream, path)


def _text_lines(lines: BinaryIO, path: Path) -> Iterator[Page]:
    for number, line in enumerate(lines, 1):
        try:
            if b"\0" in line:
                raise ValueError
            yield Page(str(path), text=line.decode("utf-8").strip())
        except ValueError:
            raise HoneyguideError(f"{path} is not text in UTF-8: see line {number}") from None


def _json_lines(lines: BinaryIO, path: Path) -> Iterator[Page]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = _decode(line.removeprefix(BOM_UTF8))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise HoneyguideError(f"{path} line {number} is not a page: {error}") from None
        yield Page(row.url or "", row.title or "", row.text or "")


def _in_folder(folder: Path) -> Iterator[Page]:
    """Yield one page per file; files that are neither text nor HTML are skipped."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name.startswith("."):
            continue
        try:
            with path.open("rb") as file:
                body = file.read(MAX_BODY)
        except OSError as error:
            raise HoneyguideError(f"cannot read {path}: {error.strerror}") from None
        if body.lstrip().startswith(b"<"):
            yield parse(body, path.name).page
        elif b"\0" not in body:
            yield Page(str(path), text=body.decode("utf-8", "replace"))
