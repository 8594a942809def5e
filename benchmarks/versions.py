"""Processor seconds and memory of two versions: the same benchmarks in both, in turn.

    python benchmarks/versions.py OLD NEW --data DATA [--runs 5] [--only NAME ...]

OLD and NEW are folders with a checkout each; both run in this environment. Each benchmark is a
process of its own with the processes that it starts. Printed as JSON: for each benchmark the
median of both versions, and the ratio of new to old.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

COMMANDS = {
    "crawl, best_first": "crawl_speed.py --data {data} --budget 1500",
    "crawl, guide": "crawl_speed.py --data {data} --budget 700 --agent guide",
    "frontier": "frontier.py --links 300000",
    "gate": "gate.py --pages 300",
    "guide": "guide_speed.py --data {data} --budget 700 --waiting 200000",
    "steps": "step_time.py --steps 400 --pages 4000",
    "snapshots": "snapshots.py --pages 300 --more 50",
    "live, link farm": "link_farm.py --pages 40",
    "live, long crawl": "long_crawl.py --pages 600 --web 3000 --json",
    "encoder": "encoder_speed.py",
    "reading": "reading.py --tags 1000",
}


def measure(tree: Path, command: str) -> tuple[float, float]:
    """Processor seconds and megabytes of a benchmark of one version."""
    script, *arguments = command.split()
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    line = [sys.executable, f"benchmarks/{script}", *arguments]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(line, cwd=tree, env=environment, stdout=quiet, stderr=quiet)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} failed in {tree}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def compare(trees: tuple[Path, Path], command: str, runs: int) -> dict[str, Any]:
    """Medians and ratios of one benchmark."""
    seen: tuple[list[tuple[float, float]], ...] = ([], [])
    for run in range(runs):
        for which in (0, 1) if run % 2 == 0 else (1, 0):
            seen[which].append(measure(trees[which], command))
    row: dict[str, Any] = {}
    for at, what in enumerate(("seconds", "megabytes")):
        old, new = (statistics.median(pair[at] for pair in pairs) for pairs in seen)
        row |= {f"old_{what}": round(old, 2), f"new_{what}": round(new, 2)}
        row[f"{what}_ratio"] = round(new / old, 3)
    return row


def main() -> None:
    """Print a line of JSON for each benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="folder with wikispeedia/")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=list(COMMANDS), choices=list(COMMANDS))
    flags = parser.parse_args()
    trees = flags.old.resolve(), flags.new.resolve()
    for name in flags.only:
        command = COMMANDS[name].format(data=flags.data.resolve())
        print(json.dumps({"benchmark": name, **compare(trees, command, flags.runs)}), flush=True)


if __name__ == "__main__":
    main()
