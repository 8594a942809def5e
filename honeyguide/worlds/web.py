"""The live web: fetched politely, parsed, judged."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from honeyguide.urls.patterns import Refusal
from honeyguide.web.admission import Admitted
from honeyguide.web.fetch_limits import Terms, WebFetcher
from honeyguide.web.html import MAX_BODY, Parsed
from honeyguide.web.http import NOBODY, HttpFetcher, user_agent
from honeyguide.web.judge_spec import JudgeSpec
from honeyguide.web.outage import Outage
from honeyguide.web.parser_pool import Here, NoProcessError, ParserPool, Read, Reader, SmallHere
from honeyguide.web.politeness import (
    FAILURES,
    NOT_ASKED,
    NOT_YET_ASKED,
    Politeness,
    may_pass,
    retry_after,
)
from honeyguide.web.reachability import Witnesses
from honeyguide.web.redirects import Redirects
from honeyguide.web.request_url import host_of
from honeyguide.web.robots import Robots
from honeyguide.web.robots_tag import as_wished
from honeyguide.web.shortage import Shortage
from honeyguide.web.sitemaps import Sitemaps
from honeyguide.worlds.sitemapped import Sitemapped

NOTHING = Verdict(0.0, False)
NO_PROCESS = "no process to read it"
_LONGEST_DETOUR = 60.0  # seconds; a host that leads to many others is not held up for one of them
RESTS_UNTIL = "rests until"  # seconds since 1970, as what is learnt of a host


class WebWorld:
    """Visits pages through a fetcher; says how long to leave each host alone after it."""

    def __init__(  # noqa: PLR0913 each is something else that a part of fetching knows
        self,
        judge: Judge,
        fetcher: WebFetcher,
        politeness: Politeness | None = None,  # None: nobody is there to be left alone
        crawl_delay: Callable[[str], float | None] = lambda url: None,  # a site's own wish
        reader: Reader | None = None,  # None: pages are read here
        leave: Callable[[str, float], None] = lambda host, seconds: None,  # alone for so long
        met: Callable[[str], None] = lambda host: None,  # told of hosts that were asked before
        *,
        answered: Callable[[str], None] = lambda host: None,  # told of those that were well
        robots: Robots | None = None,  # whose files are kept with the crawl; None: nobody's
        clock: Callable[[], float] = time.monotonic,
        sender: HttpFetcher | None = None,  # of requests, who tells of them
    ) -> None:
        self._judge = judge
        self._sender = sender
        self._fetcher = fetcher
        self._politeness = politeness
        self.live = politeness is not None
        self._crawl_delay = crawl_delay
        self._leave = leave
        self._met = met
        self._answered = answered
        self._robots = robots
        self._clock = clock
        self._reader = reader or Here()

    async def visit(self, link: Link) -> Visit:
        """Fetch, parse and judge."""
        return await self._visit(link)

    async def revisit(self, link: Link, etag: str, last_modified: str) -> Visit:
        """The same, unless the page is as it was; that is a failure too."""
        return await self._visit(link, Terms(etag=etag, last_modified=last_modified))

    async def _visit(self, link: Link, terms: Terms | None = None) -> Visit:
        try:
            await self._reader.ready()
        except NoProcessError:
            return Visit(link, None, NOTHING, None, NO_PROCESS, 0.0, UNASKED, True)
        begin = self._clock()
        response = await self._fetcher.fetch(link, terms)
        seconds = self._clock() - begin
        # without what robots.txt took, or a wait until the host was ready
        took = seconds if response.seconds is None else response.seconds
        rest, learnt = self._rest(link, response, took)
        if self._robots is not None:
            learnt += self._robots.news({host_of(link.url), host_of(response.url)})
        failure = response.failure or _status_failure(response.status)
        if failure:
            again = may_pass(response)
            return Visit(link, None, NOTHING, response, failure, seconds, rest, again, learnt)
        try:
            found = await self._read(response)
        except NoProcessError:  # it is asked for again, so it is not kept
            return Visit(link, None, NOTHING, None, NO_PROCESS, seconds, rest, True, learnt)
        if found is None:
            return Visit(link, None, NOTHING, response, "unreadable", seconds, rest, False, learnt)
        page, verdict, response = self._understand(response, *found)
        return Visit(link, page, verdict, response, "", seconds, rest, learnt=learnt)

    def recall(self, learnt: Iterable[OfHost]) -> None:
        """Know again which hosts were asked, what they allow, and which want to be left alone."""
        if self._robots is not None:
            self._robots.recall(learnt)
        for host, what, value in learnt:
            self._met(host)
            if isinstance(value, bytes):
                continue
            if what == FAILURES and not value:
                self._answered(host)
            if what == FAILURES and self._politeness is not None:
                self._politeness.recall(host, int(value))
            elif what == RESTS_UNTIL:
                self._leave(host, max(0.0, value - time.time()))

    def observe(self, observer: Callable[[Request], None]) -> None:
        """Call the observer when a request has ended, however it ended."""
        if self._sender is not None:
            self._sender.observer = observer

    def _rest(
        self, link: Link, response: Response, seconds: float
    ) -> tuple[float | None, tuple[OfHost, ...]]:
        """How long to leave a link's host alone; where it led elsewhere, that host as well."""
        if self._politeness is None:
            return None, ()
        asked, reached = host_of(link.url), host_of(response.url)
        if reached == asked:
            rest, learnt = self._let_rest(asked, link.url, response, seconds)
            return rest, learnt + self._politeness.news()
        learnt = ()
        if reached and response.failure not in NOT_ASKED | NOT_YET_ASKED:
            _, learnt = self._let_rest(reached, response.url, response, seconds)
        led_on = Response(link, link.url, 302)  # how long it took alone, nobody knows
        rest, _ = self._let_rest(asked, link.url, led_on, min(seconds, 0.5))
        if response.failure == "resting":  # before the other host is ready, all tries are in vain
            wait = retry_after(response.headers, time.time()) or 0.0
            rest = max(rest, min(wait, _LONGEST_DETOUR))
        return rest, learnt + self._politeness.news()

    def _let_rest(
        self, host: str, url: str, response: Response, seconds: float
    ) -> tuple[float, tuple[OfHost, ...]]:
        """Leave a host alone, however it is come to next."""
        assert self._politeness is not None  # noqa: S101 for the type checker
        now, wish = time.time(), self._crawl_delay(url)
        rest = self._politeness.rest(host, response, seconds, now, wish)
        self._leave(host, rest)
        return rest, (OfHost(host, RESTS_UNTIL, now + rest),) if may_pass(response) else ()

    def find(self, name: str) -> Link:
        """The link to a web address."""
        url = urls.canonical(name) or urls.canonical(f"https://{name}")
        if url is None or "." not in urls.host(url):
            raise HoneyguideError(
                f"{name!r} is no web address to start from, such as https://example.org/;"
                " a recorded or generated web is named with --world"
            )
        return Link(url)

    def labels(self) -> dict[str, int]:
        """None are known."""
        return {}

    def truth(self) -> Truth:
        """Nobody knows the whole web."""
        raise HoneyguideError("nobody knows the truth about the live web")

    async def close(self) -> None:
        """Close every connection."""
        await self._fetcher.close()
        await self._reader.close()

    async def _read(self, response: Response) -> Read | None:
        content_type = response.headers.get("content-type", "")
        url = urls.canonical(response.url) or response.url
        return await self._reader.read(response.body, url, content_type)

    def _understand(
        self, response: Response, parsed: Parsed, verdict: Verdict | None
    ) -> tuple[Page, Verdict, Response]:
        page, wanted = as_wished(parsed.page, parsed.noindex, response.headers)
        if not wanted:  # followed, but neither judged nor kept
            return page, UNWANTED, replace(response, body=b"")
        if verdict is None:  # judges may read the HTML; nobody keeps it
            verdict = self._judge(replace(parsed.page, html=response.body[:MAX_BODY]))
        return page, verdict, response


@part("world", "web")
def live_web(  # noqa: PLR0913 each is something that a user can say
    judge: Judge,
    *,
    contact: str = NOBODY,
    delay: float = 1.0,  # seconds between two requests to a host
    allow_private: bool = False,
    resolve: str = "",  # "NAME=ADDRESS:PORT,...": where a host is really found; "*" is any host
    refusals: Sequence[Refusal] = (),  # what is not asked for, on any hop
    sitemaps: bool = False,  # whether sites' sitemaps are a source of links
    parsers: int = 0,  # processes that only read and judge pages
    spec: JudgeSpec | None = None,  # for the judges of those
) -> World:
    """The live web: robots.txt obeyed, private addresses refused, hosts left in peace."""
    name = user_agent(contact)
    # many names at one given address are one's own doing: no limit for the address then
    hosts = Elsewhere(resolve) if resolve else None
    sender = HttpFetcher(
        name, allow_private=allow_private, hosts=hosts, per_address=None if hosts else 2
    )
    http = Shortage(sender)

    def wait(host: str) -> float:
        return admitted.wait(host)

    def asked(url: str) -> None:
        wish = min(robots.crawl_delay(url) or 0.0, _LONGEST_DETOUR)
        admitted.rest(host_of(url), max(delay, wish))

    witnesses = Witnesses(http, wait, asked)
    network = Outage(http, witnesses)
    robots = Robots(network, name, redirects_clock=network.clock)
    admitted = Admitted(robots, refusals, delay)
    fetcher = Redirects(admitted, clock=network.clock, leave=admitted.rest)
    reader = ParserPool(parsers, spec=spec) if parsers else SmallHere(spec)
    politeness = Politeness(delay)
    world = WebWorld(
        judge,
        fetcher,
        politeness,
        robots.crawl_delay,
        reader,
        admitted.rest,
        admitted.met,
        answered=witnesses.recall,
        robots=robots,
        clock=network.clock,
        sender=sender,
    )
    if not sitemaps:
        return world

    def leave(response: Response) -> None:
        host = host_of(response.url)
        admitted.rest(host, politeness.rest(host, response, 0.0, time.time()))

    named_links = Sitemaps(fetcher, unwell=leave)

    async def read(url: str, rest: float) -> list[Link]:
        origin, host = url[: url.index("/", 8)], urls.host(url)
        decision = await robots.decide(url)
        named = decision.sitemaps[:5] or (f"{origin}/sitemap.xml",)
        pause = max(delay, rest, min(decision.crawl_delay or 0.0, 60.0))
        return await named_links.links(named, host, pause)

    return Sitemapped(world, read)


class Elsewhere(Mapping[str, tuple[str, int]]):
    """Host names and where they are really found, from "NAME=ADDRESS:PORT,..."."""

    def __init__(self, said: str) -> None:
        self._places: dict[str, tuple[str, int]] = {}
        for piece in said.split(","):
            name, equals, place = piece.partition("=")
            address, colon, port = place.rpartition(":")
            is_port = port.isascii() and port.isdigit() and len(port) <= 5 and int(port) < 1 << 16
            if not (name and equals and address and colon and is_port):
                raise HoneyguideError(f"{piece!r} does not say where a host is: NAME=ADDRESS:PORT")
            self._places[name] = address.strip("[]"), int(port)

    def __getitem__(self, name: str) -> tuple[str, int]:
        return self._places.get(name) or self._places["*"]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _status_failure(status: int) -> str:
    return "" if 200 <= status < 300 else f"status {status}"
