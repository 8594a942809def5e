"""What it costs a live crawl to store why each link was chosen.

    python benchmarks/why_cost.py [--pages N] [--repeat N] [--json]

Crawls the same generated web, served on this machine, with and without the reasons, in turn, each
in a process of its own. Prints processor seconds of both (paired), the share that is spent on
reasons as measured inside one crawl, and the bytes that a fetched page takes more.
"""

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import served_site

WITH, WITHOUT, TIMED = "with", "without", "timed"


def main() -> None:
    """Run the crawls and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1500, help="of a crawl")
    parser.add_argument("--repeat", type=int, default=3, help="pairs of crawls")
    parser.add_argument("--json", action="store_true", help="end with a line of JSON")
    parser.add_argument("--child", nargs=4, metavar=("HOW", "PORT", "SEED", "OUT"))
    given = parser.parse_args()
    if given.child:
        how, port, seed, out = given.child
        print(json.dumps(_crawl(how, int(port), seed, Path(out), given.pages)))
        return
    found = _compare(given.pages, given.repeat)
    for name, value in found.items():
        print(f"{name:<40} {value}")
    if given.json:
        print(json.dumps(found))


def _compare(pages: int, repeat: int) -> dict[str, Any]:
    runs: dict[str, list[dict[str, float]]] = {WITH: [], WITHOUT: [], TIMED: []}
    world = served_site.generated_world(20 * pages)
    seed = world.find("geology").url
    with (
        served_site.served("generated", str(20 * pages), "1") as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        for number in range(repeat):
            for how in (WITH, WITHOUT, TIMED) if number % 2 else (WITHOUT, WITH, TIMED):
                out = Path(folder) / f"{how}-{number}"
                runs[how].append(_run(how, server, seed, out, pages))
    ratios = [
        one["cpu"] / other["cpu"] for one, other in zip(runs[WITH], runs[WITHOUT], strict=True)
    ]
    shares = [run["reasons"] / run["cpu"] for run in runs[TIMED]]
    return {
        "pages": pages,
        "cpu seconds with": [round(run["cpu"], 2) for run in runs[WITH]],
        "cpu seconds without": [round(run["cpu"], 2) for run in runs[WITHOUT]],
        "ratio of the pairs, mean": round(statistics.mean(ratios), 4),
        "ratio of the pairs, spread": round(max(ratios) - min(ratios), 4),
        "share of cpu spent on reasons, mean": round(statistics.mean(shares), 4),
        "share of cpu spent on reasons, highest": round(max(shares), 4),
        "microseconds a choice": round(
            statistics.mean(run["reasons"] / run["choices"] * 1e6 for run in runs[TIMED]), 1
        ),
        "waiting links at the end": int(runs[TIMED][-1]["waiting"]),
        "bytes a fetched page": round(runs[WITH][-1]["bytes"], 1),
    }


def _run(how: str, port: int, seed: str, out: Path, pages: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--pages", str(pages)]
    command += ["--child", how, str(port), seed, str(out)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _crawl(how: str, port: int, seed: str, out: Path, pages: int) -> dict[str, float]:
    """One crawl, in this process."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from honeyguide.plan import Plan  # noqa: PLC0415
    from honeyguide.storage import store  # noqa: PLC0415
    from honeyguide.storage.crawl_folder import create_crawl, run_crawl  # noqa: PLC0415

    spent = {"reasons": 0.0, "choices": 0.0}
    if how == WITHOUT:
        store.choice_of = lambda navigator, link: None
    elif how == TIMED:
        _time(store, "choice_of", spent)
        _time(store, "pack_choice", spent)
    plan = Plan(
        topic="geology",
        seeds=(seed,),
        world="web",
        budget=pages,
        in_flight=32,
        delay=0.0,
        contact="benchmark@example.org",
        allow_private=True,
        resolve=f"*=127.0.0.1:{port}",
    )
    create_crawl(out, plan)
    begin = time.process_time()
    run_crawl(out, lambda *_: None)
    cpu = time.process_time() - begin
    with sqlite3.connect(out / "crawl.sqlite") as database:
        [[size, count]] = database.execute(
            "SELECT sum(length(data)), count(*) FROM journal WHERE kind = 'take'"
        )
        [[waiting]] = database.execute("SELECT value FROM about WHERE key = 'waiting'")
    return {
        "cpu": cpu,
        "reasons": spent["reasons"],
        "choices": count,
        "bytes": (size or 0) / count,
        "waiting": waiting,
    }


def _time(module: Any, name: str, spent: dict[str, float]) -> None:
    """Add up the processor seconds that a function takes."""
    original = getattr(module, name)

    def timed(*arguments: Any) -> Any:
        begin = time.thread_time()
        try:
            return original(*arguments)
        finally:
            spent["reasons"] += time.thread_time() - begin

    setattr(module, name, timed)


if __name__ == "__main__":
    main()
