"""Whether every stage of a crawl was on, by what it left behind."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import served_site
from fastwarc.warc import ArchiveIterator, WarcRecordType

from honeyguide.contracts import State
from honeyguide.storage.snapshots import Snapshots


def check_served(site: served_site.Site, asked: dict[str, float]) -> None:
    """Whether a crawler asked for every page once and for every robots.txt."""
    hosts = {url.split("/")[2] for url in site.pages}
    _expect(asked["robots"] >= len(hosts), f"robots.txt was asked for: {asked['robots']:.0f}")
    # a start page that is linked to may be asked for twice
    pages = int(asked["pages"])
    _expect(len(site.pages) <= pages <= len(site.pages) + 1, f"pages were asked for: {pages}")
    _expect(not asked["missing"], "every link leads to a page")


def check(folder: Path, site: served_site.Site, asked: dict[str, float]) -> dict[str, Any]:
    """Whether a crawl of honeyguide fetched, parsed, judged, scored, guarded and kept it all."""
    check_served(site, asked)
    count = len(site.pages)
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database:
        one = lambda sql: database.execute(sql).fetchone()  # noqa: E731
        stored, texts, relevant, judged = one(
            "SELECT count(*), sum(length(text) > 20), sum(relevant), count(DISTINCT relevance)"
            " FROM pages WHERE failure = ''"
        )
        scores = one("SELECT count(DISTINCT score) FROM pages")[0]
        (journal,) = one("SELECT sum(length(data)) FROM journal")
    _expect(stored == count, f"pages were stored: {stored}")
    _expect(texts == count, f"texts were stored: {texts}")
    _expect(relevant > 0 and judged > count / 2, f"pages were judged: {judged} opinions")
    _expect(scores > count / 2, f"links were scored: {scores} scores")
    state = _last_state(folder)
    links = len(state["memory"]["edges"]["parent"])
    _expect(links > 10 * count, f"links were parsed: {links}")
    seen = len(state["guard"]["seen"]["page"])
    _expect(seen > count / 2, f"pages were compared: {seen}")
    responses = _responses(folder)
    _expect(responses == count, f"WARC responses: {responses}")
    sizes = {
        "relevant pages": relevant,
        "links": links,
        "bytes served": int(asked["bytes"]),
        "bytes of the database, snapshots included": _size(folder, "crawl.sqlite*"),
        "bytes of WARC files": _size(folder, "warc/*.warc.gz"),
        "bytes of WARC indexes": _size(folder, "warc/*.cdxj"),
    }
    for name, size in sizes.items():
        _expect(size > 0, f"more than no {name}")
    _expect(bool(journal), "a journal was written")
    return sizes


def _last_state(folder: Path) -> State:
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database:
        saved = Snapshots(folder, database).newest()
    _expect(saved is not None, "a snapshot was written")
    assert saved
    return saved[0]


def _responses(folder: Path) -> int:
    count = 0
    for path in folder.glob("warc/*.warc.gz"):
        with path.open("rb") as file:
            count += sum(1 for _ in ArchiveIterator(file, record_types=WarcRecordType.response))
    return count


def _size(folder: Path, pattern: str) -> int:
    return sum(path.stat().st_size for path in folder.glob(pattern))


def _expect(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"a stage was off; this should be so but is not: {what}")
