"""What a crawl found, in the forms that other programs read."""

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

from honeyguide.disk.files import UNFINISHED, inside, open_inside, replacing_path
from honeyguide.disk.serialise import DamagedError
from honeyguide.errors import HoneyguideError, unknown
from honeyguide.storage.checksums import is_whole
from honeyguide.storage.database import FORMAT, WARCS, about, open_crawl, reading, told
from honeyguide.storage.database import format_of as store_format_of
from honeyguide.storage.ledger import clean
from honeyguide.storage.lock import holder
from honeyguide.storage.records import stored
from honeyguide.storage.store import unpacked_text
from honeyguide.warc.writer import warcinfo

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
# of several ways to a page, the first; where relevant ones are asked for, the first of these
_PAGES = """
FROM pages WHERE n IN (
    SELECT min(n) FROM pages WHERE page_url IS NOT NULL AND relevant >= ? GROUP BY page_url
) ORDER BY n
"""
# what a database that is damaged, or was changed, can lead to
_MISFITS = (sqlite3.Error, ValueError, TypeError, LookupError, ArithmeticError)
_LATEST = 1e11  # seconds since 1970
_GROUP = 1000  # pages in one piece of a Parquet file
_PIECE = 1 << 20  # bytes


class Exported(NamedTuple):
    """How many pages an export has, and how many it is without."""

    pages: int
    damaged: int  # left out, because they are not what was written


def export(
    folder: Path,
    format: str,
    out: Path,
    relevant_only: bool = False,
    progress: Progress | None = None,
) -> Exported:
    """Write the pages of a crawl to a new file, and count them."""
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    if out.exists():
        raise HoneyguideError(f"{out} already exists: choose another place for the export")
    with closing(open_crawl(folder)) as database:
        pages = _Pages(database, folder, relevant_only, progress)
        try:
            with replacing_path(out) as unfinished:
                FORMATS[format](pages, unfinished)
        except (OSError, *_MISFITS) as error:
            raise HoneyguideError(
                f"cannot export {folder} to {out}: {_reason(error, out)}"
            ) from None
    return Exported(pages.count, pages.damaged)


def _reason(error: Exception, out: Path) -> str:
    """What went wrong, with the file that it went wrong with unless that is the new one."""
    said = getattr(error, "strerror", None) or told(error)
    name = getattr(error, "filename", None)
    if name is None or Path(name).name.removesuffix(UNFINISHED) == out.name:
        return said
    return f"{name} is missing" if isinstance(error, FileNotFoundError) else f"{name}: {said}"


def stream(
    folder: Path,
    format: str,
    file: TextIO,
    relevant_only: bool = False,
    progress: Progress | None = None,
) -> Exported:
    """Write the pages of a crawl as text to an open file, and count them."""
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    if format not in TEXTS:
        known = " or ".join(TEXTS)
        raise HoneyguideError(f"{format} goes into a file: only {known} can be written to -")
    with closing(open_crawl(folder)) as database:
        pages = _Pages(database, folder, relevant_only, progress)
        try:
            TEXTS[format](pages, file)
        except _MISFITS as error:
            raise HoneyguideError(f"cannot export {folder}: {told(error)}") from None
    return Exported(pages.count, pages.damaged)


class _Place(NamedTuple):
    """Where the records of a page are."""

    path: Path
    offset: int
    length: int
    url: str  # that was asked for


class _Pages:
    """The pages of a crawl one by one, however many there are."""

    def __init__(
        self,
        database: sqlite3.Connection,
        folder: Path,
        relevant_only: bool,
        progress: Progress | None,
    ) -> None:
        self.folder = folder
        self.count = 0  # given out so far
        self.damaged = self.without_body = 0  # left out so far
        self._database = database
        # a damaged text must not end the reading: no checksum fits it
        database.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
        self._unchecked = _unchecked(database)
        self._relevant_only = relevant_only
        self._progress = progress

    def rows(self) -> Iterator[Row]:
        """What is known of each."""
        for values in self._select():
            row = {name: values[column] for name, column in _COLUMNS.items()}
            try:
                row["text"] = clean(unpacked_text(row["text"]))
            except HoneyguideError:  # without a checksum, this is how damage shows
                self.damaged += 1
                continue
            row["relevant"] = bool(row["relevant"])
            row["reasons"] = json.loads(row["reasons"])
            row["fetched"] = datetime.fromtimestamp(row["fetched"], UTC).isoformat()
            if row["score"] is not None and not math.isfinite(row["score"]):
                row["score"] = None  # seeds come first, whatever they are worth
            self.count += 1
            yield row

    def records(self) -> Iterator[_Place]:
        """Where the records of each are, if they are what was written."""
        warcs = inside(self.folder, WARCS)
        for row in self._select():
            if not row["warc"]:
                self.without_body += 1
                continue
            place = _Place(
                inside(warcs, row["warc"]), row["warc_offset"], row["warc_length"], row["url"]
            )
            if not _are_whole(place):
                self.damaged += 1
                continue
            self.count += 1
            yield place

    def _select(self) -> Iterator[Row]:
        """The rows of the pages that are what was written."""
        chosen = (int(self._relevant_only),)
        [[total]] = self._database.execute(f"SELECT count(*) {_PAGES}", chosen)
        found = self._database.execute(f"SELECT * {_PAGES}", chosen)
        names = [name for name, *_ in found.description]
        for done, row in enumerate(found, 1):
            if self._is_whole(row):
                yield dict(zip(names, row, strict=True))
            else:
                self.damaged += 1
            if self._progress is not None:
                self._progress(done, total)

    def _is_whole(self, row: Sequence[Any]) -> bool:
        """As far as this can be told: rows of older versions have no checksum."""
        if self._unchecked is None:
            return True
        return is_whole(row) or (row[-1] is None and row[0] <= self._unchecked)


def _unchecked(database: sqlite3.Connection) -> int | None:
    """The last event whose rows may have no checksum; None where no row has one."""
    if store_format_of(database) < FORMAT:
        return None
    found = database.execute("SELECT value FROM about WHERE key = 'unchecked'").fetchone()
    return found[0] if found and type(found[0]) is int else 0


def _are_whole(place: _Place) -> bool:
    """Whether the records of one page, and no others, are at a place."""
    path, offset, length, url = place
    if not (type(offset) is type(length) is int and min(offset, length) >= 0):
        return False
    try:
        [found] = stored(path.parent, path.name, offset, offset + length)
    except (DamagedError, ValueError):  # none, or several
        return False
    return url in (found.url, found.requested)


# --------------------------------------------------------------------------- formats


def _jsonl(pages: _Pages, file: TextIO) -> None:
    file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in pages.rows())


def _csv(pages: _Pages, file: TextIO) -> None:
    writer = csv.writer(file)
    writer.writerow(_COLUMNS)
    for row in pages.rows():
        plain = row | {"reasons": "; ".join(row["reasons"])}
        writer.writerow(map(_harmless, plain.values()))


def _harmless(value: Any) -> Any:
    """No text of a page may be a formula to whoever opens the file in a spreadsheet."""
    is_formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if is_formula else value


def _parquet(pages: _Pages, path: Path) -> None:
    try:
        import pyarrow as arrow  # noqa: PLC0415
        from pyarrow import parquet  # noqa: PLC0415
    except ModuleNotFoundError:
        raise HoneyguideError("parquet needs pyarrow: pip install 'honeyguide[glove]'") from None
    kinds: dict[str, Any] = dict.fromkeys(_COLUMNS, arrow.string())
    kinds |= {"relevance": arrow.float64(), "score": arrow.float64(), "relevant": arrow.bool_()}
    kinds |= {"depth": arrow.int32(), "status": arrow.int16()}
    kinds["reasons"] = arrow.list_(arrow.string())
    schema = arrow.schema(list(kinds.items()))
    rows = pages.rows()
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := list(islice(rows, _GROUP)):
            writer.write_table(arrow.Table.from_pylist(group, schema))


def _warc(pages: _Pages, path: Path) -> None:
    """Copy the records as they are: each can be read on its own."""
    with path.open("wb") as file:
        file.write(warcinfo(path.name.removesuffix(UNFINISHED), {}, time.time()))
        for place in pages.records():
            _copy(place, file)
    if pages.without_body and not pages.count and not pages.damaged:
        raise HoneyguideError(
            f"{pages.folder} has no bodies for a WARC file: generated and recorded webs leave none"
        )


def _copy(place: _Place, out: BinaryIO) -> None:
    length = place.length
    with open_inside(place.path.parent, place.path.name) as file:
        file.seek(place.offset)
        while length and (piece := file.read(min(length, _PIECE))):
            length -= out.write(piece)
    if length:
        raise HoneyguideError(f"{place.path} is cut off")


TEXTS: dict[str, Callable[[_Pages, TextIO], None]] = {"jsonl": _jsonl, "csv": _csv}


def _text(format: str, pages: _Pages, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        TEXTS[format](pages, file)


FORMATS: dict[str, Callable[[_Pages, Path], None]] = {
    **{format: partial(_text, format) for format in TEXTS},
    "parquet": _parquet,
    "warc": _warc,
}


def format_of(out: Path) -> str:
    """The format that the ending of a file's name asks for; JSON lines for standard output."""
    if str(out) == "-":
        return "jsonl"
    name = re.sub(r"\.warc\.gz$", ".warc", out.name.lower())
    format = Path(name).suffix.removeprefix(".")
    if format not in FORMATS:
        endings = ", ".join(f".{each}" for each in FORMATS)
        raise HoneyguideError(
            f"{out} does not say in which format to write: name a file that ends in {endings} or"
            f" .warc.gz, or say --format {', '.join(FORMATS)}"
        )
    return format


# --------------------------------------------------------------------------- status


def best_pages(folder: Path, count: int) -> list[Row]:
    """The most relevant pages with the reasons why, the earlier first among equals."""
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
    """What the gate of a crawl had learnt when it last stopped; empty without a gate."""
    with reading(folder) as database:
        rows: list[Row] = json.loads(about(database).get("gate", "[]"))
    return rows


def status(folder: Path) -> dict[str, Any]:
    """How a crawl stands, whether it runs or not; times are seconds since 1970."""
    with reading(folder) as database:
        known = about(database)
        [[visits, size, pages]] = database.execute(
            "SELECT count(*), sum(bytes), count(DISTINCT page_url) FROM pages"
        )
        [[relevant]] = database.execute("SELECT count(DISTINCT page_url) FROM pages WHERE relevant")
        [[noindex]] = database.execute(
            "SELECT count(*) FROM pages WHERE failure = '' AND page_url IS NULL"
        )
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
        "bytes": size or 0,
        "waiting": known.get("waiting"),  # None when nothing has been absorbed yet
        "in_flight": known.get("in_flight", 0),
        "started": started,
        "last": last,
        "process": running,  # empty when none works on it
        "cuts": cuts,
        "let_go": known.get("let_go", ""),  # for want of room
        "stopped": "" if running else known.get("stopped") or "cut off: it can be resumed",
        "settings": settings,
        "version": version,
    }


def _settings(said: str) -> Row:
    settings: Row = json.loads(said)
    if not isinstance(settings, dict) or not isinstance(settings.get("budget", 0), int):
        raise ValueError("its settings are none")
    return settings


def _moment(seconds: Any) -> float | None:
    """Seconds since 1970 that a calendar knows."""
    if seconds is not None and not (isinstance(seconds, int | float) and 0 <= seconds < _LATEST):
        raise ValueError(f"no time is {seconds!r}")
    return seconds
