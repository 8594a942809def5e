"""What a judge promises."""

from typing import Any

import numpy as np

from honeyguide.contracts import Encoder, Page, Verdict
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


def _pages() -> list[Page]:
    odd = [Page("http://any.example/", text[:50], text) for text in ODD_TEXTS]
    texts = any_texts(400, 60)
    titles = any_texts(40, 60)
    any_pages = [Page("http://any.example/", *each) for each in zip(titles, texts, strict=True)]
    return [ABOUT, ELSEWHERE, *odd, *any_pages, *map(Page, ODD_URLS)]


def _said(page: Page) -> str:
    return f"the page {page.url} with the text {page.text[:30]!r}"
