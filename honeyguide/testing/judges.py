"""What a judge promises."""

from typing import Any

import numpy as np

from honeyguide.contracts import Calibrated, Calibration, Encoder, Matrix, Page, State, Verdict
from honeyguide.testing.contract import (
    ODD_URLS,
    TOPIC,
    PartLike,
    default_encoder,
    make_part,
    promised,
    require,
)
from honeyguide.testing.texts import ODD_TEXTS, any_texts

ABOUT = Page(
    "http://www.geology.example/rocks",
    "Geology: rocks and minerals",
    "Geology is the study of rocks, minerals, volcanoes and mountains. " * 10,
    labels=("topic:geology",),
)
ELSEWHERE = Page(
    "http://football.example/cup",
    "Cup final",
    "The striker scored twice and the football team won the cup in the stadium. " * 10,
    labels=("topic:football",),
)
EXAMPLES = ("volcanoes and rocks", "minerals in the rocks of a mountain")
Decided = list[tuple[float, bool]]  # relevance of each page, and whether it is relevant
CLOSE = 1e-5
PURE = "A judge must keep nothing from page to page, and use neither chance nor a clock"


def check_judge(
    judge: PartLike,
    *,
    encoder: Encoder | None = None,
    topic: str = TOPIC,
    relevant: Page | None = None,
    irrelevant: Page | None = None,
) -> None:
    """Raise a ContractError unless a judge keeps its promises.

    `topic`, `encoder`, `search` and `examples` are filled in.

    - It gives a Verdict for every page: no text, broken text, any language, odd addresses.
    - The relevance is a number from 0 to 1, `relevant` is True or False, reasons are texts.
    - The same page gets the same verdict: again, in another order, and from a judge made anew.
    - `relevant`, if given, is found relevant; `irrelevant` is not; the first has more relevance.
    - A Calibrated judge measures as many finite numbers on each page, and decides as its
      calibration does before any fit. A fit depends on its pages alone, may get few pages or none,
      and survives being saved; a page is decided in the same way alone and among others.
    """
    known = encoder or default_encoder()

    def make() -> Any:
        offers = {"topic": topic, "encoder": known, "search": (topic,), "examples": EXAMPLES}
        return make_part("judge", judge, ("__call__",), **offers)

    made = make()
    pages = [*_pages(), *filter(None, (relevant, irrelevant))]
    first = [_judged(made, page) for page in pages]
    _check_pure(made, pages, first, "in another order")
    _check_pure(make(), pages, first, "by a judge made anew")
    _check_sides(made, relevant, irrelevant)
    if isinstance(made, Calibrated):
        _check_calibration(made, first)


def _judged(judge: Any, page: Page) -> Verdict:
    """A verdict that is one."""
    with promised(f"every page gets a verdict, but the judge raised an error at {_said(page)}"):
        verdict: Verdict = judge(page)
    require(
        isinstance(verdict, Verdict),
        f"the judge returned {verdict!r}: return a Verdict(relevance, relevant, reasons)",
    )
    relevance = verdict.relevance
    require(
        isinstance(relevance, float | int | np.floating) and 0.0 <= relevance <= 1.0,
        f"relevance is {relevance!r} at {_said(page)}: it goes from 0 to 1",
    )
    require(
        isinstance(verdict.relevant, bool),
        f"relevant is {verdict.relevant!r}, a {type(verdict.relevant).__name__}:"
        " make it True or False, as with bool(...)",
    )
    require(
        isinstance(verdict.reasons, tuple) and all(isinstance(r, str) for r in verdict.reasons),
        f"reasons are {verdict.reasons!r}: give a tuple of texts, such as ('has 200 words',)",
    )
    return verdict


def _check_pure(judge: Any, pages: list[Page], first: list[Verdict], when: str) -> None:
    for page, verdict in reversed(list(zip(pages, first, strict=True))):
        again = _judged(judge, page)
        require(
            again == verdict,
            f"{_said(page)} got {verdict} at first and {again} {when}. {PURE}",
        )


def _check_sides(judge: Any, relevant: Page | None, irrelevant: Page | None) -> None:
    good = _judged(judge, relevant) if relevant else None
    bad = _judged(judge, irrelevant) if irrelevant else None
    require(good is None or good.relevant, f"the relevant page was found irrelevant: {good}")
    require(bad is None or not bad.relevant, f"the irrelevant page was found relevant: {bad}")
    if good and bad:
        require(
            good.relevance > bad.relevance,
            f"the relevant page has relevance {good.relevance}, the irrelevant {bad.relevance}:"
            " the more relevant a page, the more relevance",
        )


def _check_calibration(judge: Calibrated, verdicts: list[Verdict]) -> None:
    widths = {len(verdict.measures) for verdict in verdicts}
    require(len(widths) == 1, f"pages have {sorted(widths)} measures: give as many for each page")
    measures: Matrix = np.array([verdict.measures for verdict in verdicts], np.float32)
    require(bool(np.isfinite(measures).all()), "measures must be finite numbers")
    said = [(verdict.relevance, verdict.relevant) for verdict in verdicts]
    require(
        _same(said, _decisions(judge.calibration(), measures)),
        "the judge decides otherwise than its calibration before any fit",
    )
    for pages in (measures[:0], measures[:1], measures[1:], measures):
        _check_fit(judge, pages, measures)


def _check_fit(judge: Calibrated, pages: Matrix, measures: Matrix) -> None:
    """A fit to some pages: whatever was fitted before, saved and loaded, page by page."""
    fresh, used, restored = (judge.calibration() for _ in range(3))
    with promised(f"a calibration can be fitted to {len(pages)} pages"):
        fresh.fit(pages)
    used.fit(measures[::2])
    used.fit(pages)
    state: State = fresh.state()
    restored.load(state)
    found = _decisions(fresh, measures)
    require(
        _same(found, _decisions(used, measures)),
        "a fit depends on an earlier one: it must depend on the pages given alone",
    )
    require(
        _same(found, _decisions(restored, measures)), "a calibration decides otherwise once loaded"
    )
    alone = [_decisions(fresh, measures[row : row + 1])[0] for row in range(len(measures))]
    require(_same(alone, found), "a page is decided otherwise alone than among others")


def _same(one: Decided, other: Decided) -> bool:
    """Whether decisions are the same, but for the last digits of floating-point numbers."""
    return all(
        abs(a - b) < CLOSE and (is_a == is_b or abs(a - b) > 0)
        for (a, is_a), (b, is_b) in zip(one, other, strict=True)
    )


def _decisions(calibration: Calibration, measures: Matrix) -> Decided:
    relevance, relevant = calibration.decide(measures)
    shape = (len(measures),)
    require(
        relevance.shape == shape and relevant.shape == shape,
        f"decide gave {relevance.shape} and {relevant.shape} for {len(measures)} pages",
    )
    require(
        bool(((relevance >= 0) & (relevance <= 1)).all()),
        "relevances by a calibration go from 0 to 1",
    )
    return list(zip(map(float, relevance), map(bool, relevant), strict=True))


def _pages() -> list[Page]:
    odd = [Page("http://any.example/", text[:50], text) for text in ODD_TEXTS]
    texts = any_texts(400, 60)
    titles = any_texts(40, 60)
    any_pages = [Page("http://any.example/", *each) for each in zip(titles, texts, strict=True)]
    return [ABOUT, ELSEWHERE, *odd, *any_pages, *map(Page, ODD_URLS)]


def _said(page: Page) -> str:
    return f"the page {page.url} with the text {page.text[:30]!r}"
