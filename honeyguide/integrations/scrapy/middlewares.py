"""Middlewares for Scrapy: they see pages and the links that a spider follows, and what fails."""

import re
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

from itemadapter import ItemAdapter
from msgspec import structs
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response, TextResponse

from honeyguide import urls
from honeyguide.contracts import Link, Page, Verdict
from honeyguide.integrations.scrapy.pending import PAGE
from honeyguide.integrations.scrapy.scheduler import Scheduler
from honeyguide.integrations.scrapy.signals import page_judged
from honeyguide.web.html import MAX_BODY, parse

VERDICT = "honeyguide"  # the key of a response's meta for its verdict
NOTHING = Verdict(0.0, False)


class PageMiddleware:
    """A spider middleware: reads and judges pages, and notes the links that the spider follows."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._field: str = crawler.settings.get("HONEYGUIDE_ITEM_FIELD") or ""
        self._reading: dict[int, _Reading] = {}  # by response

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware."""
        return cls(crawler)

    def process_spider_input(self, response: Response) -> None:
        """Judge a page before the spider sees it: `response.meta["honeyguide"]` is the verdict."""
        scheduler = self._scheduler()
        request = response.request
        if scheduler is None or request is None:
            return
        url = scheduler.begin_page(request)
        if url is None:
            return
        page = _page_of(response)
        whole = replace(page, html=response.body[:MAX_BODY])
        verdict = scheduler.queue.judge(whole) if page.text else NOTHING
        response.meta[VERDICT] = verdict
        is_html = isinstance(response, HtmlResponse)
        self._reading[id(response)] = _Reading(url, page, verdict, is_html)

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        """Note the links among the requests, and learn from the page when there are no more."""
        reading = self._reading.get(id(response))
        try:
            for each in result:
                yield self._noted(each, reading)
        finally:
            self._end(response)

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """As process_spider_output, for asynchronous callbacks."""
        reading = self._reading.get(id(response))
        try:
            async for each in result:
                yield self._noted(each, reading)
        finally:
            self._end(response)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Learn from the page all the same, when the spider or another middleware fails."""
        self._end(response)

    def _noted(self, each: Any, reading: "_Reading | None") -> Any:
        if reading is None:
            return each
        if isinstance(each, Request):
            if (link := reading.link(each)) is not None and (scheduler := self._scheduler()):
                scheduler.offer(link, each)
        elif self._takes_field(each):
            ItemAdapter(each)[self._field] = reading.verdict.relevance
        return each

    def _takes_field(self, item: Any) -> bool:
        if not self._field or not ItemAdapter.is_item(item):
            return False
        return isinstance(item, dict) or self._field in ItemAdapter(item).field_names()

    def _end(self, response: Response) -> None:
        reading, scheduler = self._reading.pop(id(response), None), self._scheduler()
        if reading is None or scheduler is None:
            return
        if 200 <= response.status < 300:
            verdict = scheduler.end_page(reading.url, reading.page, reading.verdict)
            self._crawler.signals.send_catch_log(page_judged, response=response, verdict=verdict)
        else:
            scheduler.fail(reading.url, f"status {response.status}")

    def _scheduler(self) -> Scheduler | None:
        scheduler = self._crawler.engine.scheduler if self._crawler.engine else None
        return scheduler if isinstance(scheduler, Scheduler) else None


@dataclass(frozen=True, slots=True)
class _Reading:
    """A page that the spider reads."""

    url: str
    page: Page
    verdict: Verdict
    is_html: bool

    def link(self, request: Request) -> Link | None:
        """The link that a request was made from; None if it was made from none."""
        is_plain = request.method == "GET" and not request.body and not request.dont_filter
        url = urls.canonical(request.url) if is_plain and request.priority <= 0 else None
        if url is None:
            return None
        found = next((link for link in self.page.links if link.url == url), None)
        if found is None and self.is_html:  # an API, an image, a request made of something else
            return None
        return structs.replace(found or Link(url), source=self.url)


def _page_of(response: Response) -> Page:
    """A response as honeyguide reads it; without text and links if it is no HTML."""
    if not isinstance(response, TextResponse):
        return Page(response.url)
    if not isinstance(response, HtmlResponse):  # a sitemap, a feed: its URLs count, not its text
        return Page(response.url)
    kind = f"text/html; charset={response.encoding}"
    return parse(response.body, urls.canonical(response.url) or response.url, kind).page


class FailureMiddleware:
    """A downloader middleware: ends the visits of pages that did not come."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware."""
        return cls(crawler)

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Note a failure that no other middleware retries."""
        scheduler = self._crawler.engine.scheduler if self._crawler.engine else None
        if not isinstance(scheduler, Scheduler):
            return
        scheduler.end_passed(request)
        if (url := request.meta.get(PAGE)) is not None:
            scheduler.fail(url, _failure_of(exception))


def _failure_of(exception: Exception) -> str:
    """A short name: "ignored", or that of the exception, "tcp timed out"."""
    if isinstance(exception, IgnoreRequest):
        return "ignored"
    name = type(exception).__name__.removesuffix("Error").removesuffix("Exception")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
