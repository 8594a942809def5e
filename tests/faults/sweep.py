"""Try every disk fault and every loss of power in a short crawl, and report what goes wrong.

Run them all: python -m tests.faults.sweep
"""

import argparse
import errno
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from honeyguide.errors import HoneyguideError
from tests.storage.test_store_killed import Nursery, check_warcs, rows

from . import disk
from .crawls import KINDS, SHORT

SOURCE = Path(__file__).parent / "faults.c"
NAMES = {**errno.errorcode, SHORT: "SHORT"}
# kind of call, error, and whether it persists: a full disk stays full
WRONGS = [
    *((kind, errno.ENOSPC, True) for kind in ("open", "write", "sync", "rename", "mkdir")),
    *((kind, errno.EIO, False) for kind in KINDS),
    *((kind, errno.EINTR, False) for kind in ("open", "write", "sync", "truncate")),
    ("write", SHORT, False),
]
LASTING = [(kind, errno.EIO, True) for kind in KINDS]  # a broken disk; only in the whole sweep


def quick_folder():
    """Return a new folder, in memory if possible: thousands of syncs are slow on a disk."""
    memory = Path("/dev/shm")
    is_there = memory.is_dir() and os.access(memory, os.W_OK)
    return Path(tempfile.mkdtemp(prefix="faults-", dir=memory if is_there else None))


def compile_library(folder):
    """Compile the library that injects disk faults and return its path."""
    library = folder / "faults.so"
    compiler = ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(compiler, check=True, timeout=60)
    return library


class Bench:
    """Runs a crawl of so many pages again and again with injected faults."""

    def __init__(self, folder, pages):
        self.folder, self.pages = Path(folder), pages
        self.turn = 0
        library = compile_library(self.folder)
        self.nursery = Nursery(self.folder, "tests.faults.crawls", LD_PRELOAD=str(library))
        self.calls = self.folder / "calls"
        self.root = self.folder / "whole" / "disk"
        ended = self._run(self.folder / "whole", calls=str(self.calls))
        assert ended == (0, ""), ended
        self.expected = rows(self.root / "crawl")

    def close(self):
        """End the process that starts crawls."""
        self.nursery.server.stdin.close()
        self.nursery.server.stdout.close()
        self.nursery.server.wait(60)

    # ------------------------------------------------------------------ faults

    def faults(self, wrongs=(*WRONGS, *LASTING)):
        """Return every kind of fault with the number of calls it can hit."""
        where = self._new()
        ended = self._run(where, count=str(where / "count"))
        assert ended == (0, ""), ended
        counts = [int(word) for word in (where / "count").read_text().split()[: len(KINDS)]]
        shutil.rmtree(where)
        return [(*wrong, counts[KINDS.index(wrong[0])]) for wrong in wrongs]

    def try_fault(self, kind, how, stays, turn):
        """Return what is wrong after a fault; an empty list if nothing is."""
        where = self._new()
        fault = kind, turn, how, stays
        code, said = self._run(where, fault=fault, count=str(where / "count"))
        *_, hits, file = f"{(where / 'count').read_text()} ".split(" ", len(KINDS) + 1)
        name = f"{kind} {turn} {NAMES[how]}{' from then on' if stays else ''}"
        name += f" ({Path(file.strip()).name})"
        wrong = [f"traceback: {said[-600:]}"] if code not in (0, 1) else []
        if code == 1 and len(said.splitlines()) != 1:
            wrong.append(f"not one sentence: {said!r}")
        is_plain = kind == "write" and file.strip().endswith(("-wal", ".gz", ".cdxj"))
        if code == 1 and how == errno.ENOSPC and is_plain and "disk is full" not in said:
            wrong.append(f"does not say that the disk is full: {said!r}")
        if code == 0 and said:
            wrong.append(f"said {said!r}")
        wrong += self._after(where, _number(where / "safe"))
        return [f"{name}: {what}" for what in wrong] if int(hits) else []

    # ------------------------------------------------------------------ loss of power

    def losses(self):
        """Return every distinct state that a loss of power may leave."""
        return list(disk.states(self.calls, self.root))

    def try_loss(self, number, loss, safe, files):
        """Return what is wrong after a loss of power; an empty list if nothing is."""
        where = self._new()
        for path, content in sorted(files.items()):
            file = where / "disk" / path
            if content is None:
                file.mkdir()
            else:
                file.write_bytes(content)
        wrong = self._after(where, safe)
        return [f"after call {number}, names {loss[0]}, data {loss[1]}: {what}" for what in wrong]

    # ------------------------------------------------------------------ both

    def _new(self):
        self.turn += 1
        where = self.folder / str(self.turn)
        (where / "disk").mkdir(parents=True)
        return where

    def _run(self, where, **settings):
        (where / "disk").mkdir(parents=True, exist_ok=True)
        places = {name: str(where / name) for name in ("log", "safe", "errors")}
        self.nursery.errors = where / "errors"
        crawl = {"folder": str(where / "disk" / "crawl"), "pages": self.pages}
        return self.nursery.wait(self.nursery.start(**places, **crawl, **settings))

    def _after(self, where, safe):
        """Return what is wrong: the stored visits must begin the crawl, which must resume."""
        folder, log = where / "disk" / "crawl", where / "log"
        kept = self._kept(where, folder)
        wrong = []
        if isinstance(kept, str):
            return [kept]
        if kept != self.expected[: len(kept)]:
            wrong.append("the stored visits are not those of the crawl")
        if len(kept) < safe:
            wrong.append(f"{len(kept)} visits are stored, {safe} were reported safe")
        asked = _lines(log)
        code, said = self._run(where)
        if code or said:
            return [*wrong, f"cannot be resumed: {said[-600:]}"]
        again = set(_lines(log)[len(asked) :]) & {row[0] for row in kept}
        if again:
            wrong.append(f"asked again: {sorted(again)}")
        if rows(folder) != self.expected:
            wrong.append("it ends with other pages or decisions")
        wrong += _damage(folder)
        if not wrong:
            shutil.rmtree(where)
        return wrong

    def _kept(self, where, folder):
        """Return the committed visits, read from a copy; a string if they cannot be read."""
        copy = where / "copy"
        copy.mkdir()
        for path in folder.glob("crawl.sqlite*"):
            if not path.name.endswith("-shm"):
                shutil.copy(path, copy)
        try:
            return rows(copy) if (copy / "crawl.sqlite").exists() else []
        except sqlite3.OperationalError as error:
            return [] if "no such table" in str(error) else f"cannot be read: {error}"
        except sqlite3.DatabaseError as error:
            return f"cannot be read: {error}"


def _damage(folder):
    try:
        check_warcs(folder)
    except (AssertionError, HoneyguideError, OSError) as error:
        return [f"WARC or CDXJ: {str(error)[:1500] or 'not what the rows say'}"]
    return []


def _lines(file):
    return file.read_text().splitlines() if file.exists() else []


def _number(file):
    return int(file.read_text()) if file.exists() else 0


def main():
    """Try all faults and losses, and print a report as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=24, help="pages of the crawl")
    parser.add_argument(
        "--share", type=float, default=1.0, help="share of faults and losses to try"
    )
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance, began = random.Random(given.seed), time.monotonic()
    folder = quick_folder()
    bench = Bench(folder, given.pages)
    tried, wrong = Counter(), []
    for kind, how, stays, turns in bench.faults():
        for turn in range(1, turns + 1):
            if chance.random() < given.share:
                tried[f"{kind} {NAMES[how]}{' from then on' if stays else ''}"] += 1
                wrong += bench.try_fault(kind, how, stays, turn)
        print(f"{kind} {NAMES[how]}: {len(wrong)} wrong", file=sys.stderr, flush=True)
    for state in bench.losses():
        if chance.random() < given.share:
            tried[f"loss of power: names {state[1][0]}, data {state[1][1]}"] += 1
            wrong += bench.try_loss(*state)
    bench.close()
    seconds = round(time.monotonic() - began)
    report = {"tried": tried, "wrong": wrong, "seconds": seconds, "kept": str(folder)}
    print(json.dumps(report, indent=1))
    if not wrong:
        shutil.rmtree(folder)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
