"""What a crawl folder holds, and whether that is what it promises; nothing in it is changed."""

import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from soak_web import Request, Web

from honeyguide.storage import recent

DATABASE = "crawl.sqlite"
_DECIDED = "url, failure, score, depth, parent, title, relevant, relevance"
_PLACED = "page_url, status, warc, warc_offset, warc_length"


class Row(NamedTuple):
    """A visit that was kept."""

    n: int
    url: str
    failure: str
    score: float
    depth: int
    parent: str
    title: str | None
    relevant: int
    relevance: float
    page_url: str | None
    status: int | None
    warc: str | None
    warc_offset: int | None
    warc_length: int | None

    @property
    def decided(self) -> tuple[Any, ...]:
        """What must be the same in every crawl that takes the same decisions."""
        return tuple(self[1:7])

    @property
    def verdict(self) -> tuple[int, float]:
        """What it counts for; later pages may revise that."""
        return self.relevant, self.relevance


def kept(folder: Path, aside: Path) -> list[Row] | None:
    """The visits that outlive a kill, read from a copy; None while there is no crawl."""
    if not (folder / DATABASE).exists():
        return None
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    for path in folder.glob(f"{DATABASE}*"):
        if not path.name.endswith("-shm"):  # made anew from the log
            shutil.copy(path, aside)
    with closing(sqlite3.connect(aside / DATABASE)) as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_schema")}
        if "pages" not in tables:
            return None
        rows = database.execute(f"SELECT n, {_DECIDED}, {_PLACED} FROM pages ORDER BY n")
        committed = [Row(*row) for row in rows]
        [[last]] = database.execute("SELECT value FROM about WHERE key = 'events'")
    return committed + list(_recent(folder, last))


def _recent(folder: Path, last: int) -> Iterator[Row]:
    """The visits that are not committed yet."""
    for n, kind, _, what in recent.read(folder, last):
        if kind == "visit":
            visit, _, counted, score, *_ = recent.absorbed_from(what)
            link, page, response = visit.link, visit.page, visit.response
            decided = (
                *(link.url, visit.failure, score, link.depth, link.source),
                *(page and page.title, int(counted.relevant), counted.relevance),
            )
            where = (page and page.url, response and response.status, None, None, None)
            yield Row(n, *decided, *where)


def first_difference(found: Sequence[Row], expected: Sequence[Row]) -> str:
    """Where two crawls part that should have taken the same decisions; empty when nowhere."""
    for place, (ours, theirs) in enumerate(zip(found, expected, strict=False)):
        if ours.decided != theirs.decided:
            return f"visit {place}: {ours.decided} instead of {theirs.decided}"
    return ""


def first_other_verdict(found: Sequence[Row], expected: Sequence[Row]) -> str:
    """Where two whole crawls differ in what a visit counts for; empty when nowhere."""
    for place, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        if ours.verdict != theirs.verdict:
            return f"visit {place}: {ours.verdict} instead of {theirs.verdict}"
    return ""


def asked_again(rows: Iterable[Row], web: Web, asked: Iterable[Request]) -> list[str]:
    """Pages that were kept before these requests, and are among them."""
    safe = {row.url for row in rows if row.failure != "robots"}
    safe |= {web.moved[url] for url in safe if url in web.moved}
    return sorted({request.url for request in asked} & safe)


def robots_asked_again(rows: Iterable[Row], asked: Iterable[Request]) -> int:
    """Times that robots.txt was asked for of hosts of which a visit was kept before."""
    known = {urlsplit(row.url).netloc for row in rows}
    return sum(request.path == "/robots.txt" and request.host in known for request in asked)


def requests_needed(rows: Iterable[Row], web: Web) -> int:
    """Requests for pages that these visits take, when none is repeated."""
    return sum(1 + (row.url in web.moved) for row in rows if row.failure != "robots")


def links_lost(rows: Sequence[Row], web: Web, left_out: set[str]) -> list[str]:
    """Links on kept pages that were neither visited nor left out by an uninterrupted crawl."""
    visited = {row.url for row in rows}
    pages = [row.page_url for row in rows if row.page_url in web.links]
    known = {link for page in pages for link in web.links[page]}  # type: ignore[index]
    return sorted(known - visited - left_out)


def damage(folder: Path, rows: Sequence[Row], web: Web) -> list[str]:
    """What is wrong with the WARC files and their indexes after a crawl that has ended."""
    from honeyguide.warc.reader import RESPONSE, records, target  # noqa: PLC0415

    found, wrong = {}, []
    for file in sorted((folder / "warc").glob("*.warc.gz")):
        for record in records(file):
            if record.record_type != RESPONSE:
                continue
            if not record.verify_block_digest():
                wrong.append(f"{file.name} at {record.stream_pos}: the digest is another")
            found[file.name, record.stream_pos] = target(record)
    expected = {(row.warc, row.warc_offset): row for row in rows if row.warc is not None}
    wrong += [f"{place} is no visit's" for place in found.keys() - expected.keys()]
    wrong += [f"{place} is not there" for place in expected.keys() - found.keys()]
    wrong += [f"{row.url} has no place" for row in rows if row.status and row.warc is None]
    for place in found.keys() & expected.keys():
        url = expected[place].url
        if found[place] not in (url, web.moved.get(url)):
            wrong.append(f"{place} is {found[place]} instead of {url}")
    return wrong + _damage_of_indexes(folder, found)


def _damage_of_indexes(folder: Path, found: dict[tuple[str, int], str]) -> list[str]:
    indexed, wrong = {}, []
    for file in sorted((folder / "warc").glob("*.cdxj")):
        lines = file.read_text().splitlines()
        if lines != sorted(lines):
            wrong.append(f"{file.name} is not in order")
        for line in lines:
            entry = json.loads(line.split(" ", 2)[2])
            place = entry["filename"], int(entry["offset"])
            if place in indexed:
                wrong.append(f"{file.name} has {place} twice")
            indexed[place] = entry["url"]
    if indexed != found:
        wrong.append(f"indexes say {len(indexed)} places of {len(found)}, or other ones")
    return wrong
