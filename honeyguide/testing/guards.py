"""What a guard promises."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from honeyguide.contracts import (
    Cut,
    Link,
    Mask,
    MemoryView,
    Outlinks,
    Page,
    Response,
    State,
    Verdict,
    Visit,
    nbytes_of,
)
from honeyguide.engine.navigator import Navigator
from honeyguide.testing.contract import (
    ODD_URLS,
    PartLike,
    check_same,
    make_part,
    promised,
    require,
    require_bool,
    require_mask,
)
from honeyguide.testing.crawling import (
    ENOUGH,
    SAVING,
    Trace,
    check_goes_on,
    crawl,
    fail_everywhere,
    steer,
)
from honeyguide.testing.webs import GrowingWeb

MEMBERS = ("screen", "admit", "allows", "note", "report", "state", "load")
YEAR = 2026
PAGES = 80
WEB = GrowingWeb()


def check_guard(guard: PartLike) -> None:
    """Raise a ContractError unless a guard keeps its promises; `year` and `bounded` are filled in.

    - `screen` and `admit` give one True or False a link, also for none; `allows` one.
    - `note` gives a visit of the same link, with a verdict, and a failure if there is no page.
    - `report` gives cuts: a reason, a count above 0, an example.
    - Decisions are the same in the same crawl, and do not depend on `visit.response`, which a
      resumed crawl does not have; nor on the time that a visit took.
    - The memory is only looked at.
    - `state` can be written, `load` brings all of it back, and the crawl goes on as it was, with
      the same report; `nbytes`, if there is one, is the same after a load.
    - Failures and odd URLs break nothing.
    """
    trial = _Trial(guard)
    with promised("failures and odd URLs must break nothing, but the guard raised an error"):
        _check_odd(trial.navigator())
    navigator = trial.navigator()
    first = _crawl(navigator, saves=True)
    _check_report(navigator)
    promise = "the same crawl went differently the second time"
    mend = "A guard may use neither chance nor a clock, and keep nothing on the class or module"
    check_same(first.urls, _crawl(trial.navigator()).urls, promise, mend)
    _check_responses(trial, first)
    _check_saving(trial, first)


class _Checked:
    """A guard whose every answer is checked."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    @property
    def nbytes(self) -> int:
        return nbytes_of(self.inner)

    def screen(self, memory: MemoryView, urls: Sequence[str]) -> Mask:
        mask: Mask = self.inner.screen(memory, urls)
        require_mask(mask, len(urls), "screen()")
        return mask

    def admit(self, memory: MemoryView, found: Outlinks) -> Mask:
        before = len(memory.urls), found.ids.copy()
        mask: Mask = self.inner.admit(memory, found)
        require_mask(mask, len(found.links), "admit()")
        same = before[0] == len(memory.urls) and np.array_equal(before[1], found.ids)
        require(same, "admit() changed what it was given: a guard only looks at it")
        return mask

    def allows(self, memory: MemoryView, id: int, link: Link) -> bool:
        answer = self.inner.allows(memory, id, link)
        require_bool(answer, "allows()")
        return bool(answer)

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Visit:
        noted: Visit = self.inner.note(memory, id, visit)
        require(
            isinstance(noted, Visit) and noted.link == visit.link,
            f"note() returned {noted!r}: return the visit, or one of the same link",
        )
        require(
            isinstance(noted.verdict, Verdict) and 0 <= noted.verdict.relevance <= 1,
            f"note() returned the verdict {noted.verdict!r}: a Verdict with a relevance of 0 to 1",
        )
        return noted

    def report(self) -> list[Cut]:
        cuts: list[Cut] = self.inner.report()
        return cuts

    def state(self) -> State:
        state: State = self.inner.state()
        return state

    def load(self, state: State) -> None:
        self.inner.load(state)


class _Trial:
    """A guard that can be made any number of times."""

    def __init__(self, part: PartLike) -> None:
        self._part = part

    def navigator(self) -> Navigator:
        inner = make_part("guard", self._part, MEMBERS, year=YEAR, bounded=True)
        return steer("depth_first", guard=_Checked(inner))


class _Answered(GrowingWeb):
    """The same web with the answers of its servers, as a live crawl has them."""

    async def visit(self, link: Link) -> Visit:
        visit = await super().visit(link)
        number = len(link.url) % 3
        response = Response(link, link.url, (200, 404, 503)[number], {"x": "y"}, b"body" * number)
        return replace(visit, response=response)


def _crawl(
    navigator: Navigator, world: GrowingWeb = WEB, pages: int = PAGES, saves: bool = False
) -> Trace:
    return crawl(navigator, world, GrowingWeb.seeds, pages, saves=saves)


def _check_odd(navigator: Navigator) -> None:
    page = Page("http://a.example/", links=tuple(map(Link, ODD_URLS)))
    fail_everywhere(navigator, page)
    guard, memory = navigator.guard, navigator.memory
    guard.screen(memory, [])
    guard.admit(memory, Outlinks(page, 0, (), np.empty(0, np.int32)))
    guard.screen(memory, list(ODD_URLS))


def _check_report(navigator: Navigator) -> None:
    cuts = navigator.guard.report()
    sound = isinstance(cuts, list) and all(
        isinstance(cut, Cut) and cut.reason and cut.count > 0 and isinstance(cut.example, str)
        for cut in cuts
    )
    require(sound, f"report() returned {cuts!r}: return a list of Cut(reason, count, example)")


def _check_responses(trial: _Trial, first: Trace) -> None:
    with promised("the guard raised an error for visits with a response"):
        answered = _crawl(trial.navigator(), _Answered()).urls
    check_same(
        first.urls,
        answered,
        "decisions depend on visit.response",
        "A resumed crawl has no responses: use the page, the verdict and the failure",
    )


def _check_saving(trial: _Trial, first: Trace) -> None:
    rest, straight = trial.navigator(), trial.navigator()
    check_goes_on(rest, first, WEB, "guard")
    _crawl(straight, pages=ENOUGH)
    require(
        straight.guard.report() == rest.guard.report(),
        f"after a save and a load, report() says something else. {SAVING}",
    )
    sizes = nbytes_of(straight.guard), nbytes_of(rest.guard)
    require(
        sizes[0] == sizes[1],
        f"nbytes is {sizes[0]} in one crawl and {sizes[1]} in the same one after a save and a"
        " load: it must be the same, since a crawl sheds links by it",
    )
