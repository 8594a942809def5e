"""Crawl WARC files instead of the live web."""

from honeyguide.contracts import Judge
from honeyguide.registry import part
from honeyguide.web.archive import ArchiveFetcher
from honeyguide.web.http import Redirects
from honeyguide.web.judge_spec import JudgeSpec
from honeyguide.web.parser_pool import ParserPool
from honeyguide.web.pipeline import Pipeline
from honeyguide.worlds.web import WebWorld


@part("world", "archive", argument="paths", files="paths")
def archive(
    judge: Judge,
    paths: str,
    parsers: int = 0,  # processes that parse and judge pages
    spec: JudgeSpec | None = None,  # how those processes make their judge
) -> WebWorld:
    """Pages from WARC files, of a crawl or of Common Crawl, without requests."""
    reader = ParserPool(parsers, spec=spec) if parsers else None
    return WebWorld(judge, Pipeline([Redirects(ArchiveFetcher(paths))]), reader)
