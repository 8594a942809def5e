"""Processor time a page of each stage of a live crawl, in one process and without a network: JSON.

    python benchmarks/live_stages.py --data DIR [--agent guide]

DIR holds schools-wiki/html.tar.zst. Less depends on what else runs on the machine than for live.py.
"""

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command `honeyguide` does

import served_site

from honeyguide.contracts import Link, Verdict, Visit
from honeyguide.plan import Plan
from honeyguide.web.html import parse
from honeyguide.web.parser_pool import is_small

seconds: Counter[str] = Counter()


def timed(stage: str, work: Callable[..., Any], *arguments: Any) -> Any:
    """Do something and count its processor time."""
    begin = time.process_time()
    result = work(*arguments)
    seconds[stage] += time.process_time() - begin
    return result


def crawl(site: served_site.Site, agent: str) -> int:
    """Crawl a site in memory; return the number of pages."""
    plan = Plan(
        topic="geology",
        agent=agent,
        seeds=(site.seed,),
        world="web",
        budget=len(site.pages),
        delay=0.0,
        contact="benchmark@example.org",
        allow_private=True,
    )
    opened = timed("start", plan.open)
    navigator, now = opened.navigator(), 0.0
    navigator.seed(opened.seeds)
    while (link := timed("choose", navigator.choose, now)) is not None:
        visit = _visit(link, site.pages[link.url], opened.judge)
        stage = "absorb and revise" if navigator.revises_next else "absorb"
        timed(stage, navigator.absorb, visit, now)
        now += 0.01
    return int(navigator.memory.visits)


def _visit(link: Link, body: bytes, judge: Callable[..., Verdict]) -> Visit:
    timed("is it small?", is_small, body)
    page = timed("parse", parse, body, link.url, "text/html").page
    verdict = timed("judge", judge, replace(page, html=body))
    return Visit(link, page, verdict, None, "", 0.01, 0.0)


def main() -> None:
    """Crawl once and print milliseconds a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="with schools-wiki/html.tar.zst")
    parser.add_argument("--agent", default="guide")
    given = parser.parse_args()
    pages = crawl(served_site.real_site(given.data, 2000), given.agent)
    start = seconds.pop("start")
    spent = {stage: round(1e3 * used / pages, 3) for stage, used in seconds.items()}
    report = {"agent": given.agent, "pages": pages, "start_seconds": round(start, 2)}
    all_stages = round(sum(spent.values()), 3)
    print(json.dumps({**report, "milliseconds_a_page": spent, "all": all_stages}))


if __name__ == "__main__":
    main()
