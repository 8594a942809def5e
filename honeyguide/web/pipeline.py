"""The stages that every request passes, in order.

    Redirects        follows redirects; every hop passes the stages below
    Admission        allow and deny lists, the limit of hosts, the delay between requests to a host
    Robots           robots.txt, fetched through the stages below
    OutageRetry      repeats what failed because the own network was down
    DescriptorLimit  no more requests at once than files can be open
    HttpFetcher      queues of hosts and addresses, address checks, one request and its response

Each stage wraps the next one and has the same method, `fetch(link, terms)`. Stages share one
HostSchedule.
"""

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from honeyguide import urls
from honeyguide.contracts import Link, Observable, OfHost, Recalling, Request, Response
from honeyguide.urls.patterns import Scope, UrlLists
from honeyguide.urls.spelling import host_of
from honeyguide.web.access import Access
from honeyguide.web.connections import FixedAddresses
from honeyguide.web.fetch_limits import Terms, WebFetcher
from honeyguide.web.host_schedule import Clock, HostSchedule, Limits
from honeyguide.web.http import HttpFetcher, Redirects, robots_name, user_agent
from honeyguide.web.network import DescriptorLimit, OutageRetry, ProbeSites
from honeyguide.web.robots import Robots
from honeyguide.web.sitemaps import Sitemaps, SiteSitemaps


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """What a user can say about fetching."""

    contact: str = ""  # empty: an anonymous crawl
    delay: float = 1.0  # seconds between two requests to a host
    allow_private: bool = False  # whether private addresses may be connected to
    resolve: str = ""  # "NAME=ADDRESS:PORT,...": addresses of hosts; "*" is any host
    scope: Scope = field(default_factory=Scope)  # which URLs may be requested
    user_agent: str = ""  # empty: honeyguide's own, with the contact
    access: Access = field(default_factory=Access)  # secrets of hosts, and the proxy
    per_host: int = 1  # requests at once to a host that is the user's or allows it


def fetch_pipeline(settings: FetchSettings) -> "Pipeline":
    """Make the stages of a live crawl, the innermost first."""
    name = user_agent(settings.contact, settings.user_agent)
    hosts = FixedAddresses(settings.resolve) if settings.resolve else None
    # no limit for one address when the user says that many hosts are there
    limits = Limits.for_hosts(settings.per_host)
    schedule = HostSchedule(settings.delay, replace(limits, per_address=None) if hosts else limits)
    http = HttpFetcher(
        name,
        allow_private=settings.allow_private,
        hosts=hosts,
        schedule=schedule,
        access=settings.access,
    )
    limit = DescriptorLimit(http)
    outage = OutageRetry(limit, ProbeSites(limit, schedule))
    robots = Robots(outage, robots_name(name), schedule, redirects_clock=outage.clock)
    admission = Admission(robots, settings.scope, schedule)
    redirects = Redirects(admission, clock=outage.clock, schedule=schedule)
    stages = (redirects, admission, robots, outage, limit, http)
    sitemaps = SiteSitemaps(Sitemaps(redirects, schedule=schedule), robots, schedule)
    return Pipeline(stages, schedule, outage.clock, sitemaps)


class Pipeline:
    """Fetches through stages, and notes what responses teach about hosts."""

    def __init__(
        self,
        stages: Sequence[WebFetcher],  # the outermost first
        schedule: HostSchedule | None = None,  # None: no live host has to be spared
        clock: Clock = time.monotonic,
        sitemaps: SiteSitemaps | None = None,
    ) -> None:
        self.stages = tuple(stages)
        self._learning = [stage for stage in stages if isinstance(stage, Learning)]
        self.schedule = schedule
        self.clock = clock  # seconds, without those of outages
        self.sitemaps = sitemaps

    @property
    def live(self) -> bool:
        """Whether requests go to live hosts, which have to be rate-limited."""
        return self.schedule is not None

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """Fetch a link through all stages."""
        return await self.stages[0].fetch(link, terms)

    def after_visit(
        self, link: Link, response: Response, seconds: float
    ) -> tuple[float | None, tuple[OfHost, ...]]:
        """Seconds until the link's host may be asked again, and what to store about hosts."""
        wait: float | None = None
        learnt: tuple[OfHost, ...] = ()
        if self.schedule is not None:
            # without the time that robots.txt took, or a wait until the host was ready
            took = seconds if response.seconds is None else response.seconds
            wait = self.schedule.after_visit(link, response, took)
            learnt = self.schedule.news()
        hosts = {host_of(link.url), host_of(response.url)}
        for stage in self._learning:
            learnt += stage.news(hosts)
        return wait, learnt

    def recall(self, learnt: Iterable[OfHost]) -> None:
        """Restore what was learnt about hosts before the crawl was resumed."""
        for stage in (self.schedule, *self.stages):
            if isinstance(stage, Recalling):
                stage.recall(learnt)

    def observe(self, observer: Callable[[Request], None]) -> None:
        """Call the observer when a request has ended, however it ended."""
        for stage in self.stages:
            if isinstance(stage, Observable):
                stage.observe(observer)

    def restrict(self, lists: UrlLists, delays: Mapping[str, float]) -> None:
        """Use other allow and deny lists, and other delays of hosts, from now on."""
        if self.schedule is not None:
            self.schedule.host_delays = dict(delays)
        for stage in self.stages:
            if isinstance(stage, Admission | OutageRetry):
                stage.relist(lists)

    async def close(self) -> None:
        """Close every connection."""
        await self.stages[0].close()


class Admission:
    """Refuses URLs outside the scope of a crawl, and waits until a host may be asked."""

    def __init__(self, fetcher: WebFetcher, scope: Scope, schedule: HostSchedule) -> None:
        self._fetcher = fetcher
        self._scope = scope
        self._schedule = schedule

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """Fetch a link if it may be requested; "resting" when its host must wait for long."""
        url = urls.canonical(link.url) or link.url
        if reason := self._scope.refusal(url):
            return Response(link, link.url, 0, failure=reason)
        if wait := await self._schedule.ready(host_of(url)):
            headers = {"retry-after": str(math.ceil(wait))}
            return Response(link, link.url, 0, headers, failure="resting")
        if reason := self._scope.refusal(url):  # it was denied meanwhile
            return Response(link, link.url, 0, failure=reason)
        return await self._fetcher.fetch(link, terms)

    def relist(self, lists: UrlLists) -> None:
        """Use other allow and deny lists from now on."""
        self._scope.relist(lists)

    def recall(self, learnt: Iterable[OfHost]) -> None:
        """Count the hosts that were requested before the crawl was resumed."""
        for host, _, _ in learnt:
            self._scope.recall(host)

    async def close(self) -> None:
        """Close the inner fetcher."""
        await self._fetcher.close()


@runtime_checkable
class Learning(Protocol):
    """A stage that learns about hosts what a resumed crawl must know."""

    def news(self, hosts: Collection[str]) -> tuple[OfHost, ...]:
        """Rows to store that are new since the last call, of these hosts."""
        ...
