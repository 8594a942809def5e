"""How well and how fast the main text of pages is found, beside two other ways.

    python benchmarks/main_text.py DATA [--pages 300] [--all]

DATA holds main-text/pages.jsonl.zst: pages with the text that a person marked. Only the pages of
sites that nothing was developed on are read (`experiments/main_text_pages.py` splits them), unless
--all is given. The three ways are

- before: honeyguide 1.0, which parsed each page a second time with resiliparse;
- now: `honeyguide.web.html.read`;
- trafilatura, when it is installed.

Precision and recall are over 4-word shingles, means over pages; F1 is that of these means, and
f1_of_pages the mean of each page's F1. Milliseconds are of processor time a page: of the whole
parse stage with links for before and now, of extract() for trafilatura. Each page is read by all
ways in turn, so that all meet the same machine. Prints one JSON object.
"""

import argparse
import importlib
import json
import re
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from statistics import fmean

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree
from selectolax.lexbor import LexborHTMLParser

from experiments.main_text_pages import MarkedPage, Score, marked_pages, mean, score
from honeyguide.web import html

URL = "http://site.example/"
LONG_TAG = re.compile(r"<[a-zA-Z/][^>]{2000}|=\s*+(?:\"[^\">]*+>|'[^'>]*+>)").search
TOO_DEEP = ">".join(["*"] * 200)
WARM_UP = 20  # pages read before time is counted


def main() -> None:
    """Print the scores and times of each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--pages", type=int, help="read only so many")
    parser.add_argument("--all", action="store_true", help="also pages developed on")
    given = parser.parse_args()
    pages = [
        page
        for page in marked_pages(given.data / "main-text" / "pages.jsonl.zst")
        if given.all or page.is_test
    ][: given.pages]
    print(json.dumps(measured(pages), indent=1))


def measured(pages: list[MarkedPage]) -> dict[str, object]:
    """Scores and times of each way."""
    ways: dict[str, Callable[[bytes], str]] = {"before": before, "now": now}
    if other := trafilatura():
        ways["trafilatura"] = other
    bodies = [page.html.encode() for page in pages]
    for way in ways.values():
        for body in bodies[:WARM_UP]:
            way(body)
    seconds = dict.fromkeys(ways, 0.0)
    scores: dict[str, list[Score]] = {name: [] for name in ways}
    for page, body in zip(pages, bodies, strict=True):
        for name, way in ways.items():
            start = time.process_time()
            text = way(body)
            seconds[name] += time.process_time() - start
            scores[name].append(score(text, page.text))
    found = {
        name: _summary(pages, scores[name], 1000 * seconds[name] / len(pages)) for name in ways
    }
    ratio = seconds["now"] / seconds["before"]
    return {"pages": len(pages), "times_the_time_before": round(ratio, 3), **found}


def _summary(pages: list[MarkedPage], scores: list[Score], took: float) -> dict[str, object]:
    articles = [s for s, page in zip(scores, pages, strict=True) if page.is_article]
    others = [s for s, page in zip(scores, pages, strict=True) if not page.is_article]
    kinds = {"all": scores, "news_and_blogs": articles, "others": others}
    return {
        "milliseconds": round(took, 2),
        **{name: _figures(kind) for name, kind in kinds.items() if kind},
    }


def _figures(scores: list[Score]) -> dict[str, float]:
    whole = mean(scores)
    return {
        "precision": round(whole.precision, 4),
        "recall": round(whole.recall, 4),
        "f1": round(whole.f1, 4),
        "f1_of_pages": round(fmean(s.f1 for s in scores), 4),
    }


# ----------------------------------------------------------------------- the ways


def now(body: bytes) -> str:
    """The main text as honeyguide reads it."""
    return html.read(body, URL).text


def before(body: bytes) -> str:
    """The main text as honeyguide 1.0 read it."""
    page = _defused(html.decode(body[: html.MAX_BODY]))
    tree = LexborHTMLParser(page)
    head = html._Head(tree, URL)
    nodes = [] if head.nofollow else html._link_nodes(tree, False)[: html.MAX_LINKS]
    if tree.root is not None:
        tree.root.strip_tags(["script", "style", "template"])
    flat, spans = html._flat_text(tree, nodes)
    list(html._links(nodes, flat, spans, head.base, URL))
    if page.count("<") > 1_000 and tree.css_first(TOO_DEEP) is not None:
        return flat
    document = HTMLTree.parse(page)
    main_part = extract_plain_text(document, main_content=True, list_bullets=False, links=False)
    stands_out = len(main_part) > 2_000 or 2 * len(main_part) > len(flat)
    return str(main_part if stands_out else _without_frame(tree) or flat)


def _defused(page: str) -> str:
    """As `honeyguide.web.html._defused`, with the slower search that it had."""
    tags = page.count("<")
    if "\x00" in page:
        page = page.replace("\x00", "")
    if tags > html.MAX_TAGS:
        one_too_many = next(islice(html._tags(page), html.MAX_TAGS, None), None)
        page = page[: one_too_many.start()] if one_too_many else page
    if len(page) > 64_000 and LONG_TAG(page):
        page = page[: html._attribute_bomb(page)]
    if tags > 2_000 and len(html._formatting.findall(page)) * tags > 2_000_000:
        page = html._formatting.sub(r"<\1span", page)
    return page


def _without_frame(tree: LexborHTMLParser) -> str:
    if tree.body is None or not tree.css_matches("nav, footer"):
        return ""
    tree.body.strip_tags(["nav", "footer"])
    return " ".join(tree.body.text(separator=" ").replace("\x01", " ").split())


def trafilatura() -> Callable[[bytes], str] | None:
    """The main text by trafilatura's defaults, when it is installed."""
    try:
        found = importlib.import_module("trafilatura")
    except ImportError:
        return None
    return lambda body: found.extract(body.decode(), include_comments=False) or ""


if __name__ == "__main__":
    main()
