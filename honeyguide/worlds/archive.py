"""WARC files as a web to crawl again."""

from honeyguide.contracts import Judge
from honeyguide.registry import part
from honeyguide.web.archive import ArchiveFetcher
from honeyguide.web.judge_spec import JudgeSpec
from honeyguide.web.parser_pool import ParserPool
from honeyguide.web.redirects import Redirects
from honeyguide.worlds.web import WebWorld


@part("world", "archive", argument="paths", files="paths")
def archive(
    judge: Judge,
    paths: str,
    parsers: int = 0,  # processes that only read and judge pages
    spec: JudgeSpec | None = None,  # for the judges of those
) -> WebWorld:
    """What WARC files hold, a crawl's own or Common Crawl's, crawled without the web."""
    reader = ParserPool(parsers, spec=spec) if parsers else None
    return WebWorld(judge, Redirects(ArchiveFetcher(paths)), reader=reader)
