"""How well `honeyguide find` does on real organisations' sites, beside three baselines: JSON.

python -m benchmarks.real_sites --data DIR [--part development|test] [--model events] [--pages]

DIR has sites.json and html.tar.zst. The sites are split by experiments/real_sites_split.py; nothing
may be chosen on the test part. Site recall: sites with events of which a source page is reported.
Precision: source pages among reported ones; pages that count neither way are left out. Unit cost:
clicks on all sites, those without events too, for each source page that is reported.
"""

import argparse
import asyncio
import json
import re
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from experiments.real_sites import RealSite, RealSites, read_sites
from honeyguide.assemble import site_navigator
from honeyguide.contracts import Goal, Link
from honeyguide.engine.loop import Crawl, Limits
from honeyguide.registry import make
from honeyguide.source_finder.find import Finder, JudgedWorld
from honeyguide.source_finder.lexicon import plain

CLICKS = 10
LONGEST = 30  # characters of an anchor that the regular expression may match
PATTERN = re.compile(
    r"\b(?:events?|what'?s on|whats on|calendar|diary|agenda|fixtures|seminars?|meetings|programme"
    r"|veranstaltung\w*|termine?|kalender|evenements?|calendrier|manifestations|eventos?|calendario"
    r"|actividades|eventi|appuntamenti|evenementen|activiteiten|atividades|wydarzenia|kalendarz\w*"
    r"|imprezy|arrangement(?:er)?|begivenheder|evenemang|kalendarium|aktiviteter|esdeveniments"
    r"|tapahtumat|akce|esemenyek|evenimente|etkinlikler|событи\w*|мероприяти\w*|афиша)\b"
    r"|イベント|行事|予定|カレンダー|スケジュール|행사|일정|이벤트|活動|活动|行事曆|日历|年會"
)


@dataclass(frozen=True)
class Outcome:
    """What one method reported on one site."""

    reported: tuple[str, ...]
    clicks: int


async def with_finder(world: RealSites, site: RealSite, model: str) -> Outcome:
    """Run honeyguide's finder."""
    (answer,) = await Finder(model=model, delay=0.0, clicks=CLICKS).find([site.home], world)
    return Outcome(tuple(source.url for source in answer.sources), answer.clicks)


async def with_pattern(world: RealSites, site: RealSite, model: str) -> Outcome:
    """Click and report all short links of the home page that match the regular expression."""
    page = world.page(site.home)
    links = [link for link in page.links if world.site(link.url) is site] if page else []
    chosen = dict.fromkeys(
        link.url
        for link in links
        if len(link.anchor) <= LONGEST and PATTERN.search(plain(link.anchor))
    )
    clicked = list(chosen)[:CLICKS]
    return Outcome(tuple(url for url in clicked if world.page(url)), len(clicked))


async def with_best_first(world: RealSites, site: RealSite, model: str) -> Outcome:
    """Visit links by similarity to a topic; report what the page scorer accepts."""
    goal = Goal("events calendar", make("encoder", "wordllama"))
    return await _crawl(world, site, make("agent", "best_first", goal=goal), model)


async def breadth_first(world: RealSites, site: RealSite, model: str) -> Outcome:
    """Visit pages in the order in which they are found; report what the page scorer accepts."""
    return await _crawl(world, site, make("agent", "breadth_first"), model)


async def _crawl(world: RealSites, site: RealSite, agent: Any, model: str) -> Outcome:
    visits = []
    judge = make("judge", "event_source", model=model)
    navigator = site_navigator(agent, np.random.default_rng(0), site.host)
    note = lambda visit, step, now: visits.append(visit)  # noqa: E731
    crawl = Crawl(navigator, JudgedWorld(world, judge), Limits(pages=CLICKS + 1), 1, note)
    await crawl.run([Link(site.home)])
    reported = [v.page.url for v in visits[1:] if v.page is not None and v.verdict.relevant]
    return Outcome(tuple(reported), len(visits) - 1)


METHODS = {
    "finder": with_finder,
    "regular expression": with_pattern,
    "best_first, 'events calendar'": with_best_first,
    "breadth-first with the page scorer": breadth_first,
}


def figures(world: RealSites, rows: Sequence[tuple[RealSite, Outcome]]) -> dict[str, Any]:
    """Return the measures of one method on some sites."""
    right = wrong = found = clicks = false_sites = 0
    with_events = sum(site.depth is not None for site, _ in rows)
    for site, outcome in rows:
        labels = _labels(world, site, outcome.reported)
        sources = labels.count("source")
        right, wrong = right + sources, wrong + len(labels) - sources - labels.count("ok")
        clicks += outcome.clicks
        found += site.depth is not None and sources > 0
        false_sites += site.depth is None and bool(set(labels) - {"ok"})
    return {
        "sites": len(rows),
        "site_recall": _share(found, with_events),
        "sites_found": f"{found} of {with_events}",
        "precision": _share(right, right + wrong),
        "reported": right + wrong,
        "unit_cost": round(clicks / right, 2) if right else None,
        "clicks": clicks,
        "sites_without_events_reported": f"{false_sites} of {len(rows) - with_events}",
    }


def _labels(world: RealSites, site: RealSite, reported: Sequence[str]) -> list[str]:
    """Return the label of each reported page; two addresses of one file count once."""
    files = {site.file(url): url for url in reversed(reported)}
    return [world.label(url) for url in files.values()]


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


def measure(world: RealSites, method: Any, model: str) -> dict[str, Any]:
    """Run a method on all sites; the measures by language and by depth too."""
    rows = [(site, asyncio.run(method(world, site, model))) for site in world.sites.values()]
    groups: dict[str, list[Any]] = defaultdict(list)
    for site, outcome in rows:
        groups["English" if site.language == "en" else "other languages"].append((site, outcome))
        groups[f"language {site.language}"].append((site, outcome))
        groups[f"depth {site.depth}"].append((site, outcome))
    return {
        "all": figures(world, rows),
        **{name: figures(world, some) for name, some in sorted(groups.items())},
        "each": {
            site.id: {
                "reported": [f"{world.label(url)} {url}" for url in outcome.reported],
                "clicks": outcome.clicks,
            }
            for site, outcome in rows
        },
    }


def scorer_figures(world: RealSites, model: str) -> dict[str, Any]:
    """Return precision and recall of the page scorer on all pages of the sites."""
    judge = make("judge", "event_source", model=model)
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])  # right, wrong, missed
    missed = []
    for site in world.sites.values():
        for file in sorted(path.relative_to(site.folder) for path in site.folder.rglob("*.htm*")):
            url = site.home if str(file) == site.home_file else f"{site.home}{file}"
            label, page = world.label(url), world.page(url)
            if label == "ok" or page is None:
                continue
            said = judge(page).relevant
            for group in ("all", "English" if site.language == "en" else "other languages"):
                count = counts[group]
                count[0] += said and label == "source"
                count[1] += said and label != "source"
                count[2] += not said and label == "source"
            if said != (label == "source"):
                missed.append(f"{label} {url}")
    return {
        **{
            group: {
                "precision": _share(right, right + wrong),
                "recall": _share(right, right + lost),
                "sources": right + lost,
            }
            for group, (right, wrong, lost) in counts.items()
        },
        "errors": missed,
    }


def unpacked(data: Path, place: Path) -> Path:
    """Unpack the sites' HTML into a folder, if it is not there already."""
    if not any(place.iterdir()):
        with (data / "html.tar.zst").open("rb") as packed:
            stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(packed)
            with tarfile.open(fileobj=stream, mode="r|") as files:
                files.extractall(place, filter="data")
    return place


def main() -> None:
    """Measure once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="sites.json and html.tar.zst")
    parser.add_argument("--part", choices=("development", "test"), default="development")
    parser.add_argument("--model", default="events")
    parser.add_argument("--pages", action="store_true", help="measure the page scorer, too")
    parser.add_argument("--only", choices=METHODS, help="one method alone")
    parser.add_argument("--unpacked", type=Path, help="a folder for the unpacked HTML")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = unpacked(asked.data, asked.unpacked or Path(folder))
        world = RealSites(read_sites(asked.data, place, asked.part))
        chosen = {asked.only: METHODS[asked.only]} if asked.only else METHODS
        report: dict[str, Any] = {"part": asked.part, "model": asked.model}
        report |= {name: measure(world, method, asked.model) for name, method in chosen.items()}
        if asked.pages:
            report["page scorer"] = scorer_figures(world, asked.model)
        print(json.dumps(report, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
