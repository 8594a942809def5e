"""Import JSON lines: one {"id", "title", "text", "url", "links", "labels"} per page."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from honeyguide.errors import HoneyguideError
from honeyguide.recorded.importers.streams import Progress, lines, open_stream
from honeyguide.recorded.writer import GraphWriter


class Row(msgspec.Struct):
    """One line; a link is [target id or URL, anchor], optionally with context and tag path."""

    id: str
    title: str | None = None
    text: str | None = None
    url: str | None = None
    links: list[list[str | None]] = []
    labels: list[str] = []


_decode = msgspec.json.Decoder(Row).decode


def import_jsonl(source: Path, out: Path, progress: Progress | None = None) -> dict[str, int]:
    """Write a recorded web from a plain or compressed .jsonl file; return counts."""
    source = Path(source)
    with open_stream(source, progress) as stream, GraphWriter(out) as writer:
        for number, row in _rows(lines(stream, source), source):
            links = [[part or "" for part in link] for link in row.links]
            if not all(1 <= len(link) <= 4 and link[0] for link in links):
                raise HoneyguideError(f"{source} line {number}: a link must be [target, anchor]")
            writer.add(row.id, row.url or "", row.title or "", row.text or "", links, row.labels)
        if not len(writer):
            raise HoneyguideError(f"{source} has no pages")
    return writer.counts


def _rows(raw_lines: Iterator[bytes], source: Path) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(raw_lines, 1):
        if not line.strip():
            continue
        try:
            yield number, _decode(line)
        except RecursionError:
            raise HoneyguideError(f"{source} line {number} is nested too deeply") from None
        except msgspec.ValidationError as error:
            raise HoneyguideError(f"{source} line {number} is not a page: {error}") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if not line.endswith(b"\n"):
                raise HoneyguideError(f"{source} is cut off in line {number}") from None
            raise HoneyguideError(f"{source} line {number} is not JSON: {error}") from None
