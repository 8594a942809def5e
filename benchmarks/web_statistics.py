"""Prints the statistics of the generated webs beside those of recorded ones.

python benchmarks/web_statistics.py --data DIR    where DIR has webkb/ and mdn/ (pages.jsonl.zst)
"""

import argparse
import asyncio
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from rich.console import Console
from rich.progress import track

from honeyguide.bench.web_statistics import web_statistics
from honeyguide.contracts import Link, Page, Verdict, World
from honeyguide.worlds import readable, synthetic

RECORDED = {
    "webkb, class": ("webkb", ["class:course", "class:faculty", "class:student", "class:project"]),
    "webkb, university": (
        "webkb",
        ["univ:cornell", "univ:texas", "univ:washington", "univ:wisconsin"],
    ),
    "mdn": (
        "mdn",
        [
            "section:Web/CSS",
            "section:Web/HTTP",
            "section:Glossary",
            "section:Mozilla/Add-ons",
            "section:WebAssembly",
            "apigroup:SVG",
            "apigroup:WebGL",
            "apigroup:WebRTC",
        ],
    ),
}
READABLE_PAGES = 6000  # as the demo crawls it
READABLE_TOPICS = "geology birds baking chess sailing music pottery weather".split()
TOPICS = ["geology", "birds", "optics", "networks", "music", "cheese", "chess", "sailing"]
ROWS = {
    "pages": "pages",
    "links a page": "links_per_page",
    "words a page, median": "words_per_page.median",
    "words a page, mean": "words_per_page.mean",
    "out-degree, mean": "out_degree.mean",
    "out-degree, median": "out_degree.median",
    "out-degree, 90 %": "out_degree.p90",
    "out-degree, 99 %": "out_degree.p99",
    "out-degree, tail exponent": "out_degree.tail_exponent",
    "in-degree, mean": "in_degree.mean",
    "in-degree, median": "in_degree.median",
    "in-degree, 90 %": "in_degree.p90",
    "in-degree, 99 %": "in_degree.p99",
    "in-degree, tail exponent": "in_degree.tail_exponent",
    "hosts": "hosts.count",
    "largest host, share": "hosts.largest_share",
    "host size, median": "hosts.size.median",
    "host size, tail exponent": "hosts.size.tail_exponent",
    "links without anchor": "anchor_empty",
    "links without useful anchor": "anchor_useless",
    "pages with a near-duplicate": "near_duplicates",
    "topic: base rate": "topics.base_rate",
    "relevant at distance 1": "topics.relevant_at_distance.0",
    "relevant at distance 2": "topics.relevant_at_distance.1",
    "relevant at distance 3": "topics.relevant_at_distance.2",
    "relevant at distance 4": "topics.relevant_at_distance.3",
    "relevant at distance 5": "topics.relevant_at_distance.4",
    "lift at distance 1": "topics.lift_at_distance.0",
    "lift at distance 2": "topics.lift_at_distance.1",
    "lift at distance 3": "topics.lift_at_distance.2",
    "lift at distance 4": "topics.lift_at_distance.3",
    "lift at distance 5": "topics.lift_at_distance.4",
    "relevant after 1 random step": "topics.relevant_after_steps.0",
    "relevant after 3 random steps": "topics.relevant_after_steps.2",
    "relevant after 5 random steps": "topics.relevant_after_steps.4",
    "AUC of the text": "topics.auc_text",
    "AUC of the anchor": "topics.auc_anchor",
    "AUC of URL words": "topics.auc_url",
    "AUC of the source's relevance": "topics.auc_source",
}


def recorded(path: Path) -> Iterator[Page]:
    """The pages of a JSONL file."""
    with path.open("rb") as packed:
        unpacked = zstandard.ZstdDecompressor(max_window_size=2**31).stream_reader(packed)
        for line in io.TextIOWrapper(unpacked, encoding="utf-8"):
            row = json.loads(line)
            links = tuple(Link(target, anchor) for target, anchor in row["links"])
            yield Page(row["id"], row["title"], row["text"], links, labels=tuple(row["labels"]))


def generated(world: World, urls: Iterable[str]) -> Iterator[Page]:
    """All pages of a generated web that can be read."""
    with asyncio.Runner() as runner:
        for url in urls:
            page = runner.run(world.visit(Link(url))).page
            if page is not None and page.url == url:
                yield page


def value(statistics: Any, path: str) -> float:
    """The number at a dotted path."""
    for step in path.split("."):
        statistics = statistics[int(step)] if isinstance(statistics, list) else statistics[step]
    return float(statistics)


def table(measured: dict[str, Any]) -> str:
    """All webs side by side, as Markdown."""
    lines = ["| | " + " | ".join(measured) + " |", "|---" * (len(measured) + 1) + "|"]
    for name, path in ROWS.items():
        values = [value(web, path) for web in measured.values()]
        cells = [f"{number:,.0f}" if number >= 1000 else f"{number:.3g}" for number in values]
        cells = ["-" if cell == "0" else cell for cell in cells]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def unjudged(page: Page) -> Verdict:
    """Nothing is looked for."""
    return Verdict(0.0, False)


def labels(topics: list[str]) -> list[str]:
    """The labels of topics."""
    return [f"topic:{topic}" for topic in topics]


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, help="folder with webkb/ and mdn/")
    options.add_argument("--pages", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    world = synthetic.SyntheticWorld(unjudged, given.pages, given.seed)
    urls = (world.names.url(world.layout.spot(number)) for number in range(world.pages))
    english = readable.ReadableWorld(unjudged, READABLE_PAGES, given.seed)
    webs: list[tuple[str, Iterator[Page], list[str]]] = [
        (readable.VERSION, generated(english, english.writer.urls), labels(READABLE_TOPICS)),
        (synthetic.VERSION, generated(world, urls), labels(TOPICS)),
    ]
    if given.data is not None:
        for name, (folder, wanted) in RECORDED.items():
            webs.append((name, recorded(given.data / folder / "pages.jsonl.zst"), wanted))
    measured = {}
    for name, pages, wanted in webs:
        read = track(pages, f"reading {name}", console=Console(stderr=True))
        measured[name] = web_statistics(read, wanted, np.random.default_rng(0))
    print(table(measured))
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
