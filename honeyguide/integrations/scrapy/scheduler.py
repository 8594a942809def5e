"""A scheduler for Scrapy: links by what honeyguide expects of them, other requests as they come."""

import logging
from pathlib import Path
from typing import Any, Self

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.job import job_dir
from scrapy.utils.misc import build_from_crawler, load_object

from honeyguide import urls
from honeyguide.contracts import Link, Page, Verdict
from honeyguide.integrations.scrapy.link_queue import LinkQueue
from honeyguide.integrations.scrapy.pending import PAGE, ROW, PendingRequests
from honeyguide.integrations.scrapy.plan_settings import plan_of

_log = logging.getLogger(__name__)
FOLDER = "honeyguide"  # in the JOBDIR
OFFERED = "honeyguide_offered"  # in a request's meta, on its way to the scheduler: it is no copy


class Scheduler(BaseScheduler):
    """Hands out requests: first those that are no links, then the most promising links.

    Links wait in a LinkQueue. Start requests, form posts, retries, redirects, and requests with
    `dont_filter` or a priority above 0 pass as Scrapy would pass them, by priority.
    """

    def __init__(self, crawler: Crawler, dupefilter: BaseDupeFilter) -> None:
        self._crawler = crawler
        self._dupefilter = dupefilter
        self._found: dict[str, list[Link]] = {}  # by page: links of it that the spider follows
        jobdir = job_dir(crawler.settings)
        self._jobdir = Path(jobdir) if jobdir else None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the scheduler with the project's filter of duplicates."""
        dupefilter = load_object(crawler.settings["DUPEFILTER_CLASS"])
        return cls(crawler, build_from_crawler(dupefilter, crawler))

    def open(self, spider: Spider) -> Any:
        """Open the queue, in the JOBDIR if there is one."""
        folder = self._jobdir / FOLDER if self._jobdir else None
        self._is_resumed = folder is not None and folder.exists()
        self.queue = LinkQueue(plan_of(self._crawler.settings), folder)
        self._pending = PendingRequests(spider, self._jobdir)
        self._spider = spider
        return self._dupefilter.open()

    def close(self, reason: str) -> Any:
        """Write everything to the JOBDIR."""
        self.queue.close(reason)
        self._pending.close()
        return self._dupefilter.close(reason)

    def has_pending_requests(self) -> bool:
        """Whether any request waits."""
        return bool(len(self._pending) or len(self.queue))

    # ------------------------------------------------------------------ requests in

    def offer(self, link: Link, request: Request) -> None:
        """Let the request behind a link of a page wait; the page is being read by the spider.

        The engine gets the request all the same, and hands it on to `enqueue_request`.
        """
        found = self._found.get(link.source)
        if found is None:
            return
        if link.url in self.queue.leased or self.queue.was_visited(link.url):
            request.meta[OFFERED] = False
            return
        is_known = self._pending.has_link(link.url)
        found.append(link)  # that another page has it, too, says something about it
        is_seen = is_known or self._dupefilter.request_seen(request)
        request.meta[OFFERED] = not is_seen
        if is_seen and not is_known:
            found.pop()  # it was fetched or passed on before
        elif not is_seen:
            self._pending.put_link(link.url, request)
            self._count("links")

    def enqueue_request(self, request: Request) -> bool:
        """Add a request; False if it was seen before."""
        if (is_new := request.meta.pop(OFFERED, None)) is not None:
            if not is_new:
                self._dupefilter.log(request, self._spider)
            return bool(is_new)
        if PAGE in request.meta:  # a retry or a redirect of a page that is being fetched
            self._pass_on(request)
            return True
        if self._is_resumed and request.meta.get("is_start_request") and self._is_old(request):
            return False
        if not request.dont_filter and self._dupefilter.request_seen(request):
            self._dupefilter.log(request, self._spider)
            return False
        self._pass_on(request)
        return True

    def _is_old(self, request: Request) -> bool:
        url = urls.canonical(request.url)
        return url is not None and self.queue.knows(url)

    def _pass_on(self, request: Request) -> None:
        self._pending.put_passed(request)
        self._count("passed")

    # ------------------------------------------------------------------ requests out

    def next_request(self) -> Request | None:
        """The next request that is no link, else the one behind the best link."""
        if (request := self._pending.take_passed()) is not None:
            return request
        if (url := self.queue.choose()) is None:
            self._release_lost()
            return None
        request = self._pending.take_link(url)
        if request is None:
            _log.warning("the request for %s was lost: its page goes to the spider's parse", url)
            request = Request(url, dont_filter=True)
        request.meta.pop(OFFERED, None)
        request.meta[PAGE] = url
        return request

    def _release_lost(self) -> None:
        """End visits whose responses other components have dropped, once nothing is under way."""
        engine = self._crawler.engine
        slot = None if engine is None else engine.scraper.slot
        if engine is None or slot is None or engine.downloader.active or not slot.is_idle():
            return
        for url in self.queue.leased:
            self.fail(url, "dropped")

    # ------------------------------------------------------------------ pages

    def begin_page(self, request: Request) -> str | None:
        """Count a response's page as being fetched; None if it was counted before."""
        self.end_passed(request)
        page: str | None = request.meta.get(PAGE) or urls.canonical(request.url)
        if page is None or (PAGE not in request.meta and self.queue.was_visited(page)):
            return None
        if page not in self.queue.leased:
            self.queue.lease(page)
        self._found[page] = []
        self._pending.begin()  # its links are written together
        return page

    def end_page(self, url: str, page: Page, measured: Verdict) -> Verdict:
        """Learn from a page and let the links wait that the spider has followed."""
        self._pending.commit()  # before the links can be chosen
        verdict = self.queue.absorb(url, page, self._found.pop(url, ()), measured)
        self._pending.done(url)
        self._count("pages")
        self._count("relevant", int(verdict.relevant))
        return verdict

    def fail(self, url: str, failure: str) -> None:
        """End the visit of a page that did not come."""
        if url in self.queue.leased:
            self.queue.fail(url, failure)
            self._count("failures")
        self._pending.done(url)

    def end_passed(self, request: Request) -> None:
        """Forget a request that is no link: it is done."""
        if (row := request.meta.get(ROW)) is not None:
            self._pending.done(row)

    def _count(self, what: str, by: int = 1) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(f"honeyguide/{what}", by)
