"""Bytes of the first snapshot of a crawl, of a second one, and what they take: JSON.

python benchmarks/snapshots.py --pages 800 --more 100
"""

import argparse
import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from honeyguide.disk.serialise import split_state
from honeyguide.plan import Plan
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.storage.database import open_crawl
from honeyguide.storage.snapshots import Snapshots


def main() -> None:
    """Crawl a generated web with the usual agent, stop, go on, and stop again."""
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--pages", type=int, default=800, help="before the first snapshot")
    flags.add_argument("--more", type=int, default=100, help="before the second one")
    flags.add_argument("--agent", default="guide")
    said = flags.parse_args()
    plan = Plan(
        world="synthetic", topic="geology", seeds=("geology",), judge="label:geology",
        agent=said.agent, budget=said.pages,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "crawl"
        create_crawl(folder, plan)
        run_crawl(folder, lambda *_: None)
        first, state = measured(folder)
        run_crawl(folder, lambda *_: None, budget=said.pages + said.more)
        both, later = measured(folder)
    found = {"pages": said.pages, "state": state, "first": first, "more": said.more}
    print(json.dumps(found | {"second_state": later, "second": both - first}))


def measured(folder: Path) -> tuple[int, int]:
    """Bytes that all snapshots take, and bytes of the newest state's arrays and skeleton."""
    with closing(open_crawl(folder)) as database:
        saved = Snapshots(folder, database).newest()
        assert saved is not None
        skeleton, arrays = split_state(saved[0])
        return kept(database), len(skeleton) + sum(each.array.nbytes for each in arrays)


def kept(database: sqlite3.Connection) -> int:
    """Bytes of the rows that snapshots are made of."""
    [[pieces]] = database.execute("SELECT total(length(data) + 32) FROM pieces")
    [[rows]] = database.execute("SELECT total(length(skeleton) + length(hashes)) FROM snapshots")
    return int(pieces + rows)


if __name__ == "__main__":
    main()
