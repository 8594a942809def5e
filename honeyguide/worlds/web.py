"""The live web: pages are fetched through a pipeline, parsed and judged."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from honeyguide import urls
from honeyguide.contracts import (
    UNASKED,
    UNWANTED,
    Judge,
    Link,
    OfHost,
    Page,
    Request,
    Response,
    Truth,
    Verdict,
    Visit,
    World,
)
from honeyguide.errors import HoneyguideError
from honeyguide.registry import part
from honeyguide.urls.patterns import Scope, UrlLists
from honeyguide.web.access import Access
from honeyguide.web.fetch_limits import Terms
from honeyguide.web.host_schedule import may_pass
from honeyguide.web.html import MAX_BODY, Parsed
from honeyguide.web.http import robots_name
from honeyguide.web.judge_spec import JudgeSpec
from honeyguide.web.parser_pool import (
    InProcess,
    NoProcessError,
    Read,
    Reader,
    reader_of,
)
from honeyguide.web.pipeline import FetchSettings, Pipeline, fetch_pipeline
from honeyguide.web.robots_txt import obey_directives
from honeyguide.web.sitemaps import SiteSitemaps, is_sitemap
from honeyguide.worlds.sitemapped import TAG_PATH, Sitemapped

NOTHING = Verdict(0.0, False)
NO_PROCESS = "no process to read it"


class WebWorld:
    """Visits pages through a fetch pipeline."""

    def __init__(
        self,
        judge: Judge,
        pipeline: Pipeline,
        reader: Reader | None = None,  # None: pages are parsed in this process
        product: str = "honeyguide",  # the name that X-Robots-Tag headers call this crawler by
    ) -> None:
        self._product = product.lower()
        self._judge = judge
        self._pipeline = pipeline
        self._reader = reader or InProcess()
        self.live = pipeline.live

    async def visit(self, link: Link) -> Visit:
        """Fetch, parse and judge a page."""
        return await self._visit(link)

    async def revisit(self, link: Link, etag: str, last_modified: str) -> Visit:
        """Visit a page again; the visit fails with "not modified" if the page has not changed."""
        return await self._visit(link, Terms(etag=etag, last_modified=last_modified))

    async def _visit_sitemap(self, link: Link, sitemaps: SiteSitemaps) -> Visit:
        """The pages that a sitemap names, as the links of a page without text."""
        begin = self._pipeline.clock()
        found = await sitemaps.named(link.url)
        seconds = self._pipeline.clock() - begin
        links = tuple(
            Link(url, tag_path=TAG_PATH, depth=link.depth + 1, source=link.url)
            for each in found
            if (url := urls.canonical(each.url)) is not None
        )
        failure = "" if links else "no sitemap"
        page = Page(link.url, "Sitemap", links=links) if links else None
        return Visit(link, page, NOTHING, None, failure, seconds)

    async def _visit(self, link: Link, terms: Terms | None = None) -> Visit:
        sitemaps = self._pipeline.sitemaps
        if link.depth == 0 and not link.source and is_sitemap(link.url) and sitemaps is not None:
            return await self._visit_sitemap(link, sitemaps)
        try:
            await self._reader.ready()
        except NoProcessError:
            return Visit(link, None, NOTHING, None, NO_PROCESS, 0.0, UNASKED, True)
        begin = self._pipeline.clock()
        response = await self._pipeline.fetch(link, terms)
        seconds = self._pipeline.clock() - begin
        wait, learnt = self._pipeline.after_visit(link, response, seconds)
        failure = response.failure or _status_failure(response.status)
        if failure:
            again = may_pass(response)
            return Visit(link, None, NOTHING, response, failure, seconds, wait, again, learnt)
        try:
            found = await self._read(response)
        except NoProcessError:  # the page will be fetched again, so this response is dropped
            return Visit(link, None, NOTHING, None, NO_PROCESS, seconds, wait, True, learnt)
        if found is None:
            return Visit(link, None, NOTHING, response, "unreadable", seconds, wait, False, learnt)
        page, verdict, response = self._judged(response, *found)
        return Visit(link, page, verdict, response, "", seconds, wait, learnt=learnt)

    def recall(self, learnt: Iterable[OfHost]) -> None:
        """Restore what was learnt about hosts before the crawl was resumed."""
        self._pipeline.recall(learnt)

    def observe(self, observer: Callable[[Request], None]) -> None:
        """Call the observer when a request has ended, however it ended."""
        self._pipeline.observe(observer)

    def restrict(self, lists: UrlLists, delays: Mapping[str, float]) -> None:
        """Request nothing that these lists refuse; wait so many seconds, by host."""
        self._pipeline.restrict(lists, delays)

    def find(self, name: str) -> Link:
        """The link for a web address; https:// may be left out."""
        url = urls.typed(name)
        if url is None:
            raise HoneyguideError(
                f"{name!r} is no web address to start from, such as https://example.org/;"
                " a recorded or generated web is named with --world"
            )
        return Link(url)

    def labels(self) -> dict[str, int]:
        """No labels are known for the live web."""
        return {}

    def truth(self) -> Truth:
        """Raise: the truth about the live web is unknown."""
        raise HoneyguideError("the truth about the live web is not known")

    async def close(self) -> None:
        """Close every connection and end the parser processes."""
        await self._pipeline.close()
        await self._reader.close()

    async def _read(self, response: Response) -> Read | None:
        content_type = response.headers.get("content-type", "")
        url = urls.canonical(response.url) or response.url
        return await self._reader.read(response.body, url, content_type)

    def _judged(
        self, response: Response, parsed: Parsed, verdict: Verdict | None
    ) -> tuple[Page, Verdict, Response]:
        page, wanted = obey_directives(parsed.page, parsed.noindex, response.headers, self._product)
        if not wanted:  # noindex: links are followed, the page is neither judged nor stored
            return page, UNWANTED, replace(response, body=b"")
        if verdict is None:  # the judge gets the HTML, which pages do not keep
            verdict = self._judge(replace(parsed.page, html=response.body[:MAX_BODY]))
        return page, verdict, response


@part("world", "web")
def live_web(  # noqa: PLR0913 each is a setting of users
    judge: Judge,
    *,
    contact: str = "",  # empty: an anonymous crawl
    delay: float = 1.0,  # seconds between two requests to a host
    per_host: int = 1,  # requests at once to a host
    allow_private: bool = False,
    resolve: str = "",  # "NAME=ADDRESS:PORT,...": addresses of hosts; "*" is any host
    scope: Scope | None = None,  # which URLs may be requested; None: all
    sitemaps: bool = False,  # whether links are taken from sitemaps, too
    parsers: int | None = None,  # processes that parse and judge pages; None: when they help
    spec: JudgeSpec | None = None,  # how those processes make their judge
    user_agent: str = "",  # empty: honeyguide's own, with the contact
    access: Access | None = None,  # secrets of hosts, and the proxy
) -> World:
    """The live web: obeys robots.txt, refuses private addresses, rate-limited per host."""
    settings = FetchSettings(
        contact=contact,
        delay=delay,
        allow_private=allow_private,
        resolve=resolve,
        scope=scope or Scope(),
        user_agent=user_agent,
        access=access or Access(),
        per_host=per_host,
    )
    pipeline = fetch_pipeline(settings)
    reader = reader_of(parsers, spec)
    world = WebWorld(judge, pipeline, reader, robots_name(user_agent) or "honeyguide")
    if sitemaps and pipeline.sitemaps is not None:
        return Sitemapped(world, pipeline.sitemaps.links)
    return world


def _status_failure(status: int) -> str:
    return "" if 200 <= status < 300 else f"status {status}"
