"""What the log and the metrics of a live crawl cost, in its processor seconds.

    python benchmarks/log_cost.py --pages 400 --rounds 4

Each round crawls a served web without a log, with one of level info, and with one of level debug
(both with metrics), in an order that changes. Ratios are of rounds, so that a busy machine matters
little. `microseconds` is the time of what every visit costs, with and without a log.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from honeyguide.contracts import Link, Page, Response, Verdict, Visit
from honeyguide.guards.none import NoGuard
from honeyguide.storage.crawl_log import LogSettings, logging_to
from honeyguide.storage.figures import Tally
from honeyguide.storage.visit_log import VisitLog

PROGRAM = str(Path(sys.executable).parent / "honeyguide")
KINDS = ("none", "info", "debug")


def main() -> None:
    """Print one line of JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=4)
    given = parser.parse_args()
    server = subprocess.Popen(
        [PROGRAM, "serve", "--pages", "5000", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        told = server.stdout.readline() + server.stdout.readline()
        rounds = [_round(told, given.pages, number) for number in range(given.rounds)]
    finally:
        server.kill()
        server.wait()
    print(json.dumps(_summary(rounds) | {"microseconds": _microseconds(), "served": told.strip()}))


def _round(told: str, pages: int, number: int) -> dict[str, float]:
    """Processor seconds of one crawl of each kind."""
    turn = number % len(KINDS)
    return {kind: _crawl(told, pages, kind) for kind in (*KINDS[turn:], *KINDS[:turn])}


def _crawl(told: str, pages: int, kind: str) -> float:
    seed, port = re.findall(r"--seed (\S+)|127\.0\.0\.1:(\d+)", told)
    with tempfile.TemporaryDirectory() as folder:
        log = [] if kind == "none" else ["--log-level", kind, "--log-file", f"{folder}/log"]
        log += [] if kind == "none" else ["--metrics", f"{folder}/prom"]
        command = [
            *(PROGRAM, "crawl", "--topic", "geology", "--seed", seed[0]),
            *("--resolve", f"*=127.0.0.1:{port[1]}", "--allow-private", "--delay", "0"),
            *("--budget", str(pages), "--out", f"{folder}/out", *log),
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return usage.ru_utime + usage.ru_stime


def _summary(rounds: list[dict[str, float]]) -> dict[str, object]:
    ratios = {kind: [each[kind] / each["none"] for each in rounds] for kind in KINDS[1:]}
    return {
        "seconds": {kind: [round(each[kind], 3) for each in rounds] for kind in KINDS},
        "ratio": {kind: round(statistics.mean(each), 4) for kind, each in ratios.items()},
        "spread": {kind: round(statistics.pstdev(each), 4) for kind, each in ratios.items()},
    }


def _microseconds(times: int = 20_000) -> dict[str, float]:
    """What the tally and the log take for one visit."""
    link = Link("http://a.example/x")
    page, answer = Page(link.url, "A page", "text", ()), Response(link, link.url, 200, {}, b"")
    visit = Visit(link, page, Verdict(0.5, True), answer)
    taken = {"tally": _timed(Tally().note, visit, times=times)}
    taken["no log"] = _timed(VisitLog().note, visit, NoGuard(), times=times)
    for level in KINDS[1:]:
        with tempfile.TemporaryDirectory() as folder:
            settings = LogSettings(level, "text", Path(folder) / "log")
            with logging_to(settings):
                taken[level] = _timed(VisitLog().note, visit, NoGuard(), times=times)
    return taken


def _timed(job, *arguments, times: int) -> float:  # type: ignore[no-untyped-def]
    begin = time.process_time()
    for _ in range(times):
        job(*arguments)
    return round((time.process_time() - begin) / times * 1e6, 2)


if __name__ == "__main__":
    main()
