"""How well `honeyguide find` does on generated sites, by the depth of their source pages: JSON.

python -m benchmarks.finding_depth [--set mixed] [--sites N] [--seed 4051] [--model events]
    [--kind events] [--stopping calibrated|equation5]

Recall: sites of which a source page is reported, within ten clicks. Precision: source pages among
reported ones. Unit cost: clicks for each source page that is reported. `sources_a_click` is the
precision of Liao and Chang (equation 11), which counts clicks on the way as wrong.
"""

import argparse
import asyncio
import json
from collections import defaultdict
from typing import Any

from honeyguide.contracts import Verdict
from honeyguide.registry import make
from honeyguide.source_finder.find import Answer, Finder

CLICKS = 10


def depth_of(world: Any, home: str, kind: str) -> int | None:
    """Return the clicks from a home page to the nearest source page; None without one."""
    known, waiting = {home: 0}, [home]
    for url in waiting:
        page = world.page(url)
        if page is None:
            continue
        if f"source:{kind}" in page.labels:
            return known[url]
        for link in page.links:
            if link.url not in known:
                known[link.url] = known[url] + 1
                waiting.append(link.url)
    return None


def figures(world: Any, answers: list[Answer], kind: str) -> dict[str, Any]:
    """Return the measures of some sites."""
    label = f"source:{kind}"
    right = wrong = found = clicks = clicked_sources = reporting = 0
    for answer in answers:
        truths = [label in world.page(source.url).labels for source in answer.sources]
        right, wrong = right + sum(truths), wrong + len(truths) - sum(truths)
        found, reporting = found + any(truths), reporting + bool(truths)
        clicks += answer.clicks
        pages = [world.page(click.url) for click in answer.clicked]
        clicked_sources += sum(page is not None and label in page.labels for page in pages)
    return {
        "sites": len(answers),
        "found": found,
        "recall": round(found / max(len(answers), 1), 3),
        "precision": round(right / max(right + wrong, 1), 3),
        "unit_cost": round(clicks / right, 2) if right else None,
        "clicks_a_site": round(clicks / max(len(answers), 1), 2),
        "sources_a_click": round(clicked_sources / max(clicks, 1), 3),
        "sites_with_a_report": reporting,
    }


def main() -> None:
    """Measure once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", default="mixed")
    parser.add_argument("--sites", type=int, default=0)
    parser.add_argument("--seed", type=int, default=4051)
    parser.add_argument("--model", default="events")
    parser.add_argument("--kind", default="events")
    parser.add_argument("--stopping", default="calibrated")
    asked = parser.parse_args()
    spec = f"organisations:set={asked.set},sites={asked.sites},seed={asked.seed}"
    world: Any = make("world", spec, judge=lambda page: Verdict(0.0, False))
    finder = Finder(model=asked.model, clicks=CLICKS, delay=0.0, stopping=asked.stopping)
    answers = asyncio.run(finder.find(world.homes, world))
    groups: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        depth = depth_of(world, answer.home, asked.kind)
        groups["all"].append(answer)
        groups["no source page" if depth is None else f"{depth} clicks away"].append(answer)
        site = world.site(answer.home.split("/")[2])
        if depth is not None:
            groups[f"language {site.wording.language}"].append(answer)
    report = {"set": spec, "model": asked.model, "stopping": asked.stopping}
    report |= {name: figures(world, some, asked.kind) for name, some in sorted(groups.items())}
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
