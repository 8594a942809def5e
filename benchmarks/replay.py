"""Pages a second of a WARC replay: all in one process against reading and judging in others.

    python benchmarks/replay.py --data DIR

A site is crawled once over HTTP; its WARC files are then crawled again, in turn all in one process
and with one and two processes that only read and judge. All must find the same. Beside it stands
what two processes of pure computing do on this machine against one: the most to be hoped for.
"""

import argparse
import json
import pickle
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import served_site

from honeyguide.plan import Plan
from honeyguide.storage.crawl_folder import create_crawl, run_crawl

IN_FLIGHT = 16


def scaling() -> float:
    """The work of two busy processes against that of one."""
    alone, together = [], []
    for _ in range(3):
        with ProcessPoolExecutor(2) as pool:
            alone += pool.map(_compute, [1.0])
            together.append(sum(pool.map(_compute, [1.0, 1.0])))
    return statistics.mean(together) / statistics.mean(alone)


def _compute(seconds: float) -> int:
    end, rounds = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        rounds += sum(number * number for number in range(20_000)) > 0
    return rounds


def replay(warc: Path, seed: str, budget: int, parsers: int, out: Path) -> tuple[float, list[str]]:
    """Seconds from the first page to the last, and the pages in order."""
    plan = Plan(
        topic="geology",
        agent="best_first",
        seeds=(seed,),
        world=f"archive:{warc}",
        parsers=parsers,
        in_flight=IN_FLIGHT,
        budget=budget,
    )
    create_crawl(out, plan)
    times, pages = [], []

    def watch(plan: Plan, recorded: object, visit: object) -> None:
        times.append(time.perf_counter())
        pages.append(visit.link.url)

    run_crawl(out, watch)
    return times[-1] - times[0], pages


def ratios(rates: list[float], base: list[float]) -> dict[str, object]:
    """Of the means, and run by run."""
    return {
        "ratio": round(statistics.mean(rates) / statistics.mean(base), 2),
        "runs": [round(rate / alone, 2) for rate, alone in zip(rates, base, strict=True)],
    }


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with schools-wiki/")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    site = served_site.real_site(arguments.data, 2000)
    rates: dict[int, list[float]] = {0: [], 1: [], 2: []}  # by processes that read and judge
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "site.pickle").write_bytes(pickle.dumps(site))
        with served_site.served(str(folder / "site.pickle")) as port:
            live = Plan(
                topic="geology",
                agent="best_first",
                seeds=(site.seed,),
                world="web",
                budget=len(site.pages),
                delay=0.0,
                contact="benchmark@example.org",
                allow_private=True,
                resolve=f"*={served_site.ADDRESS}:{port}",
            )
            create_crawl(folder / "live", live)
            run_crawl(folder / "live", lambda *_: None)
        found = []
        for run in range(arguments.runs):
            for parsers, seen in rates.items():
                out = folder / f"{run}-{parsers}"
                seconds, pages = replay(
                    folder / "live/warc", site.seed, len(site.pages), parsers, out
                )
                seen.append(len(pages) / seconds)
                found.append(pages)
    told = {
        "pages": len(found[0]),
        "same_pages_in_the_same_order": all(pages == found[0] for pages in found),
        "pages_per_second": {
            "one process": round(statistics.mean(rates[0]), 1),
            "one reader": round(statistics.mean(rates[1]), 1),
            "two readers": round(statistics.mean(rates[2]), 1),
        },
        "one_reader": ratios(rates[1], rates[0]),
        "two_readers": ratios(rates[2], rates[0]),
        "ratio_of_pure_computing": round(scaling(), 2),
    }
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
