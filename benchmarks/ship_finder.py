"""Train the source finder that comes with honeyguide, on real and on generated sites.

python -m benchmarks.ship_finder --data DIR --out honeyguide/source_finder/events.model
    [--kind events] [--generated 300] [--nets 3]

DIR has sites.json and html.tar.zst. Only the development part of the real sites is used.
"""

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.real_sites import unpacked
from experiments.real_sites import RealSites, read_sites
from honeyguide.contracts import Page, Verdict
from honeyguide.registry import make
from honeyguide.source_finder.model import shared_encoder
from honeyguide.source_finder.training.finder import FinderTraining, SiteGroup
from honeyguide.source_finder.training.page_model import PageModelTraining
from honeyguide.source_finder.training.value import ValueTraining

ENCODER = "joined:wordllama+ngrams:512"
NEWS_FILES = ("news/index.html", "news.html", "blog/index.html", "noticies/index.html")


def real_group(data: Path, place: Path, kind: str) -> SiteGroup:
    """Return the development part of the real sites; for news, lists are known by their files."""
    world = RealSites(read_sites(data, place, "development"))

    def worth(page: Page) -> float:
        label = world.label(page.url)
        if kind == "events":
            return {"source": 1.0, "ok": float("nan")}.get(label, 0.0)
        site = world.site(page.url)
        return float(site is not None and site.file(page.url) in NEWS_FILES)

    return SiteGroup(
        world=world, homes=world.homes, worth=worth, weight=4.0, most_pages=120, pages_of_site=40
    )


def generated_group(name: str, kind: str, sites: int) -> SiteGroup:
    """Return generated sites of a set."""
    spec = f"organisations:set={name},sites={sites}"
    world: Any = make("world", spec, judge=lambda page: Verdict(0.0, False))

    def worth(page: Page) -> float:
        return float(f"source:{kind}" in page.labels)

    return SiteGroup(
        world=world, homes=world.homes, worth=worth, weight=0.5, most_pages=26, pages_of_site=9
    )


def main() -> None:
    """Train once and say how long each step took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--kind", default="events")
    parser.add_argument("--generated", type=int, default=300)
    parser.add_argument("--nets", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--unpacked", type=Path, help="a folder for the unpacked HTML")
    asked = parser.parse_args()
    begun = time.process_time()

    def report(what: str) -> Any:
        return lambda done, of, news: (
            print(f"{time.process_time() - begun:6.0f} s {what}: {done} of {of} {news}", flush=True)
            if done == of or done % 50 == 0 or "net" in what
            else None
        )

    with tempfile.TemporaryDirectory() as folder:
        groups = [generated_group(
            "wide" if asked.kind == "events" else f"wide_{asked.kind}", asked.kind,
            min(asked.generated, 300 if asked.kind != "events" else 800),
        )]  # fmt: skip
        if asked.kind == "events":
            groups.append(generated_group("unlabelled", "events", asked.generated // 3))
        if asked.kind in ("events", "news"):
            place = unpacked(asked.data, asked.unpacked or Path(folder))
            groups.append(real_group(asked.data, place, asked.kind))
        training = FinderTraining(
            kind=asked.kind,
            encoder_name=ENCODER,
            encoder=shared_encoder(ENCODER),
            value=ValueTraining(nets=asked.nets, epochs=asked.epochs),
            pages=PageModelTraining(nets=asked.nets),
        )
        trained = asyncio.run(training.run(groups, report))
    trained.model.save(asked.out)
    print(json.dumps(trained.summary(), indent=1))


if __name__ == "__main__":
    main()
