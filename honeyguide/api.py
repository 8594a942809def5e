"""What Python programs call: crawl, resume, read_page and judge_pages."""

import asyncio
import queue
import tempfile
import threading
import warnings
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from honeyguide.assemble import judge_of
from honeyguide.contracts import Calibrated, Link, Page, Verdict, Visit, Vocabulary
from honeyguide.engine.decisions import calibrated
from honeyguide.engine.loop import Crawl
from honeyguide.errors import HoneyguideError, unknown
from honeyguide.plan import Plan
from honeyguide.storage.crawl_folder import INTERRUPTED, Ended, create_crawl, run_crawl
from honeyguide.storage.database import settings
from honeyguide.storage.secrets import SECRETS, secrets_of
from honeyguide.storage.store import RecordingNavigator
from honeyguide.text.words import counted
from honeyguide.web.html import parse

MAX_WAITING = 100  # pages that were fetched and not yet taken: a crawl pauses at so many
LIMITS = ("budget", "max_relevant", "max_seconds", "max_bytes", "max_barren", "max_memory")
OF_JUDGES = ("judge", "encoder", "like", "search")
NOWHERE = "http://localhost/"  # a plan needs a seed, also where nothing is fetched


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """A page that a crawl has fetched, with its verdict and the link that led to it."""

    page: Page
    verdict: Verdict
    link: Link

    @property
    def url(self) -> str:
        """Its URL, after redirects."""
        return self.page.url

    @property
    def title(self) -> str:
        """Its title."""
        return self.page.title

    @property
    def text(self) -> str:
        """Its main text."""
        return self.page.text

    @property
    def links(self) -> tuple[Link, ...]:
        """Its links, in document order."""
        return self.page.links

    @property
    def language(self) -> str:
        """Two letters, such as "en"; empty where the language is not clear."""
        return self.page.language

    @property
    def relevant(self) -> bool:
        """Whether the crawl counts it as relevant."""
        return self.verdict.relevant

    @property
    def relevance(self) -> float:
        """Its relevance, 0 to 1."""
        return self.verdict.relevance

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the judge decided so."""
        return self.verdict.reasons

    def __repr__(self) -> str:
        verdict = "relevant" if self.relevant else "not relevant"
        return f"<{verdict} ({self.relevance:.2f}): {self.title!r} {self.url}>"


@dataclass(frozen=True, slots=True)
class CrawlResult:
    """How a crawl ended."""

    pages: int  # fetched, failures included
    relevant: int  # distinct relevant pages
    seconds: float
    reason: str  # why it stopped
    folder: Path | None = None  # where the pages are; None if they were not kept

    def __repr__(self) -> str:
        found = f"{counted(self.relevant, 'relevant page')} among {self.pages:,} fetched"
        where = f", in {self.folder}" if self.folder else ""
        return f"<{found} ({self.reason}){where}>"


class RunningCrawl:
    """A crawl that yields its pages while it runs: iterate over it once, or call `run`.

    It runs in a thread of its own, so that `for` works in scripts and notebooks and `async for`
    in any event loop. Leaving the loop ends the crawl; one with a folder can be resumed. The
    crawl pauses while more than 100 pages wait to be taken.
    """

    def __init__(self, plan: Plan | None, folder: Path | None, changes: dict[str, Any]) -> None:
        self.folder = folder
        self.result: CrawlResult | None = None  # once it has ended
        self._plan = plan  # None for a crawl that is resumed
        self._changes = changes
        self._pages: queue.SimpleQueue[CrawledPage | BaseException | None] = queue.SimpleQueue()
        self._crawl: Crawl | None = None
        self._thread: threading.Thread | None = None
        self._room = threading.Event()  # set when a simulated crawl may go on
        self._is_paused = self._is_closed = False
        self._error: BaseException | None = None  # until it was raised
        self._failure = ""
        self._seen: set[str] = set()
        self.fetched = self.relevant = 0

    def __repr__(self) -> str:
        if self.result is not None:
            return repr(self.result)
        state = "running" if self._thread else "not started: iterate over it, or call run()"
        state = f"failed: {self._failure}" if self._failure else state
        return f"<crawl with {self.relevant} relevant pages among {self.fetched:,}, {state}>"

    def __iter__(self) -> Iterator[CrawledPage]:
        self._start()
        try:
            while (page := self._next(self._pages.get())) is not None:
                yield page
        finally:
            self._end()
            self._warn_of_error()

    def __aiter__(self) -> AsyncIterator[CrawledPage]:
        return _AsyncPages(self)

    def run(self) -> CrawlResult:
        """Crawl to the end, whatever the pages are."""
        for _ in self:
            pass
        assert self.result is not None  # noqa: S101 it has ended
        return self.result

    def close(self) -> None:
        """End the crawl and wait until its folder is written; safe to call again."""
        self._end()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _end(self) -> None:
        """End the crawl and wait until its folder is written."""
        self._is_closed = True
        self._room.set()
        if self._crawl is not None:
            self._crawl.call(lambda crawl: crawl.stop(INTERRUPTED))
        if self._thread is not None:
            self._thread.join()

    def _warn_of_error(self) -> None:
        """Warn of an error that came after the last page was taken."""
        if self._error is not None:
            _warn(f"the crawl failed when it was ended: {self._failure}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _start(self) -> None:
        if self._thread is not None or self._is_closed:
            ways = f"honeyguide.resume({str(self.folder)!r})" if self.folder else "honeyguide.crawl"
            raise HoneyguideError(f"this crawl has been iterated over: go on with {ways}")
        if self._plan is not None and self.folder is not None:
            create_crawl(self.folder, self._plan)  # errors reach the caller, not the thread
            _warn_of_interactive(self.folder)
        self._thread = threading.Thread(target=self._run, name="honeyguide crawl", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            if self.folder is not None:
                self.result = self._in(self.folder, self.folder)
            else:
                with tempfile.TemporaryDirectory(prefix="honeyguide-") as place:
                    folder = Path(place) / "crawl"
                    create_crawl(folder, self._plan_of())
                    self.result = self._in(folder, None)
            self._pages.put(None)
        except BaseException as error:  # raised again where pages are taken, or by close()
            self._error = error
            self._failure = str(error) or type(error).__name__
            self._pages.put(error)

    def _plan_of(self) -> Plan:
        assert self._plan is not None  # noqa: S101 what is resumed has a folder
        return self._plan

    def _in(self, folder: Path, kept: Path | None) -> CrawlResult:
        ended = run_crawl(folder, self._watch, _warn, self._on_start, **self._changes)
        return _result(ended, kept)

    def _on_start(self, crawl: Crawl) -> None:
        self._crawl = crawl
        if self._is_closed:
            crawl.stop(INTERRUPTED)

    def _watch(self, plan: Plan, recorded: RecordingNavigator, visit: Visit) -> None:
        self.fetched = recorded.memory.visits
        self.relevant = recorded.memory.relevant_found
        if visit.page is None or visit.page.url in self._seen:  # a failure, or reached twice
            return
        self._seen.add(visit.page.url)
        self._pages.put(CrawledPage(visit.page, visit.verdict, visit.link))
        if self._pages.qsize() >= MAX_WAITING and not self._is_closed:
            self._wait_for_room()

    def _wait_for_room(self) -> None:
        """Let a live crawl end its visits and start no others; let a simulated one stand still."""
        assert self._crawl is not None  # noqa: S101 it runs
        if self._crawl.world.live:
            self._is_paused = True
            self._crawl.pause()
            if self._pages.qsize() < MAX_WAITING // 2:  # they were taken meanwhile
                self._is_paused = False
                self._crawl.unpause()
            return
        self._room.clear()
        while not self._is_closed and self._pages.qsize() >= MAX_WAITING:
            self._room.wait(0.1)

    def _next(self, page: CrawledPage | BaseException | None) -> CrawledPage | None:
        if isinstance(page, BaseException):
            self._error = None
            raise page
        if self._pages.qsize() < MAX_WAITING // 2:
            self._room.set()
            if self._is_paused and self._crawl is not None:
                self._is_paused = False
                self._crawl.call(Crawl.unpause)
        return page


class _AsyncPages:
    """Pages of a crawl for `async for`; the crawl ends with the loop that takes them."""

    def __init__(self, running: RunningCrawl) -> None:
        self._running = running
        self._has_begun = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> CrawledPage:
        if not self._has_begun:
            self._has_begun = True
            await asyncio.to_thread(self._running._start)
        page = self._running._next(await asyncio.to_thread(self._running._pages.get))
        if page is None:
            await self.aclose()
            raise StopAsyncIteration
        return page

    async def aclose(self) -> None:
        """End the crawl without blocking the event loop."""
        await asyncio.to_thread(self._running.close)

    def __del__(self) -> None:
        if self._has_begun:
            self._running._end()  # so that the folder is free when the loop has been left
            self._running._warn_of_error()


def crawl(
    topic: str = "",
    seeds: Iterable[str] | str = (),
    out: str | Path | None = None,
    *,
    plan: Plan | None = None,
    **settings: Any,
) -> RunningCrawl:
    """Crawl for pages about a topic, and yield them while the crawl runs.

    By default the live web is crawled. `settings` are those of a `Plan`: `budget=200`,
    `agent="best_first"`, `judge=MyJudge`. The crawl is stored in the folder `out`, like that of
    `honeyguide crawl --out`; without `out`, nothing is kept.
    """
    if plan is None:
        names = (seeds,) if isinstance(seeds, str) else tuple(seeds)
        plan = Plan(**{"world": "web", **settings, "topic": topic, "seeds": names})
    elif topic or seeds or settings:
        raise HoneyguideError("give a plan, or a topic with seeds and settings, not both")
    return RunningCrawl(plan, None if out is None else Path(out), secrets_of(plan))


def resume(folder: str | Path, **changes: Any) -> RunningCrawl:
    """Resume the crawl of a folder, and yield its further pages.

    `changes` are new limits, `budget`, `max_seconds` and the others of `honeyguide resume`, and
    the secrets that the folder does not hold: `header`, `cookie`, `auth_file`, `proxy` and others.
    """
    for name in changes:
        if name not in (*LIMITS, *SECRETS):
            raise unknown("limit of a crawl", name, LIMITS)
    return RunningCrawl(None, Path(folder), changes)


def run(plan: Plan, out: str | Path | None = None) -> CrawlResult:
    """Crawl as a plan says, to the end."""
    return crawl(plan=plan, out=out).run()


def read_page(html: str | bytes, url: str = NOWHERE, content_type: str = "text/html") -> Page:
    """Read a page as a crawl does: title, main text, links, language."""
    if isinstance(html, str):  # whatever encoding it declares, it has been decoded
        html, content_type = html.encode("utf-8", "replace"), "text/html; charset=utf-8"
    return replace(parse(html, url, content_type).page, html=html)


def judge_pages(pages: Iterable[Page], topic: str = "", **settings: Any) -> list[Verdict]:
    """Judge pages as a crawl would.

    The default judge compares the pages with one another: give it at least 20 of them, on the topic
    and not.

    `settings` are those of a `Plan` that choose the judge: `judge`, `encoder`, `like`, `search`.
    Near-duplicates and soft 404s, which the guard of a crawl counts as not relevant, are judged
    like other pages.
    """
    for name in settings:
        if name not in OF_JUDGES:
            raise unknown("setting that chooses a judge", name, OF_JUDGES)
    plan = Plan(**{**settings, "topic": topic, "seeds": (NOWHERE,)})
    encoder, judge = judge_of(plan)
    verdicts = []
    for page in pages:
        verdicts.append(judge(page))
        if isinstance(encoder, Vocabulary):
            encoder.observe(page.text)
    return calibrated(judge.calibration(), verdicts) if isinstance(judge, Calibrated) else verdicts


def _warn_of_interactive(folder: Path) -> None:
    """Warn of classes that no other process can import."""
    for place in settings(folder).get("outside_parts", ()):
        if place.startswith("__main__:"):
            name = place.partition(":")[2]
            _warn(
                f"{name} is defined in an interactive session: resume this crawl there, or put"
                f" {name} into a file"
            )


def _warn(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=2)


def _result(ended: Ended, folder: Path | None) -> CrawlResult:
    outcome = ended.outcome
    return CrawlResult(outcome.pages, outcome.relevant, outcome.seconds, outcome.reason, folder)
