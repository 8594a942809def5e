"""Find the pages where sites publish their events, or what another model was trained on."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from honeyguide import urls
from honeyguide.assemble import site_navigator
from honeyguide.contracts import Judge, Link, Step, Visit, World
from honeyguide.engine.loop import Crawl, Limits
from honeyguide.engine.navigator import Navigator
from honeyguide.errors import explained
from honeyguide.registry import make
from honeyguide.source_finder.agent import SourceFinder
from honeyguide.source_finder.scorer import combined_probability

SITES_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Source:
    """A page where a site publishes a list."""

    url: str
    probability: float  # of being a source page, from its link and its content


@dataclass(frozen=True, slots=True)
class Answer:
    """The source pages of a site, or the reason why it could not be searched."""

    home: str
    sources: tuple[Source, ...] = ()  # most probable first
    clicks: int = 0  # pages fetched beyond the home page
    complaint: str = ""  # a sentence; empty when the site could be searched


@dataclass(frozen=True, slots=True, kw_only=True)
class Finder:
    """Searches several sites at a time, with a delay between requests to a host."""

    model: str = "events"
    clicks: int = 10  # most pages per site, besides the home page
    threshold: float | None = None  # least probability of a click; None: the model's own
    delay: float = 1.0  # seconds between two requests to a host
    feedback: bool = False  # whether results of clicks change the scores of similar links

    def judge(self) -> Judge:
        """Return the page scorer of the same model."""
        judge: Judge = make("judge", "event_source", model=self.model)
        return judge

    async def find(
        self,
        homes: Sequence[str],
        world: World,
        on_answer: Callable[[Answer], None] = lambda answer: None,
    ) -> list[Answer]:
        """Return an answer per home page, in order; call `on_answer` with each as it is ready."""
        turns = asyncio.Semaphore(SITES_AT_ONCE)
        judged = JudgedWorld(world, self.judge())

        async def one(home: str) -> Answer:
            async with turns:
                answer = await self._search(home, judged)
                on_answer(answer)
                return answer

        return list(await asyncio.gather(*(one(home) for home in homes)))

    async def _search(self, home: str, world: World) -> Answer:
        visits: list[Visit] = []
        found: dict[str, float] = {}
        agent = self._agent()

        def note(visit: Visit, step: Step, now: float) -> None:
            if visit.page is not None:
                page = visit.verdict.relevance
                link = float(agent.features.probabilities(step.x[None])[0]) if visits else 0.5
                found[visit.page.url] = combined_probability(link, page)
            visits.append(replace(visit, response=None) if visits else visit)

        crawl = Crawl(self._navigator(home, agent), world, Limits(pages=self.clicks + 1), 1, note)
        await crawl.run([Link(home)])
        complaint = _complaint(home, visits)
        if complaint:
            return Answer(home, complaint=complaint)
        likely = {url: probability for url, probability in found.items() if probability >= 0.5}
        surest = sorted(likely.items(), key=lambda pair: -pair[1])
        return Answer(home, tuple(Source(*pair) for pair in surest), len(visits) - 1)

    def _agent(self) -> SourceFinder:
        rng = np.random.default_rng(0)  # never drawn from: epsilon is 0
        settings: dict[str, Any] = {} if self.threshold is None else {"threshold": self.threshold}
        settings |= {"model": self.model, "feedback": self.feedback}
        agent: SourceFinder = make("agent", "source_finder", batch=0, rng=rng, **settings)
        return agent

    def _navigator(self, home: str, agent: SourceFinder) -> Navigator:
        host = urls.host(home).removeprefix("www.")
        return site_navigator(agent, np.random.default_rng(0), host, self.delay)


def _complaint(home: str, visits: Sequence[Visit]) -> str:
    """Return why a site could not be searched; empty when it could."""
    if not visits:
        return f"{home} was not fetched"
    first = visits[0]
    if first.page is None:
        return f"{home} cannot be read: {explained(first.failure)}"
    was, is_now = (urls.host(url).removeprefix("www.") for url in (home, first.page.url))
    if was != is_now:
        return f"{home} leads to another site: {first.page.url}"
    if first.page.links:
        return ""
    body = first.response.body if first.response else first.page.html
    if b"<script" in body.lower() and len(first.page.text) < 200:
        return f"{home} shows nothing without a browser"
    return f"{home} has no links"


class JudgedWorld:
    """A world that judges pages with their HTML, which the page scorer needs."""

    def __init__(self, world: World, judge: Judge) -> None:
        self._world, self._judge = world, judge
        self.live = world.live
        self.find, self.labels, self.truth = world.find, world.labels, world.truth
        self.close = world.close

    async def visit(self, link: Link) -> Visit:
        """Visit a link and judge its page; a page without a body (noindex) is not judged again."""
        visit = await self._world.visit(link)
        if visit.page is None:
            return visit
        body = visit.response.body if visit.response else visit.page.html
        if not body:
            return visit
        return replace(visit, verdict=self._judge(replace(visit.page, html=body)))
