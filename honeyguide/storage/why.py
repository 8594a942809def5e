"""Why a crawl fetched a page, lets a link wait, or never took it."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from honeyguide import urls
from honeyguide.contracts import START, Link, Page
from honeyguide.engine.view import LinkView, Parent, Part, UrlView
from honeyguide.errors import HoneyguideError
from honeyguide.features.evidence import BARREN
from honeyguide.features.hashed_words import read_word_name
from honeyguide.registry import make
from honeyguide.storage.choices import Choice
from honeyguide.storage.database import about, reading
from honeyguide.storage.found_pages import (
    FoundPage,
    barren_pages,
    choice_before,
    find_pages,
    last_event,
    link_on,
    page_that_shows,
    text_of,
)
from honeyguide.storage.host_report import PRODUCT, stored_robots_txt
from honeyguide.storage.lock import holder
from honeyguide.storage.looking import Question, look
from honeyguide.storage.stored_plan import Warn, ignore_warning, stored_plan
from honeyguide.text.telling_passage import telling_passage
from honeyguide.text.words import counted
from honeyguide.urls.spelling import target
from honeyguide.web.robots_txt import RobotsTxt

REST = "everything else"  # the parts of a score that have no name of their own
_NO_WORD = "a word of another mention"
Passage = Callable[[str], str]  # text of a page -> the passage that says most about the topic


class Chosen(Struct, frozen=True):
    """How a link came to be chosen."""

    rank: int  # 1: no waiting link had a higher score
    waiting: int  # links that waited
    score: float | None  # None: a seed
    at_random: bool  # it was drawn, to explore
    parts: tuple[Part, ...]  # of the score, the largest first
    adds_up: bool  # they add up to the score; else each is what the score loses without it
    when: float  # seconds on the crawl's own clock; on the live web since 1970


class Shown(Struct, frozen=True):
    """A link as a page shows it."""

    source: str
    anchor: str
    context: str  # the words around it


class Fetched(Struct, frozen=True):
    """What a visit brought."""

    page_url: str  # after redirects; empty if there is no page
    title: str
    status: int | None
    failure: str
    relevance: float
    relevant: bool
    reasons: tuple[str, ...]  # of the judge
    passage: str  # that says most about the topic
    when: float  # seconds since 1970
    seconds: float


class OnPath(Struct, frozen=True):
    """A page on the way from a seed."""

    url: str
    title: str
    relevant: bool


class Why(Struct, frozen=True):
    """Everything that is known of a URL in a crawl."""

    url: str
    state: str  # as in UrlView, or "failed"
    refusal: str = ""  # why it is not taken; empty if nothing speaks against it
    shown: Shown | None = None  # by the page that it was chosen from, or waits from
    fetched: Fetched | None = None
    chosen: Chosen | None = None  # None: not chosen yet, or by a version that did not store why
    waits: LinkView | None = None
    waiting: int = 0  # links that wait now
    parents: tuple[Parent, ...] = ()
    parent_count: int = 0
    path: tuple[OnPath, ...] = ()
    stopped: str = ""  # why the crawl stopped; empty while it runs


def why(folder: str | Path, url: str, warn: Warn = ignore_warning) -> Why:
    """Say why a URL was fetched, waits or was never taken; the crawl may be running.

    A HoneyguideError if the crawl has never met it.
    """
    folder = Path(folder)
    with reading(folder) as database:
        url = _known(database, url)
    view = look(folder, Question(url=url), warn).url
    if view is None:
        raise HoneyguideError(f"{folder} gave no answer about {url}")
    with reading(folder) as database:
        return _Reader(folder, database).why(view)


def readable(part: Part, link: Link | None, barren: int | None = None) -> Part:
    """A part of a score with its name as people say it: with the words that the link has.

    `barren` is for how many pages its host has brought nothing; None: unknown.
    """
    if part.name == BARREN and barren:
        return Part(f"its host has brought nothing for {counted(barren, 'page')}", part.value)
    named = read_word_name(part.name, link or Link(""))
    if named is not None:
        return Part(f"the word {named}" if named.startswith("'") else named or _NO_WORD, part.value)
    if link is not None and part.name == "its own words":
        return Part(f"its own words '{link.anchor or urls.words(link.url)}'", part.value)
    return part


def readable_parts(
    parts: tuple[Part, ...], rest: float | None, link: Link | None, barren: int | None = None
) -> tuple[Part, ...]:
    """The parts of a score as people say them, and what is left of it, the largest first.

    What is the same for all links comes last.
    """
    named = [readable(part, link, barren) for part in parts]
    if rest is not None and abs(rest) >= 0.0005:
        named.append(Part(REST, rest))
    return tuple(sorted(named, key=lambda part: (part.name == START, -abs(part.value))))


def passage_finder(folder: Path) -> Passage:
    """What finds the passage of a text that says most about a crawl's topic."""
    plan = stored_plan(folder)
    encoder = make("encoder", plan.encoder)
    return lambda text: telling_passage(Page("", text=text), plan.topic, encoder)


class _Reader:
    """Reads what the store has about one URL."""

    def __init__(self, folder: Path, database: sqlite3.Connection) -> None:
        self._folder = folder
        self._database = database

    def why(self, view: UrlView) -> Why:
        page = find_pages(self._database, [view.url]).get(view.url)
        source = page.parent if page else view.link.source if view.link else ""
        if not source and view.parents:
            source = view.parents[-1].url
        pages = find_pages(self._database, [*view.path, source])
        link = self._link(pages.get(source), view.url)
        if link is None and not view.path:  # it has no number in the crawl's memory
            source, link = page_that_shows(self._database, view.url)
            if link is None and page is None:
                raise HoneyguideError(
                    f"{self._folder} has not met {view.url}: no page that it has read links to it"
                )
        has_ended = page is not None and view.state not in ("waiting", "in flight")
        chosen = self._chosen(page, view, link)
        return Why(
            url=view.url,
            state="failed" if page and has_ended and page.failure else view.state,
            refusal=self._refusal(view, page),
            shown=None if link is None else Shown(source, link.anchor, link.context),
            fetched=None if page is None else self._fetched(page),
            chosen=chosen,
            waits=self._waits(view, link),
            waiting=view.waiting,
            parents=view.parents,
            parent_count=view.parent_count,
            path=tuple(_on_path(url, pages.get(url)) for url in view.path),
            stopped=self._stopped(),
        )

    def _link(self, source: FoundPage | None, url: str) -> Link | None:
        return link_on(self._database, source.n, url) if source else None

    def _chosen(self, page: FoundPage | None, view: UrlView, link: Link | None) -> Chosen | None:
        if page is None and view.state != "in flight":
            return None
        before = page.n if page else last_event(self._database) + 1
        found = choice_before(self._database, view.url, before)
        if found is None and page is not None:  # reached by a redirect of another URL
            found = choice_before(self._database, page.url, before)
        if found is None:
            return None
        return chosen_as(*found, link, barren_pages(self._database, view.url, before))

    def _waits(self, view: UrlView, link: Link | None) -> LinkView | None:
        if view.link is None or view.state != "waiting":
            return None
        end = last_event(self._database) + 1
        return with_words(view.link, link, barren_pages(self._database, view.url, end))

    def _fetched(self, page: FoundPage) -> Fetched:
        text = text_of(self._database, page.n)
        passage = passage_finder(self._folder)(text) if text else ""
        return Fetched(
            page.page_url,
            page.title,
            page.status,
            page.failure,
            page.relevance,
            page.relevant,
            page.reasons,
            passage,
            page.fetched,
            page.seconds,
        )

    def _refusal(self, view: UrlView, page: FoundPage | None) -> str:
        if page is not None and page.failure == "robots":
            return self._robots_rule(page.url)
        return view.refusal if view.state in ("refused", "waiting") else ""

    def _robots_rule(self, url: str) -> str:
        place = target(url)
        body = None if isinstance(place, str) else stored_robots_txt(self._database, place.origin)
        if body is None:
            return "robots.txt forbids it"
        decision = RobotsTxt(body, PRODUCT).decide(url)
        if decision.allowed:
            return "robots.txt forbade it; the file that was read last allows it"
        return f"robots.txt forbids it: {decision.rule!r} in line {decision.line}"

    def _stopped(self) -> str:
        if holder(self._folder):
            return ""
        return str(about(self._database).get("stopped") or "cut off: it can be resumed")


def chosen_as(when: float, choice: Choice, link: Link | None, barren: int | None = None) -> Chosen:
    """A stored choice as people read it."""
    parts = tuple(Part(*part) for part in choice.named())
    is_seed = choice.score == float("inf")
    rest = None
    if choice.adds_up and not is_seed:
        rest = choice.score - sum(part.value for part in parts)
    return Chosen(
        choice.rank,
        choice.waiting,
        None if is_seed else choice.score,
        choice.at_random,
        readable_parts(parts, rest, link, barren),
        choice.adds_up,
        when,
    )


def with_words(view: LinkView, link: Link | None, barren: int | None = None) -> LinkView:
    """A waiting link with readable parts, what is left of its score among them."""
    parts = readable_parts(view.parts, view.rest, link, barren)
    rest = None if view.rest is None else 0.0
    return msgspec.structs.replace(view, parts=parts, rest=rest)


def _on_path(url: str, page: FoundPage | None) -> OnPath:
    return OnPath(url, page.title if page else "", bool(page and page.relevant))


def _known(database: sqlite3.Connection, url: str) -> str:
    """The URL as the crawl writes it: as it was typed, or canonical."""
    typed = urls.typed(url)
    if typed is None or typed == url:
        return url
    return url if url in find_pages(database, [url]) else typed
