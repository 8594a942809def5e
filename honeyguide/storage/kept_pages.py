"""The pages that a crawl has kept, with their verdicts; it may be running."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from honeyguide.contracts import Page, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.storage.database import checksum_matches, reading
from honeyguide.storage.replay import unpacked_text

# each page once: its first visit
_PAGES = """
SELECT * FROM pages WHERE n IN (
    SELECT min(n) FROM pages WHERE page_url IS NOT NULL GROUP BY page_url
) ORDER BY n
"""


class KeptPage(NamedTuple):
    """A page of a crawl, without its links, and what it counts for."""

    page: Page
    verdict: Verdict


def kept_pages(folder: Path) -> Iterator[KeptPage]:
    """Each page of a crawl, in the order in which they were visited; damaged ones are left out."""
    with reading(folder) as database:
        database.row_factory = sqlite3.Row
        for row in database.execute(_PAGES):
            if checksum_matches(tuple(row)) and (kept := _kept(row)) is not None:
                yield kept


def relevant_visits(folder: Path) -> int:
    """How many visits of a crawl count as relevant."""
    with reading(folder) as database:
        [[count]] = database.execute("SELECT count(*) FROM pages WHERE relevant")
        return int(count)


def first_event(folder: Path) -> int:
    """The number of the first event that the journal has; 0 if it has none."""
    with reading(folder) as database:
        [[first]] = database.execute("SELECT min(n) FROM journal")
        return int(first or 0)


def _kept(row: sqlite3.Row) -> KeptPage | None:
    try:
        text = unpacked_text(row["text"])
    except HoneyguideError:
        return None
    verdict = Verdict(row["relevance"], bool(row["relevant"]), tuple(json.loads(row["reasons"])))
    return KeptPage(Page(row["page_url"], row["title"] or "", text), verdict)
