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
from honeyguide.errors import HoneyguideError, explained
from honeyguide.registry import make
from honeyguide.source_finder.agent import SourceFinder
from honeyguide.source_finder.like import like_pages
from honeyguide.source_finder.model import SourceModel, model_of
from honeyguide.source_finder.stopping import Reporting
from honeyguide.text.words import counted

SITES_AT_ONCE = 8
LIKELY = 0.5  # least probability of a page that is reported
HOME_EXPECTED = 0.1  # a home page is seldom the list itself


@dataclass(frozen=True, slots=True)
class Source:
    """A page where a site publishes a list."""

    url: str
    probability: float  # of being a source page, from its link and its content


@dataclass(frozen=True, slots=True)
class Click:
    """A page that was visited after the home page, and what was expected and seen there."""

    url: str
    anchor: str  # text of the link that was clicked
    expected: float  # what the link promised: 1 for a source page, less for a way to one
    page: float  # probability of being a source page, by its content; 0 if it could not be read
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The source pages of a site, or the reason why it could not be searched."""

    home: str
    sources: tuple[Source, ...] = ()  # most probable first
    clicks: int = 0  # pages fetched beyond the home page
    complaint: str = ""  # a sentence; empty when the site could be searched
    clicked: tuple[Click, ...] = ()  # in order
    stopped: str = ""  # why the search ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Finder:
    """Searches several sites at a time, with a delay between requests to a host."""

    model: str | SourceModel = "events"  # a name, a file, or a model
    clicks: int = 10  # most pages per site, besides the home page
    threshold: float | None = None  # least score of a click; None: the model's own rule
    delay: float = 1.0  # seconds between two requests to a host
    feedback: bool = False  # whether results of clicks change the scores of similar links
    stopping: str = "calibrated"  # or thorough, equation5
    workers: int = SITES_AT_ONCE  # sites searched at a time

    def judge(self) -> Judge:
        """Return the page scorer of the same model."""
        judge: Judge = make("judge", "event_source", model=self.model)
        return judge

    async def like(self, examples: Sequence[str], world: World) -> "Finder":
        """Return a finder of pages like these examples, which are visited first."""
        pages = []
        for url in examples:
            visit = await world.visit(Link(url))
            if visit.page is None:
                raise HoneyguideError(f"the example {url} cannot be read: {visit.failure}")
            body = visit.response.body if visit.response else visit.page.html
            pages.append(replace(visit.page, html=body))
        return replace(self, model=like_pages(pages, model_of("events")))

    async def find(
        self,
        homes: Sequence[str],
        world: World,
        on_answer: Callable[[Answer], None] = lambda answer: None,
    ) -> list[Answer]:
        """Return an answer per home page, in order; call `on_answer` with each as it is ready."""
        judged = JudgedWorld(world, self.judge())
        answers: list[Answer | None] = [None] * len(homes)
        waiting = iter(enumerate(homes))

        async def worker() -> None:
            for place, home in waiting:  # the iterator is shared: each home is taken once
                answers[place] = await self._answer(home, judged)
                on_answer(answers[place] or Answer(home))

        await asyncio.gather(*(worker() for _ in range(min(self.workers, len(homes)))))
        return [answer for answer in answers if answer is not None]

    async def _answer(self, home: str, world: World) -> Answer:
        """Search one site; what goes wrong there does not stop the others."""
        try:
            return await self._search(home, world)
        except HoneyguideError as error:
            return Answer(home, complaint=f"{home} cannot be searched: {error}")

    async def _search(self, home: str, world: World) -> Answer:
        agent = self._agent()
        trail = Trail(agent, model_of(self.model).reporting)
        crawl = Crawl(
            self._navigator(home, agent), world, Limits(pages=self.clicks + 1), 1, trail.note
        )
        await crawl.run([Link(home)])
        complaint = _complaint(home, trail.first, len(trail.clicks))
        if complaint:
            return Answer(home, complaint=complaint)
        sources, clicked = trail.sources(), tuple(trail.clicks)
        return Answer(home, sources, len(clicked), "", clicked, self._why(agent, clicked, sources))

    def _why(self, agent: SourceFinder, clicked: Sequence[Click], sources: Sequence[Source]) -> str:
        if len(clicked) >= self.clicks:
            return f"the limit of {counted(self.clicks, 'click')} was reached"
        if agent.best_refused is None:
            return "no link was left"
        asked = f"best {agent.best_refused:.2f}, needed {agent.least():.2f}"
        other = "other " if sources else ""
        return f"no {other}link was likely enough ({asked})"

    def _agent(self) -> SourceFinder:
        rng = np.random.default_rng(0)  # never drawn from: epsilon is 0
        settings: dict[str, Any] = {} if self.threshold is None else {"threshold": self.threshold}
        settings |= {"model": self.model, "feedback": self.feedback, "stopping": self.stopping}
        agent: SourceFinder = make(
            "agent", "source_finder", batch=0, one_site=True, rng=rng, **settings
        )
        return agent

    def _navigator(self, home: str, agent: SourceFinder) -> Navigator:
        host = urls.host(home).removeprefix("www.")
        return site_navigator(agent, np.random.default_rng(0), host, self.delay)


class Trail:
    """What a search of one site has visited."""

    def __init__(self, agent: SourceFinder, reporting: Reporting) -> None:
        self.first: Visit | None = None  # of the home page
        self.clicks: list[Click] = []
        self._agent, self._reporting = agent, reporting
        self._found: dict[str, float] = {}

    def note(self, visit: Visit, step: Step, now: float) -> None:
        """Record a visit; called by the crawl."""
        page = visit.verdict.relevance if visit.page is not None else 0.0
        if self.first is None:
            self.first = visit
            if visit.page is not None:
                self._found[visit.page.url] = self._reporting(HOME_EXPECTED, page)
            return
        link = float(self._agent.features.probabilities(step.x[None])[0])
        url = visit.page.url if visit.page else visit.link.url
        anchor = visit.link.anchor or self._agent.features.anchor(step.x)
        self.clicks.append(Click(url, anchor, link, page, visit.failure))
        if visit.page is not None:
            self._found[url] = self._reporting(link, page)

    def sources(self) -> tuple[Source, ...]:
        """Return the likely source pages, most probable first; the home page only if no other."""
        likely = [Source(url, p) for url, p in self._found.items() if p >= LIKELY]
        home = self.first.page.url if self.first and self.first.page else ""
        others = [source for source in likely if source.url != home]
        return tuple(sorted(others or likely, key=lambda source: -source.probability))


def _complaint(home: str, first: Visit | None, clicks: int) -> str:
    """Return why a site could not be searched; empty when it could."""
    if first is None:
        return f"{home} was not fetched"
    if first.page is None:
        return f"{home} cannot be read: {explained(first.failure)}"
    was, is_now = (urls.host(url).removeprefix("www.") for url in (home, first.page.url))
    if was != is_now:
        return f"{home} leads to another site: {first.page.url}"
    if first.page.links or clicks:
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
