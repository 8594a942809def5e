"""Crawls in real processes that are killed, starved of disk, or started twice."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from honeyguide.storage.database import create, holds_crawl
from honeyguide.storage.store import Store
from honeyguide.warc.reader import RESPONSE, read_at, records
from tests import kept

KILLS = 15  # in each of two tests


class Nursery:
    """Real processes that crawl, quickly begun."""

    def __init__(self, folder, program="tests.kept", **environment):
        self.folder, self.log, self.errors = folder / "crawl", folder / "log", folder / "errors"
        self.server = subprocess.Popen(
            [sys.executable, "-m", program],
            cwd=Path(__file__).parents[2],
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def order(self, *what):
        self.server.stdin.write(json.dumps(what) + "\n")
        self.server.stdin.flush()
        return int(self.server.stdout.readline())

    def start(self, **settings):
        places = {"folder": self.folder, "log": self.log, "errors": self.errors}
        return self.order("start", {name: str(path) for name, path in places.items()} | settings)

    def wait(self, pid):
        code = os.waitstatus_to_exitcode(self.order("wait", pid))
        return code, self.errors.read_text()

    def finish(self, **settings):
        assert self.wait(self.start(**settings)) == (0, "")

    def visited(self):
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def nursery(tmp_path):
    nursery = Nursery(tmp_path)
    yield nursery
    nursery.server.stdin.close()
    nursery.server.stdout.close()
    nursery.server.wait(60)


def rows(folder, columns="url, score, depth, parent, relevance, title, failure"):
    database = sqlite3.connect(folder / "crawl.sqlite")
    try:
        return database.execute(f"SELECT {columns} FROM pages ORDER BY n").fetchall()
    finally:
        database.close()


def uninterrupted(folder, in_flight=1, refuses=0.0):
    create(folder, {})
    store = Store(folder, warc_bytes=60_000)
    kept.crawl(kept.RecordingNavigator(kept.navigator(refuses), store), kept.World(), in_flight)
    store.close()
    return rows(folder)


def check_warcs(folder):
    """Every row's response is where the row says, and nothing else is in the files."""
    recorded = []
    for file in sorted((folder / "warc").glob("*.warc.gz")):
        for record in records(file):
            if record.record_type == RESPONSE:
                assert record.verify_block_digest()
                recorded.append((file.name, record.stream_pos, record.headers["WARC-Target-URI"]))
        indexed = (folder / "warc" / file.name.replace("warc.gz", "cdxj")).read_text()
        assert len(indexed.splitlines()) == sum(name == file.name for name, *_ in recorded)
    expected = rows(folder, "warc, warc_offset, url, failure")
    assert recorded == [row[:3] for row in expected if not row[3]]
    for file, offset, url in recorded[::20]:
        assert read_at(folder / "warc" / file, offset).url == url


def kill_until_done(nursery, rng, **settings):
    """Run a crawl, killed at random moments; what was safe is never fetched again."""
    for _ in range(KILLS):
        exists = (nursery.folder / "crawl.sqlite").exists() and holds_crawl(nursery.folder)
        safe = {row[0] for row in rows(nursery.folder)} if exists else set()
        before = len(nursery.visited())
        process = nursery.start(pause=0.004, **settings)
        time.sleep(rng.random() * 0.15)
        os.kill(process, signal.SIGKILL)
        assert nursery.wait(process)[1] == ""
        assert not safe & set(nursery.visited()[before:])
    nursery.finish(**settings)


def test_a_crawl_killed_at_any_moment_takes_the_same_decisions(nursery, tmp_path):
    expected = uninterrupted(tmp_path / "whole", refuses=0.1)
    kill_until_done(nursery, random.Random(1), refuses=0.1)
    assert rows(nursery.folder) == expected
    check_warcs(nursery.folder)


def test_a_crawl_killed_with_many_visits_in_flight_loses_no_link(nursery, tmp_path):
    expected = uninterrupted(tmp_path / "whole")
    kill_until_done(nursery, random.Random(2), in_flight=5)
    visited = [row[0] for row in rows(nursery.folder)]
    assert sorted(visited) == sorted(row[0] for row in expected)
    check_warcs(nursery.folder)


def test_a_full_disk_stops_a_crawl_that_goes_on_later(nursery, tmp_path):
    expected = uninterrupted(tmp_path / "whole")
    stops = 0
    for size in (4_000, 30_000, 45_000, 150_000, 300_000):
        code, error = nursery.wait(nursery.start(max_file_size=size))
        if code:
            stops += 1
            assert len(error.splitlines()) == 1, error
            assert f"'honeyguide resume {nursery.folder}' continues the crawl once" in error
    assert stops >= 3
    nursery.finish()
    assert rows(nursery.folder) == expected
    check_warcs(nursery.folder)


def test_two_processes_cannot_open_the_same_crawl(nursery):
    first = nursery.start(pause=0.05)
    while not nursery.visited():
        time.sleep(0.01)
    code, error = nursery.wait(nursery.start())
    assert (code, error) == (1, f"{nursery.folder} is in use by process {first}\n")
    os.kill(first, signal.SIGKILL)
    nursery.wait(first)
    nursery.finish()


def test_a_worker_that_outlives_a_killed_crawl_does_not_keep_it(nursery):
    process = nursery.start(pause=0.05, worker=4)
    while not nursery.visited():
        time.sleep(0.01)
    os.kill(process, signal.SIGKILL)
    nursery.wait(process)
    Store(nursery.folder).close()
