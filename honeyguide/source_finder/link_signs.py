"""What a link shows beside its text: words of the lexicon, its address, its place on the page."""

import re
from collections import Counter
from collections.abc import Container, Sequence
from urllib.parse import unquote, urlsplit

import numpy as np

from honeyguide.contracts import Link, Matrix, Page
from honeyguide.source_finder.lexicon import CONCEPTS, plain, shares
from honeyguide.text.dates_in_text import dates_in

_file = re.compile(
    r"\.(pdf|jpe?g|png|gif|zip|docx?|xlsx?|pptx?|mp[34]|svg|webp)$", re.IGNORECASE
).search
_calendar_file = re.compile(r"\.ics$|^webcal:|ical|calendar\.google", re.IGNORECASE).search
_address_date = re.compile(r"/(?:19|20)\d\d(?:/|-|$)").search
_number = re.compile(r"\d").search
_AREAS = ("nav", "header", "footer", "main", "article", "aside", "li", "table", "h1", "h2", "h3")
_OF_TEXT = tuple(f"anchor {name}" for name in CONCEPTS)
_OF_ADDRESS = tuple(f"address {name}" for name in CONCEPTS)
_OF_CONTEXT = tuple(f"context {name}" for name in CONCEPTS)
_OF_PAGE = tuple(f"page {name}" for name in CONCEPTS)
_SHAPE = (
    "whole anchor events", "whole anchor maybe", "events and decoy", "events and past",
    "events and news", "empty anchor", "words of the anchor", "long anchor", "anchor date",
    "anchor number", "file", "calendar file", "address date", "address number", "address query",
    "address depth", "one step below", "beside", "above", "same page", "home", "on the home page",
    "place on the page", "mentions", "context date", "deeper than three", "language switch",
    "new here", "new and hub", "names events nowhere",
)  # fmt: skip
SIGNS = (
    *_OF_TEXT, *_OF_ADDRESS, *_OF_CONTEXT, *_OF_PAGE, *_SHAPE,
    *(f"in {area}" for area in _AREAS),
)  # fmt: skip
_language = re.compile(
    r"(?:[a-z]{2}|english|deutsch|francais|espanol|italiano|nederlands|中文|日本語|한국어)"
).fullmatch
_EVENTS, _DECOY, _PAST, _NEWS, _MAYBE, _HUB = (
    CONCEPTS.index(name) for name in ("events", "decoy", "past", "news", "maybe", "hub")
)


def link_signs(page: Page, links: Sequence[Link], known: Container[str] = frozenset()) -> Matrix:
    """Return a row of numbers in [0, 1] for each link of a page, in the order of `SIGNS`.

    `known` has the URLs that pages visited before have shown.
    """
    mentions = Counter(link.url for link in links)
    about = shares(page.title[:100]), _path(page.url)
    nowhere = float(all(shares(link.anchor)[_EVENTS] < 0.5 for link in links))
    rows = [
        [
            *_row(link, page.url, place / max(len(links), 1), mentions[link.url], about),
            *_news(link, link.url not in known, nowhere),
            *_areas(link.tag_path),
        ]
        for place, link in enumerate(links)
    ]
    return np.array(rows, np.float32).reshape(len(links), len(SIGNS))


def _row(
    link: Link, source: str, place: float, mentions: int, about: tuple[tuple[float, ...], str]
) -> list[float]:
    anchor, path = shares(link.anchor), _path(link.url)
    context = shares(link.context.replace(link.anchor, " ", 1)[:200])
    return [
        *anchor,
        *shares(_last_words(path)),
        *context,
        *about[0],
        *_combined(anchor),
        *_of_anchor(link.anchor),
        *_of_address(link.url, path, about[1]),
        float(urlsplit(link.url)._replace(fragment="").geturl() == source),
        float(path.strip("/") == ""),
        float(about[1].strip("/") == ""),
        place,
        min(1.0, (mentions - 1) / 3),
        float(bool(dates_in(link.context[:200]))),
        float(path.strip("/").count("/") >= 3),
        float(bool(_language(plain(link.anchor)))),
    ]


def _news(link: Link, is_new: bool, nowhere: float) -> list[float]:
    """Return whether a link was seen nowhere before, and whether the page names no events."""
    return [float(is_new), float(is_new) * shares(link.anchor)[_HUB], nowhere]


def _areas(tag_path: str) -> list[float]:
    tags = set(tag_path.split("/"))
    return [float(area in tags) for area in _AREAS]


def _combined(anchor: tuple[float, ...]) -> list[float]:
    events, decoy, past, news = (anchor[at] for at in (_EVENTS, _DECOY, _PAST, _NEWS))
    return [
        float(events > 0.95),
        float(anchor[_MAYBE] > 0.95),
        float(events > 0 and decoy > 0),
        float(events > 0 and past > 0),
        float(events > 0 and news > 0),
    ]


def _of_anchor(anchor: str) -> list[float]:
    words = len(anchor.split())
    dated = bool(_number(anchor)) and bool(dates_in(anchor))
    return [
        float(not anchor),
        min(1.0, words / 10),
        float(len(anchor) > 40),
        float(dated),
        float(bool(_number(anchor))),
    ]


def _of_address(url: str, path: str, source: str) -> list[float]:
    folder = source if source.endswith("/") else source.rpartition("/")[0] + "/"
    own = path.rstrip("/").rpartition("/")[0] + "/"
    below = path.startswith(source.rstrip("/") + "/") and source.strip("/") != ""
    return [
        float(bool(_file(path))),
        float(bool(_calendar_file(url))),
        float(bool(_address_date(path))),
        float(bool(_number(path))),
        float("?" in url),
        min(1.0, path.strip("/").count("/") / 4),
        float(below),
        float(own == folder and not below),
        float(source.startswith(path.rstrip("/") + "/") and path.strip("/") != ""),
    ]


def _path(url: str) -> str:
    return unquote(urlsplit(url).path)


def _last_words(path: str) -> str:
    """Return the words of the last two parts of a path, without index.html."""
    parts = [part for part in path.split("/") if part and not part.startswith("index.")]
    last = re.sub(r"\.(html?|php|aspx?|jsp)$", "", parts[-1]) if parts else ""
    return " ".join([*parts[-2:-1], last]).replace("-", " ").replace("_", " ")
