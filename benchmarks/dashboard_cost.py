"""What a dashboard costs: its answers with many pages in the store, and what it takes a crawl.

    python benchmarks/dashboard_cost.py answers [--pages 1000000] [--json]
    python benchmarks/dashboard_cost.py crawl [--pages 1500] [--repeat 3] [--json]

`answers` makes a store with so many pages and prints how long the page, its figures, and the first
reading of the store take. `crawl` crawls a served web with and without a dashboard whose page is
open, in turn, and prints the processor seconds of the crawl itself (paired).
"""

import argparse
import json
import os
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import served_site

from honeyguide.plan import Plan
from honeyguide.storage.crawl_folder import create_crawl, run_crawl

DASHBOARD = [sys.executable, "-c", "from honeyguide.cli import main; main()", "dashboard"]
ASKED = 100  # times that each answer is measured
EVERY = 1.5  # seconds between two looks, as the page takes them


def main() -> None:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("answers", "crawl", "child"))
    parser.add_argument("--pages", type=int)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", nargs=3, metavar=("PORT", "SEED", "OUT"))
    given = parser.parse_args()
    if given.what == "child":
        print(json.dumps(_crawl(*given.child, given.pages)))
        return
    if given.what == "answers":
        found = _answers(given.pages or 1_000_000)
    else:
        found = _compare(given.pages or 1500, given.repeat)
    for name, value in found.items():
        print(f"{name:<44} {value}")
    if given.json:
        print(json.dumps(found))


# --------------------------------------------------------------------------- answers


def _answers(pages: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as place:
        folder = Path(place) / "many"
        plan = Plan(topic="geology", seeds=("geology",), world="synthetic:pages=3000", budget=200)
        create_crawl(folder, plan)
        run_crawl(folder, lambda *_: None)
        _multiply(folder, pages)
        size = (folder / "crawl.sqlite").stat().st_size
        with _dashboard(folder) as (url, process):
            begin = time.monotonic()
            while json.loads(_get(f"{url}api/crawls"))[0]["reading"]:
                time.sleep(0.2)
            reading = time.monotonic() - begin
            taken = {path: _taken(url + path) for path in ("", "app.js", "api/crawls", "metrics")}
            memory = int(Path(f"/proc/{process}/statm").read_text().split()[1]) * 4096
            sizes = {path: len(_get(url + path)) for path in ("", "api/crawls")}
    return {
        "pages in the store": pages,
        "megabytes of the store": round(size / 1e6),
        "seconds of the first reading": round(reading, 1),
        "megabytes of the dashboard": round(memory / 1e6),
        **{f"ms of /{path}, median": round(1000 * each[0], 1) for path, each in taken.items()},
        **{f"ms of /{path}, longest": round(1000 * each[1], 1) for path, each in taken.items()},
        **{f"bytes of /{path}": size for path, size in sizes.items()},
    }


def _multiply(folder: Path, pages: int) -> None:
    """Copy the visits of a crawl until there are so many; only what a dashboard reads is right."""
    with sqlite3.connect(folder / "crawl.sqlite") as database:
        rows = database.execute("SELECT * FROM pages ORDER BY n").fetchall()
        [[last]] = database.execute("SELECT max(n) FROM journal")

        def copies() -> Iterator[tuple[Any, ...]]:
            for number in range(pages - len(rows)):
                _, url, page_url, *rest = rows[number % len(rows)]
                mark = f"?copy={number}"
                yield last + 1 + number, url + mark, page_url and page_url + mark, *rest

        marks = ",".join("?" * len(rows[0]))
        database.executemany(f"INSERT INTO pages VALUES ({marks})", copies())


def _taken(url: str) -> tuple[float, float]:
    """Median and longest seconds of an answer."""
    found = []
    for _ in range(ASKED):
        begin = time.perf_counter()
        _get(url)
        found.append(time.perf_counter() - begin)
        time.sleep(0.02)
    return statistics.median(found), max(found)


# --------------------------------------------------------------------------- a crawl


def _compare(pages: int, repeat: int) -> dict[str, Any]:
    runs: dict[bool, list[dict[str, float]]] = {True: [], False: []}
    seed = served_site.generated_world(20 * pages).find("geology").url
    with (
        served_site.served("generated", str(20 * pages), "1") as port,
        tempfile.TemporaryDirectory() as place,
    ):
        for number in range(repeat):
            for is_watched in (True, False) if number % 2 else (False, True):
                out = Path(place) / f"{number}-{is_watched}"
                runs[is_watched].append(_run(is_watched, port, seed, out, pages))
    pairs = zip(runs[True], runs[False], strict=True)
    ratios = [one["cpu"] / other["cpu"] for one, other in pairs]
    asked = [run["looks"] for run in runs[True]]
    return {
        "pages": pages,
        "cpu seconds with a dashboard": [round(run["cpu"], 2) for run in runs[True]],
        "cpu seconds without": [round(run["cpu"], 2) for run in runs[False]],
        "seconds with a dashboard": [round(run["seconds"], 1) for run in runs[True]],
        "looks of the page": asked,
        "questions answered": [run["answers"] for run in runs[True]],
        "share of cpu spent on answers": [
            round(run["answering"] / run["cpu"], 4) for run in runs[True]
        ],
        "ratio of the pairs, mean": round(statistics.mean(ratios), 4),
        "ratio of the pairs, spread": round(max(ratios) - min(ratios), 4),
    }


def _run(is_watched: bool, port: int, seed: str, out: Path, pages: int) -> dict[str, float]:
    command = [sys.executable, __file__, "child", "--pages", str(pages)]
    command += ["--child", str(port), seed, str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        looks = 0
        if is_watched:
            while not (out / "recent-0.events").exists():
                time.sleep(0.05)
            with _dashboard(out) as (url, _):
                while process.poll() is None:
                    _get(f"{url}api/crawls")
                    looks += 1
                    time.sleep(EVERY)
        said, _ = process.communicate()
    found: dict[str, float] = json.loads(said.splitlines()[-1])
    return found | {"looks": looks}


def _crawl(port: str, seed: str, out: str, pages: int) -> dict[str, float]:
    """One crawl, in this process; what answering takes is measured, too."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from honeyguide.storage import looking  # noqa: PLC0415

    spent = {"answers": 0.0, "answering": 0.0}
    original = looking.seen

    def timed(*arguments: Any) -> Any:
        begin = time.thread_time()
        try:
            return original(*arguments)
        finally:
            spent["answers"] += 1
            spent["answering"] += time.thread_time() - begin

    looking.seen = timed
    plan = Plan(
        topic="geology",
        seeds=(seed,),
        world="web",
        budget=pages,
        in_flight=16,
        delay=0.05,
        contact="benchmark@example.org",
        allow_private=True,
        resolve=f"*=127.0.0.1:{port}",
    )
    create_crawl(Path(out), plan)
    before, begin = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    run_crawl(Path(out), lambda *_: None)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return {"cpu": cpu, "seconds": time.monotonic() - begin, **spent}


@contextmanager
def _dashboard(folder: Path) -> Iterator[tuple[str, int]]:
    with subprocess.Popen([*DASHBOARD, str(folder)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            url = process.stdout.readline().removeprefix("dashboard: ").strip()
            yield url, process.pid
        finally:
            process.terminate()


def _get(url: str) -> bytes:
    with urllib.request.urlopen(url) as answer:
        found: bytes = answer.read()
    return found


if __name__ == "__main__":
    main()
