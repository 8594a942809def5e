"""SQLite's log of a crawl that was killed: what is lost in it is told, however often one asks."""

import shutil
from contextlib import closing

import pytest

from honeyguide.contracts import Link
from honeyguide.errors import HoneyguideError
from honeyguide.storage import recent
from honeyguide.storage.check import Check
from honeyguide.storage.crawl_folder import run_crawl
from honeyguide.storage.database import create, holds_crawl, reading, settings
from honeyguide.storage.exports import export, status
from honeyguide.storage.log import has_lost_commits
from honeyguide.storage.repair import repair
from honeyguide.storage.store import Store

EVENTS = 21
PLAN = {"world": "synthetic:pages=1000", "seeds": ["geology"], "judge": "label:geology"}


@pytest.fixture
def running(tmp_path):
    create(tmp_path / "running", PLAN)
    with closing(Store(tmp_path / "running")) as store:
        store.record_seeds([Link("http://a.example/")], 0.0)
        for number in range(1, EVENTS):
            store.record_parked(float(number))
            store.flush()
        yield store


@pytest.fixture
def killed(running, tmp_path):
    """The folder as a loss of power would leave it: without what was never synced."""
    folder = shutil.copytree(running.folder, tmp_path / "killed")
    (folder / "crawl.sqlite-shm").unlink()
    recent.remove(folder)
    return folder


@pytest.fixture
def damaged(killed):
    """The same with a log of which a safe commit in the middle cannot be read."""
    log = bytearray(log_of(killed))
    log[len(log) // 2] ^= 1
    (killed / "crawl.sqlite-wal").write_bytes(log)
    return killed


def log_of(folder):
    return (folder / "crawl.sqlite-wal").read_bytes()


def test_lost_commits_are_told_again_at_the_next_attempt(damaged):
    log = log_of(damaged)
    for _ in range(2):
        with pytest.raises(HoneyguideError, match=r"the end of crawl.sqlite-wal is damaged"):
            Store(damaged)
        assert log_of(damaged) == log
    done, left = repair(damaged)
    assert "dropped the end of crawl.sqlite-wal" in done[0]
    assert left == []
    Store(damaged).close()


def test_who_reads_a_killed_crawl_leaves_its_log_as_it_is(damaged, tmp_path):
    log = log_of(damaged)
    assert settings(damaged) == PLAN
    assert holds_crawl(damaged)
    status(damaged)
    export(damaged, "jsonl", tmp_path / "out.jsonl")
    with pytest.raises(HoneyguideError, match="already holds a crawl"):
        create(damaged, {})
    assert log_of(damaged) == log


def test_a_crawl_with_lost_commits_is_not_resumed(damaged):
    with pytest.raises(HoneyguideError, match=r"the end of crawl.sqlite-wal is damaged"):
        run_crawl(damaged, lambda plan, recorded, visit: None)


def test_a_log_that_was_begun_anew_and_has_no_commit_yet_is_no_damage(running, tmp_path):
    [[busy, pages, written]] = running._database.execute("PRAGMA wal_checkpoint(PASSIVE)")
    assert (busy, pages) == (0, written)
    folder = shutil.copytree(running.folder, tmp_path / "killed")
    running.record_parked(999.0)
    running.flush()
    before, after = log_of(folder), log_of(running.folder)
    assert before[:32] != after[:32]
    (folder / "crawl.sqlite-wal").write_bytes(after[:32] + before[32:])
    (folder / "crawl.sqlite-shm").unlink()
    assert not has_lost_commits(folder)
    assert Check(folder).run() == []
    with closing(Store(folder)) as store:
        assert store._n == EVENTS


def test_a_damaged_head_of_a_log_is_told(killed):
    log = bytearray(log_of(killed))
    log[17] ^= 1  # of its salts
    (killed / "crawl.sqlite-wal").write_bytes(log)
    assert has_lost_commits(killed)


def test_a_reader_of_a_running_crawl_does_not_hold_up_its_writer(running):
    running._database.execute("PRAGMA busy_timeout = 0")
    with reading(running.folder) as database:
        database.execute("BEGIN")
        assert database.execute("SELECT max(n) FROM journal").fetchone() == (EVENTS,)
        running.record_parked(100.0)
        running.flush()
        assert database.execute("SELECT max(n) FROM journal").fetchone() == (EVENTS,)
    with reading(running.folder) as database:
        assert database.execute("SELECT max(n) FROM journal").fetchone() == (EVENTS + 1,)
