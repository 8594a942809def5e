"""Export the pages of a crawl as JSON lines, CSV, Parquet, WARC or Markdown; read its status."""

import csv
import json
import math
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO

from honeyguide.contracts import NO_METADATA
from honeyguide.disk.files import (
    UNFINISHED,
    inside,
    open_inside,
    replacing_folder,
    replacing_path,
)
from honeyguide.disk.serialise import DamagedError
from honeyguide.engine.orders import read_standing
from honeyguide.errors import HoneyguideError, unknown
from honeyguide.storage import requests
from honeyguide.storage.database import (
    CHECKED,
    STANDING,
    WARCS,
    about,
    checksum_matches,
    one_line,
    open_crawl,
    reading,
)
from honeyguide.storage.database import format_of as store_format_of
from honeyguide.storage.ledger import clean
from honeyguide.storage.lock import holder
from honeyguide.storage.markdown_files import file_name, markdown_file, source
from honeyguide.storage.orders import ASK, waiting_orders
from honeyguide.storage.records import Stored, stored
from honeyguide.storage.replay import unpacked_text, visited_page
from honeyguide.text.languages import detected_language
from honeyguide.warc.writer import warcinfo
from honeyguide.web.markdown import text_to_markdown, to_markdown

Progress = Callable[[int, int], None]  # done, total
Row = dict[str, Any]

_COLUMNS = {
    "url": "page_url",
    "requested_url": "url",
    "title": "title",
    "text": "text",
    "relevance": "relevance",
    "relevant": "relevant",
    "reasons": "reasons",
    "score": "score",
    "depth": "depth",
    "parent": "parent",
    "fetched": "fetched",
    "status": "status",
}
_SAID = ("language", "canonical", "author", "published", "headings")  # by the page itself
_LISTS = ("reasons", "headings")
# each page once: its first visit, or the first of those that are relevant enough
_PAGES = """
FROM pages WHERE n IN (
    SELECT min(n) FROM pages
    WHERE page_url IS NOT NULL AND relevant >= ? AND coalesce(relevance, 0) >= ? GROUP BY page_url
) ORDER BY n
"""
# exceptions that a damaged or manipulated database can raise
_MISFITS = (sqlite3.Error, ValueError, TypeError, LookupError, ArithmeticError)
_LATEST = 1e11  # seconds since 1970; later times are damage
_GROUP = 1000  # pages in one row group of a Parquet file
_PIECE = 1 << 20  # bytes that are copied at a time


class Exported(NamedTuple):
    """How many pages an export has, and how many were left out."""

    pages: int
    damaged: int  # pages left out because their rows or records are damaged
    bodiless: int = 0  # pages whose Markdown is their plain text: their bodies are not stored


def export(
    folder: Path,
    format: str,
    out: Path,
    relevant_only: bool = False,
    progress: Progress | None = None,
    min_relevance: float = 0.0,
) -> Exported:
    """Write the pages of a crawl to a new file in a format of FORMATS, and count them.

    The format `markdown` writes a folder with a file for each page.
    """
    _check(format, min_relevance)
    if out.exists() or out.is_symlink():
        raise HoneyguideError(f"{out} already exists: choose another place for the export")
    replacing = replacing_folder if format in FOLDERS else replacing_path
    with closing(open_crawl(folder)) as database:
        pages = _Pages(database, folder, relevant_only, progress, min_relevance)
        try:
            with replacing(out) as unfinished:
                FORMATS[format](pages, unfinished)
        except (OSError, *_MISFITS) as error:
            raise HoneyguideError(
                f"cannot export {folder} to {out}: {_reason(error, out)}"
            ) from None
    return Exported(pages.count, pages.damaged, pages.bodiless)


def _check(format: str, min_relevance: float) -> None:
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    if not 0 <= min_relevance <= 1:
        raise HoneyguideError(f"the least relevance must be between 0 and 1, not {min_relevance:g}")


def _reason(error: Exception, out: Path) -> str:
    """The message of an error, with the name of its file unless that is the export itself."""
    message = getattr(error, "strerror", None) or one_line(error)
    name = getattr(error, "filename", None)
    if name is None or Path(name).name.removesuffix(UNFINISHED) == out.name:
        return message
    return f"{name} is missing" if isinstance(error, FileNotFoundError) else f"{name}: {message}"


def stream(
    folder: Path,
    format: str,
    file: TextIO,
    relevant_only: bool = False,
    progress: Progress | None = None,
    min_relevance: float = 0.0,
) -> Exported:
    """Write the pages of a crawl to an open text file in a format of TEXTS, and count them."""
    _check(format, min_relevance)
    if format not in TEXTS:
        *some, last = TEXTS
        needed = "folder" if format in FOLDERS else "file"
        raise HoneyguideError(
            f"{format} needs a {needed}: only {', '.join(some)} or {last} can be written to -"
        )
    with closing(open_crawl(folder)) as database:
        pages = _Pages(database, folder, relevant_only, progress, min_relevance)
        try:
            TEXTS[format](pages, file)
        except _MISFITS as error:
            raise HoneyguideError(f"cannot export {folder}: {one_line(error)}") from None
    return Exported(pages.count, pages.damaged, pages.bodiless)


class _Place(NamedTuple):
    """Where the WARC records of a page are: file, and bytes from its start."""

    path: Path
    offset: int
    length: int
    url: str  # that was requested


class _Pages:
    """Iterates over the pages of a crawl, one at a time in memory, and counts them."""

    def __init__(
        self,
        database: sqlite3.Connection,
        folder: Path,
        relevant_only: bool,
        progress: Progress | None,
        min_relevance: float,
    ) -> None:
        self.folder = folder
        self.count = 0  # pages yielded so far
        self.damaged = self.without_body = 0  # pages left out so far
        self.bodiless = 0  # pages so far whose Markdown is their plain text
        self._database = database
        # text that is not UTF-8 must not raise: its row fails the checksum and is left out
        database.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
        self._unchecked = _unchecked(database)
        self._chosen = (int(relevant_only), min_relevance)
        self._progress = progress

    def rows(self) -> Iterator[Row]:
        """Yield each page as a dict with the keys of _COLUMNS and _SAID."""
        for values in self._select():
            if (row := self._row(values)) is not None:
                yield row

    def markdown_rows(self) -> Iterator[Row]:
        """Yield each page as `rows` does, with its Markdown instead of its text."""
        for values in self._select():
            if (row := self._row(values)) is not None:
                text = row.pop("text")
                yield {**row, "markdown": self._markdown(values, text)}

    def _row(self, values: Row) -> Row | None:
        row = {name: values[column] for name, column in _COLUMNS.items()}
        try:
            row["text"] = clean(unpacked_text(row["text"]))
        except HoneyguideError:  # rows without a checksum can be damaged, too
            self.damaged += 1
            return None
        row["relevant"] = bool(row["relevant"])
        row["reasons"] = json.loads(row["reasons"])
        row["fetched"] = datetime.fromtimestamp(row["fetched"], UTC).isoformat()
        if row["score"] is not None and not math.isfinite(row["score"]):
            row["score"] = None  # seeds have an infinite score
        self.count += 1
        return row | self._said(values["n"], row["text"])

    def _said(self, n: int, text: str) -> Row:
        """What a page says about itself, by the event of its visit; older events say nothing."""
        found = self._database.execute("SELECT * FROM journal WHERE n = ?", (n,)).fetchone()
        page = visited_page(found) if found is not None and self._is_intact(found) else None
        said = page.metadata if page is not None else NO_METADATA
        declared = page.declared_language if page is not None else ""
        return {
            "language": detected_language(text, declared),
            "canonical": clean(said.canonical),
            "author": clean(said.author),
            "published": clean(said.published),
            "headings": list(map(clean, said.headings)),
        }

    def _markdown(self, values: Row, text: str) -> str:
        """The Markdown of a page's stored body, else of its text."""
        try:
            place = self._place(values) if values["warc"] else None
            found = _record_at(place) if place is not None else None
        except (HoneyguideError, OSError):  # its file is gone, or no file of the folder
            found = None
        if found is None:
            self.bodiless += 1
            return text_to_markdown(text)
        made = to_markdown(found.body, values["page_url"], found.headers.get("content-type", ""))
        return clean(made) or text_to_markdown(text)

    def records(self) -> Iterator[_Place]:
        """Yield where the WARC records of each page are, if they are intact."""
        for row in self._select():
            if not row["warc"]:
                self.without_body += 1
                continue
            place = self._place(row)
            if _record_at(place) is None:
                self.damaged += 1
                continue
            self.count += 1
            yield place

    def _place(self, row: Row) -> _Place:
        path = inside(inside(self.folder, WARCS), row["warc"])
        return _Place(path, row["warc_offset"], row["warc_length"], row["url"])

    def _select(self) -> Iterator[Row]:
        """Yield the intact rows as dicts, and report progress."""
        [[total]] = self._database.execute(f"SELECT count(*) {_PAGES}", self._chosen)
        found = self._database.execute(f"SELECT * {_PAGES}", self._chosen)
        names = [name for name, *_ in found.description]
        for done, row in enumerate(found, 1):
            if self._is_intact(row):
                yield dict(zip(names, row, strict=True))
            else:
                self.damaged += 1
            if self._progress is not None:
                self._progress(done, total)

    def _is_intact(self, row: Sequence[Any]) -> bool:
        """Whether the checksum matches; rows of older versions have none and count as intact."""
        if self._unchecked is None:
            return True
        return checksum_matches(row) or (row[-1] is None and row[0] <= self._unchecked)


def _unchecked(database: sqlite3.Connection) -> int | None:
    """The last event whose row may lack a checksum; None if the database has no checksums."""
    if store_format_of(database) < CHECKED:
        return None
    found = database.execute("SELECT value FROM about WHERE key = 'unchecked'").fetchone()
    return found[0] if found and type(found[0]) is int else 0


def _record_at(place: _Place) -> Stored | None:
    """The records of the one page at a place; None unless they are intact and there are no more."""
    path, offset, length, url = place
    if not (type(offset) is type(length) is int and min(offset, length) >= 0):
        return None
    try:
        [found] = stored(path.parent, path.name, offset, offset + length)
    except (DamagedError, ValueError):  # no visit there, or several
        return None
    return found if url in (found.url, found.requested) else None


# --------------------------------------------------------------------------- formats


def _jsonl(pages: _Pages, file: TextIO) -> None:
    file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in pages.rows())


def _csv(pages: _Pages, file: TextIO) -> None:
    writer = csv.writer(file)
    writer.writerow((*_COLUMNS, *_SAID))
    for row in pages.rows():
        plain = row | {name: "; ".join(row[name]) for name in _LISTS}
        writer.writerow(map(_harmless, plain.values()))


def _harmless(value: Any) -> Any:
    """Quote a text that a spreadsheet would take for a formula."""
    is_formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if is_formula else value


def _parquet(pages: _Pages, path: Path) -> None:
    try:
        import pyarrow as arrow  # noqa: PLC0415
        from pyarrow import parquet  # noqa: PLC0415
    except ModuleNotFoundError:
        raise HoneyguideError("parquet needs pyarrow: pip install 'honeyguide[glove]'") from None
    kinds: dict[str, Any] = dict.fromkeys((*_COLUMNS, *_SAID), arrow.string())
    kinds |= {"relevance": arrow.float64(), "score": arrow.float64(), "relevant": arrow.bool_()}
    kinds |= {"depth": arrow.int32(), "status": arrow.int16()}
    kinds |= dict.fromkeys(_LISTS, arrow.list_(arrow.string()))
    schema = arrow.schema(list(kinds.items()))
    rows = pages.rows()
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := list(islice(rows, _GROUP)):
            writer.write_table(arrow.Table.from_pylist(group, schema))


def _warc(pages: _Pages, path: Path) -> None:
    """Copy the compressed records unchanged."""
    with path.open("wb") as file:
        file.write(warcinfo(path.name.removesuffix(UNFINISHED), {}, time.time()))
        for place in pages.records():
            _copy(place, file)
    if pages.without_body and not pages.count and not pages.damaged:
        raise HoneyguideError(
            f"{pages.folder} has no bodies for a WARC file: generated and recorded webs have none"
        )


def _copy(place: _Place, out: BinaryIO) -> None:
    length = place.length
    with open_inside(place.path.parent, place.path.name) as file:
        file.seek(place.offset)
        while length and (piece := file.read(min(length, _PIECE))):
            length -= out.write(piece)
    if length:
        raise HoneyguideError(f"{place.path} is cut off")


def _markdown_jsonl(pages: _Pages, file: TextIO) -> None:
    rows = pages.markdown_rows()
    file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _markdown(pages: _Pages, folder: Path) -> None:
    """Write a Markdown file for each page."""
    crawl = source(pages.folder)
    for number, row in enumerate(pages.markdown_rows(), 1):
        name = file_name(number, row["url"])
        (folder / name).write_text(markdown_file(row, crawl), encoding="utf-8", newline="")


TEXTS: dict[str, Callable[[_Pages, TextIO], None]] = {
    "jsonl": _jsonl,
    "csv": _csv,
    "markdown-jsonl": _markdown_jsonl,
}


def _text(format: str, pages: _Pages, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        TEXTS[format](pages, file)


FORMATS: dict[str, Callable[[_Pages, Path], None]] = {
    **{format: partial(_text, format) for format in TEXTS},
    "parquet": _parquet,
    "warc": _warc,
    "markdown": _markdown,
}
FOLDERS = ("markdown",)  # formats that write a folder
_ENDINGS = ("jsonl", "csv", "parquet", "warc")  # formats that a file's name can ask for


def format_of(out: Path) -> str:
    """The format that the ending of a file's name asks for; JSON lines for standard output."""
    if str(out) == "-":
        return "jsonl"
    name = re.sub(r"\.warc\.gz$", ".warc", out.name.lower())
    format = Path(name).suffix.removeprefix(".")
    if format not in _ENDINGS:
        endings = ", ".join(f".{each}" for each in _ENDINGS)
        raise HoneyguideError(
            f"{out} does not say in which format to write: name a file that ends in {endings} or"
            f" .warc.gz, or say --format {', '.join(FORMATS)}"
        )
    return format


# --------------------------------------------------------------------------- status


def best_pages(folder: Path, count: int) -> list[Row]:
    """The `count` most relevant pages with their reasons; of equal ones, the earlier first."""
    with reading(folder) as database:
        rows = database.execute(
            "SELECT page_url, max(relevance), reasons FROM pages WHERE relevant"
            " GROUP BY page_url ORDER BY 2 DESC, min(n) LIMIT ?",
            (count,),
        ).fetchall()
        return [
            {"url": url, "relevance": relevance, "reasons": json.loads(reasons)}
            for url, relevance, reasons in rows
        ]


def policy(folder: Path) -> list[Row]:
    """The policy of a crawl's gate when it last stopped, as rows; empty without a gate."""
    with reading(folder) as database:
        rows: list[Row] = json.loads(about(database).get("gate", "[]"))
    return rows


def status(folder: Path) -> dict[str, Any]:
    """Counts, times (seconds since 1970) and settings of a crawl, running or not."""
    with reading(folder) as database:
        known = about(database)
        [[visits, size, pages]] = database.execute(
            "SELECT count(*), sum(bytes), count(DISTINCT page_url) FROM pages"
        )
        [[relevant]] = database.execute("SELECT count(DISTINCT page_url) FROM pages WHERE relevant")
        [[noindex]] = database.execute(
            "SELECT count(*) FROM pages WHERE failure = '' AND page_url IS NULL"
        )
        [[returns]] = database.execute(
            "SELECT count(url) - count(DISTINCT url) FROM pages WHERE failure = ''"
        )
        sent, _ = requests.count_and_begin(database)
        failures = dict(
            database.execute(
                "SELECT failure, count(*) FROM pages WHERE failure != ''"
                " GROUP BY 1 ORDER BY 2 DESC, 1"
            ).fetchall()
        )
        settings = _settings(known["settings"])
        cuts = {cut["reason"]: cut["count"] for cut in json.loads(known.get("cuts", "[]"))}
        started, last = (_moment(known.get(name)) for name in ("started", "last"))
        version = known["version"]
        in_force = read_standing(known.get(STANDING)).in_force()
    running = holder(folder)
    failed = sum(failures.values())
    return {
        "visits": visits,  # the sum of relevant, not_relevant, noindex, repeated and failed
        "pages": pages,
        "relevant": relevant,
        "not_relevant": pages - relevant,
        "noindex": noindex,  # asked not to be indexed: read for their links alone
        "repeated": visits - failed - noindex - pages,  # led to a page that was fetched before
        "failed": failed,
        "failures": failures,
        "returns": returns,  # visits of a walk to pages that it knew
        "requests": sent,  # sent, for robots.txt and redirects too; 0 on recorded webs
        "bytes": size or 0,
        "waiting": known.get("waiting"),  # None when nothing has been absorbed yet
        "in_flight": known.get("in_flight", 0),
        "started": started,
        "last": last,
        "process": running,  # its id; empty if no process runs the crawl
        "cuts": cuts,
        "dropped": known.get("let_go", ""),  # links dropped for lack of room; "let_go" on disk
        "stopped": "" if running else known.get("stopped") or "cut off: it can be resumed",
        "in_force": in_force,  # orders beside the settings: paused, denied, allowed, delays
        "orders_waiting": [order for order in _orders(folder) if order != ASK],
        "settings": settings,
        "version": version,
    }


def _orders(folder: Path) -> Iterator[str]:
    return (str(order.what["order"]) for order in waiting_orders(folder))


def _settings(message: str) -> Row:
    settings: Row = json.loads(message)
    if not isinstance(settings, dict) or not isinstance(settings.get("budget", 0), int):
        raise ValueError("its settings are damaged")
    return settings


def _moment(seconds: Any) -> float | None:
    """Return a time unchanged, or raise a ValueError if it cannot be one."""
    if seconds is not None and not (isinstance(seconds, int | float) and 0 <= seconds < _LATEST):
        raise ValueError(f"{seconds!r} is not a time")
    return seconds
