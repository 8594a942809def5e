"""Crawls in real processes that are killed, starved of disk, or started twice."""

import random
import sqlite3
import subprocess
import sys
from pathlib import Path

from honeyguide.store.database import create
from honeyguide.store.store import Store
from honeyguide.warc.reader import ArchiveIterator, WarcRecordType, read_at

from . import kept

KILLS = 5  # in each of the tests
ROOT = Path(__file__).parent.parent


def start(folder, log, in_flight=1, refuses=0.0, pause=0.0, max_file_size=0):
    arguments = [folder, log, in_flight, refuses, pause, max_file_size]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.kept", *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0, out + error


def rows(folder, columns="url, score, depth, parent, relevance, title, failure"):
    database = sqlite3.connect(folder / "crawl.sqlite")
    try:
        return database.execute(f"SELECT {columns} FROM pages ORDER BY n").fetchall()
    finally:
        database.close()


def lines(log):
    return log.read_text().splitlines() if log.exists() else []


def uninterrupted(folder, in_flight=1, refuses=0.0):
    create(folder, {})
    store = Store(folder, warc_bytes=60_000)
    kept.crawl(kept.Recorded(kept.navigator(refuses), store), kept.World(), in_flight)
    store.close()
    return rows(folder)


def check_warcs(folder):
    """Every row's response is where the row says, and nothing else is in the files."""
    recorded = []
    for file in sorted((folder / "warc").glob("*.warc.gz")):
        for record in ArchiveIterator(str(file), WarcRecordType.response, parse_http=False):
            assert record.verify_block_digest()
            recorded.append((file.name, record.stream_pos, record.headers["WARC-Target-URI"]))
        indexed = (folder / "warc" / file.name.replace("warc.gz", "cdxj")).read_text()
        assert len(indexed.splitlines()) == sum(name == file.name for name, *_ in recorded)
    expected = rows(folder, "warc, warc_offset, url, failure")
    assert recorded == [row[:3] for row in expected if not row[3]]
    for file, offset, url in recorded[::20]:
        assert read_at(folder / "warc" / file, offset).url == url


def kill_until_done(folder, log, in_flight, refuses, rng):
    """Run a crawl, killed at random moments; what was safe is never fetched again."""
    for _ in range(KILLS):
        safe = {row[0] for row in rows(folder)} if (folder / "crawl.sqlite").exists() else set()
        before = len(lines(log))
        process = start(folder, log, in_flight, refuses, pause=0.004)
        try:
            if rng.random() < 0.8:
                process.stdout.readline()  # it has come to where it was
            process.wait(rng.random() * 0.35)
        except subprocess.TimeoutExpired:
            pass
        process.kill()
        _, error = process.communicate()
        assert not error
        assert not safe & set(lines(log)[before:])
    finish(start(folder, log, in_flight, refuses))


def test_a_crawl_killed_at_any_moment_takes_the_same_decisions(tmp_path):
    expected = uninterrupted(tmp_path / "whole", refuses=0.1)
    kill_until_done(tmp_path / "cut", tmp_path / "log", 1, 0.1, random.Random(1))
    assert rows(tmp_path / "cut") == expected
    check_warcs(tmp_path / "cut")


def test_a_crawl_killed_with_many_visits_in_flight_loses_no_link(tmp_path):
    expected = uninterrupted(tmp_path / "whole")
    kill_until_done(tmp_path / "cut", tmp_path / "log", 5, 0.0, random.Random(2))
    visited = [row[0] for row in rows(tmp_path / "cut")]
    assert sorted(visited) == sorted(row[0] for row in expected)
    check_warcs(tmp_path / "cut")


def test_a_full_disk_stops_a_crawl_that_goes_on_later(tmp_path):
    expected = uninterrupted(tmp_path / "whole")
    folder, log = tmp_path / "cut", tmp_path / "log"
    stops = 0
    for size in (4_000, 30_000, 45_000, 150_000, 300_000):
        process = start(folder, log, max_file_size=size)
        _, error = process.communicate(timeout=60)
        if process.returncode:
            stops += 1
            assert len(error.splitlines()) == 1, error
            assert f"'honeyguide resume {folder}' goes on once" in error
    assert stops >= 3
    finish(start(folder, log))
    assert rows(folder) == expected
    check_warcs(folder)


def test_two_processes_cannot_open_the_same_crawl(tmp_path):
    folder = tmp_path / "crawl"
    first = start(folder, tmp_path / "log", pause=0.05)
    pid = first.stdout.readline().split()[1]
    second = start(folder, tmp_path / "log")
    _, error = second.communicate(timeout=60)
    assert second.returncode == 1
    assert error == f"{folder} is in use by process {pid}\n"
    first.kill()
    first.communicate()
    finish(start(folder, tmp_path / "log"))
