"""What link farms cost a live crawl: a farm is served on this machine and crawled, in a process
of its own, with the settings that a user has.

    python benchmarks/link_farm.py [KIND ...] [--pages 290] [--links 3000] [--max-memory 512M]

Prints a line of JSON for each kind of farm: pages, seconds, megabytes (the most that the process
held), waiting, known (URLs), hosts, snapshot (bytes), cuts, dropped, stopped.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import served_site
import uvloop

from honeyguide.contracts import Visit
from honeyguide.plan import Plan
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.storage.store import RecordingNavigator

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SEED = "http://farm.example.com/"
TEXT_WORDS = 150


def _word(dice: random.Random, length: int = 10) -> str:
    return "".join(dice.choices(LETTERS, k=length))


# how a farm of each kind names another of its pages; a page's own text unless it is a copy
FARMS: dict[str, Callable[[random.Random], str]] = {
    "subdomains": lambda dice: f"http://{_word(dice)}.example.com/",
    "domains": lambda dice: f"http://{_word(dice)}.example/{_word(dice, 1)}",
    "paths": lambda dice: f"http://farm.example.com/{_word(dice)}/{_word(dice)}",
    "queries": lambda dice: f"http://farm.example.com/list?find={_word(dice)}",
    "copies": lambda dice: f"http://{_word(dice)}.example/{_word(dice, 1)}",
}


def farm(kind: str, links: int) -> Callable[[bytes, bytes], bytes | None]:
    """Answers of a farm: every address has a page, every page has new links."""

    def answer(host: bytes, path: bytes) -> bytes | None:
        if path == b"/robots.txt":
            return None
        dice = random.Random(host + path)
        text = random.Random(0) if kind == "copies" else dice  # anchors are text, too
        words = " ".join(_word(text, 6) for _ in range(TEXT_WORDS))
        anchors = "".join(
            f'<li><a href="{FARMS[kind](dice)}">{_word(text, 6)}</a></li>' for _ in range(links)
        )
        page = f"<html><title>{_word(text)}</title><p>{words}</p><ul>{anchors}</ul></html>"
        return served_site.message(page.encode())

    return answer


def measured(port: int, pages: int, max_memory: str) -> dict[str, Any]:
    """A crawl of what is served there."""
    said = {"max_memory": max_memory} if max_memory else {}
    plan = Plan(
        topic="geology",
        seeds=(SEED,),
        world="web",
        budget=pages,
        delay=0.0,
        allow_private=True,
        resolve=f"*={served_site.ADDRESS}:{port}",
        contact="https://example.org/bot",
        **said,
    )
    last: list[RecordingNavigator] = []

    def watch(plan: Plan, recorded: RecordingNavigator, visit: Visit) -> None:
        last[:] = [recorded]

    with tempfile.TemporaryDirectory() as folder:
        create_crawl(Path(folder), plan)
        start = time.perf_counter()
        ended = run_crawl(Path(folder), watch)
        seconds = time.perf_counter() - start
        snapshots = [path.stat().st_size for path in Path(folder).glob("snapshot-*")]
    [recorded] = last
    return {
        "pages": ended.outcome.pages,
        "seconds": round(seconds, 1),
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "waiting": len(recorded.frontier),
        "known": len(recorded.memory),
        "hosts": recorded.memory.urls.host_count,
        "snapshot": max(snapshots, default=0),
        "cuts": {cut.reason: cut.count for cut in ended.cuts},
        "dropped": ended.shed_links,
        "stopped": ended.outcome.reason,
    }


def main() -> None:
    """Each farm after the other, each crawled by a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=list(FARMS))
    parser.add_argument("--pages", type=int, default=290)
    parser.add_argument("--links", type=int, default=3000)
    parser.add_argument("--max-memory", default="")
    parser.add_argument("--port", type=int, help="of a farm that is served: crawl it here")
    parser.add_argument("--serve", help="a kind of farm: serve it until standard input ends")
    said = parser.parse_args()
    if said.serve:
        uvloop.run(served_site.serve(farm(said.serve, said.links)))
    elif said.port:
        print(json.dumps(measured(said.port, said.pages, said.max_memory)))
    else:
        for kind in said.kinds:
            print(json.dumps({"farm": kind, **_apart(kind, said)}), flush=True)


def _apart(kind: str, said: argparse.Namespace) -> dict[str, Any]:
    with served_site.served_by(__file__, "--serve", kind, "--links", str(said.links)) as port:
        command = [sys.executable, __file__, "--port", str(port), "--pages", str(said.pages)]
        done = subprocess.run(
            [*command, "--max-memory", said.max_memory], stdout=subprocess.PIPE, check=True
        )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


if __name__ == "__main__":
    main()
