"""Recorded webs: seconds to import one, to open a large one, memory, and time to read a page.

    python benchmarks/import_speed.py --data DIR

DIR holds mdn/pages.jsonl.zst and wikispeedia/pages.jsonl.zst. Prints one JSON object.
"""

import argparse
import json
import multiprocessing
import tempfile
import time
from pathlib import Path

import numpy as np

from honeyguide.recorded.graph import Graph
from honeyguide.recorded.importers.jsonl import import_jsonl
from honeyguide.recorded.writer import write_arrays


def resident() -> int:
    """Bytes of memory that this process holds now, file pages included."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def importing(source: Path, out: Path) -> dict[str, float]:
    """How long a JSONL import takes and what it makes."""
    started, worked = time.perf_counter(), time.process_time()
    counts = import_jsonl(source, out)
    seconds, processor = time.perf_counter() - started, time.process_time() - worked
    return {
        "pages": counts["pages"],
        "links": counts["links"],
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor, 2),
        "pages_per_second": round(counts["pages"] / seconds),
        "megabytes_read": round(source.stat().st_size / 1e6, 1),
        "megabytes_written": round(sum(f.stat().st_size for f in out.iterdir()) / 1e6, 1),
    }


def reading(path: Path, count: int) -> dict[str, float]:
    """How long reading pages in random order takes."""
    graph = Graph.open(path)
    pages = np.random.default_rng(0).integers(0, len(graph), count).tolist()
    for page in pages[:100]:
        graph.page(page)
    started, worked = time.perf_counter(), time.process_time()
    links = sum(len(graph.page(page).links) for page in pages)
    seconds, processor = time.perf_counter() - started, time.process_time() - worked
    return {
        "links_per_page": round(links / count, 1),
        "milliseconds_per_page": round(seconds / count * 1e3, 3),
        "processor_milliseconds_per_page": round(processor / count * 1e3, 3),
    }


def generate(path: Path, pages: int, links: int) -> None:
    """A web of random links without text."""
    rng = np.random.default_rng(0)
    degrees = rng.multinomial(links, np.full(pages, 1 / pages))
    offsets = np.concatenate([[0], np.cumsum(degrees)])
    targets = rng.integers(0, pages, links, np.int32)
    write_arrays(
        path, (f"http://h{n % 1000}.example/p/{n}" for n in range(pages)), offsets, targets
    )


def opening(path: Path, visits: int) -> dict[str, float]:
    """What opening a graph and walking through it costs."""
    before = resident()
    started = time.perf_counter()
    graph = Graph.open(path)
    page = graph.page(0)
    seconds = time.perf_counter() - started
    opened = resident()
    rng = np.random.default_rng(1)
    for _ in range(visits):
        page = graph.page(graph.index(page.links[rng.integers(len(page.links))].url))
    walked = resident()
    return {
        "pages": len(graph),
        "links": len(graph.inside()[1]),
        "seconds_to_open": round(seconds, 4),
        "megabytes_more_once_open": round((opened - before) / 1e6, 2),
        f"megabytes_more_after_{visits}_visits": round((walked - before) / 1e6, 2),
        "megabytes_on_disk": round(sum(f.stat().st_size for f in path.iterdir()) / 1e6),
    }


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of mdn and wikispeedia")
    parser.add_argument("--pages", type=int, default=2_000_000, help="of the generated graph")
    parser.add_argument("--links", type=int, default=50_000_000, help="of the generated graph")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        report: dict[str, object] = {
            "import_mdn": importing(given.data / "mdn" / "pages.jsonl.zst", work / "mdn"),
            "import_wikispeedia": importing(
                given.data / "wikispeedia" / "pages.jsonl.zst", work / "wikispeedia"
            ),
            "read_wikispeedia": reading(work / "wikispeedia", 3000),
        }
        # each in a process of its own, so that its memory is its own
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            pool.apply(generate, (work / "large", given.pages, given.links))
            report["open_large"] = pool.apply(opening, (work / "large", 1000))
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
