"""Find response bodies that are missing from WARC files, by the files' sizes alone."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from honeyguide.disk.files import inside
from honeyguide.errors import HoneyguideError
from honeyguide.storage.database import WARCS, one_line
from honeyguide.text.words import are

_FILES = """
SELECT warc, count(*), max(warc_offset + warc_length) FROM pages
WHERE warc IS NOT NULL GROUP BY warc ORDER BY warc
"""
_BEYOND = "SELECT count(*) FROM pages WHERE warc = ? AND warc_offset + warc_length > ?"


def lost_bodies(database: sqlite3.Connection, folder: Path) -> Iterator[str]:
    """Yield a sentence for each WARC file that is missing or shorter than table `pages` says."""
    for name, count, end in database.execute(_FILES).fetchall():
        try:
            path = inside(inside(folder, WARCS), name)
        except HoneyguideError as error:
            yield f"{bodies_of(count)} cannot be read: {one_line(error)}"
            continue
        size = path.stat().st_size if path.is_file() else None
        if size is None:
            yield file_is_missing(name, count)
        elif isinstance(end, int) and size < end:
            [[lost]] = database.execute(_BEYOND, (name, size))
            yield f"{name} is cut off at byte {size}: {bodies_of(lost)} {are(lost)} lost"


def file_is_missing(name: str, count: int) -> str:
    """A sentence about a missing WARC file that held the bodies of `count` pages."""
    return f"{name} is missing, and with it {bodies_of(count)}"


def bodies_of(count: int) -> str:
    """Words for `count` bodies, in singular or plural."""
    return "the body of 1 page" if count == 1 else f"the bodies of {count:,} pages"
