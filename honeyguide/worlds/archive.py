"""WARC files as a web to crawl again."""

from honeyguide.contracts import Judge
from honeyguide.fetchers.archive import ArchiveFetcher
from honeyguide.registry import part
from honeyguide.worlds.web import WebWorld


@part("world", "archive", argument="paths")
def archive(judge: Judge, paths: str) -> WebWorld:
    """What WARC files hold, a crawl's own or Common Crawl's, crawled without the web."""
    return WebWorld(judge, ArchiveFetcher(paths))
