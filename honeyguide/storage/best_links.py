"""The best waiting links of a crawl, with reasons as people read them."""

import sqlite3
from pathlib import Path

import msgspec

from honeyguide.contracts import Link
from honeyguide.engine.view import FrontierView, LinkView
from honeyguide.storage.database import reading
from honeyguide.storage.found_pages import FoundPage, find_pages, link_on
from honeyguide.storage.looking import Question, look
from honeyguide.storage.stored_plan import Warn, ignore_warning
from honeyguide.storage.why import with_words


def best_links(folder: str | Path, count: int = 10, warn: Warn = ignore_warning) -> FrontierView:
    """The frontier of a crawl, which may be running: its best links, hosts and URL patterns."""
    folder = Path(folder)
    view = look(folder, Question(links=count, hosts=count), warn).frontier
    assert view is not None  # noqa: S101 it was asked for
    with reading(folder) as database:
        sources = find_pages(database, [link.source for link in view.links if link.source])
        links = tuple(_worded(database, sources.get(link.source), link) for link in view.links)
    return msgspec.structs.replace(view, links=links)


def _worded(database: sqlite3.Connection, source: FoundPage | None, link: LinkView) -> LinkView:
    shown = link_on(database, source.n, link.url) if source else None
    return with_words(link, shown or Link(link.url))
