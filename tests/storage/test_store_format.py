"""Snapshots in pieces, crawls of older versions, and rows that no committed row runs ahead of."""

import os
import shutil
import sqlite3
import threading
import tracemalloc
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from honeyguide.contracts import OfHost
from honeyguide.disk.serialise import split_state
from honeyguide.errors import HoneyguideError
from honeyguide.storage import database, pieces, snapshots
from honeyguide.storage.check import Check
from honeyguide.storage.database import create, open_crawl
from honeyguide.storage.exports import export, status
from honeyguide.storage.ledger import Writer
from honeyguide.storage.snapshots import Snapshots
from honeyguide.storage.store import RecordingNavigator, Store
from tests import kept


def crawl(folder, budget):
    store = Store(folder)
    try:
        steering = RecordingNavigator(kept.navigator(0.1), store)
        kept.crawl(steering, kept.World(), 1, budget, steering.started_at)
    finally:
        store.close()


def urls(folder):
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as connection:
        return [url for (url,) in connection.execute("SELECT url FROM pages ORDER BY n")]


# ----------------------------------------------------------------------- pieces


class Kept:
    """Snapshots of states, and the bytes that they take."""

    def __init__(self, folder):
        create(folder, {})
        self.database = open_crawl(folder, read_only=False)
        self.snapshots = Snapshots(folder, self.database)

    def write(self, n, **state):
        before = self.size()
        for _ in self.snapshots.write(*split_state(state, in_pieces=True), n, float(n)):
            pass
        return self.size() - before

    def size(self):
        [[size]] = self.database.execute("SELECT total(length(data)) FROM pieces")
        return size


@pytest.fixture
def states(tmp_path):
    made = Kept(tmp_path / "crawl")
    yield made
    made.database.close()


def noise(count, seed=0):
    return np.random.default_rng(seed).random(count).astype(np.float32)


def test_a_snapshot_costs_what_changed_since_the_last(states):
    table, names = noise(500_000), [f"http://h{n}.example" for n in range(20_000)]
    first = states.write(1, table=table, names=names)
    assert first > 0.8 * table.nbytes
    assert states.write(2, table=table, names=names) == 0
    scattered = table.copy()
    scattered[::5000] = 7  # a row here and there
    assert states.write(3, table=scattered, names=names) < 0.02 * first
    grown = np.append(scattered, noise(1000, 1))
    longer = [*names, "http://one.more.example"]
    assert states.write(4, table=grown, names=longer) < 0.02 * first
    state, n, now = states.snapshots.newest()
    assert (n, now) == (4, 4.0)
    assert state["table"].tobytes() == grown.tobytes()
    assert state["names"] == longer


def test_a_state_in_pieces_comes_back_as_it_was(states):
    state = {
        "empty": np.zeros((0, 3), np.int16),
        "one": np.array(3.5),
        "turned": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "repeated": np.zeros(300_000),
        "odd": [f"a\ud800{n}" for n in range(300)],
        "few": ["a", "b"],
        "number": 1 << 100,
    }
    states.write(1, **state)
    back = states.snapshots.newest()[0]
    assert back["turned"].flags.f_contiguous
    assert split_state(back)[0] == split_state(state)[0]
    assert [a.tobytes() for _, a in split_state(back)[1]] == [
        a.tobytes() for _, a in split_state(state)[1]
    ]
    assert states.size() < 5_000


def test_pieces_that_no_kept_snapshot_uses_are_deleted_with_the_older_one(states):
    for n in range(1, 8):
        states.write(n, table=noise(50_000, n))
    assert states.size() < 2.1 * noise(50_000).nbytes
    assert [row.n for row in states.snapshots.rows_newest_first()] == [7, 6]


def test_pieces_of_a_snapshot_that_was_not_finished_are_removed_at_the_next_opening(states):
    steps = states.snapshots.write(*split_state({"a": noise(2_000_000)}, True), 1, 1.0)
    next(steps)
    assert states.size() > 0
    steps.close()
    states.snapshots.recover()
    assert states.size() == 0
    assert states.snapshots.newest() is None


def test_a_change_to_an_array_after_the_snapshot_was_taken_is_not_in_it(states):
    table = noise(100_000)
    skeleton, arrays = split_state({"table": table}, in_pieces=True)
    before = table.tobytes()
    table[:] = 0
    for _ in states.snapshots.write(skeleton, arrays, 1, 1.0):
        pass
    assert states.snapshots.newest()[0]["table"].tobytes() == before


def test_a_damaged_base_is_told(states):
    table = noise(100_000)
    states.write(1, table=table)
    table[5] = 0
    states.write(2, table=table)
    assert states.snapshots.newest() is not None
    states.database.execute("UPDATE pieces SET data = zeroblob(9) WHERE base IS NULL")
    assert states.snapshots.newest() is None


def test_events_are_committed_while_a_long_snapshot_is_written():
    done, gate = [], threading.Semaphore(0)

    def steps():
        for number in range(3):
            gate.acquire()
            done.append(number)
            yield

    writer = Writer(lambda: done.append("commit"), seconds=0.0)
    writer.put_long(steps())
    writer.put(lambda: done.append("event"))
    for _ in range(3):
        gate.release()
    writer.flush()
    writer.stop()
    assert done.index("event") < done.index(2)
    assert "commit" in done[done.index("event") : done.index(2)]
    assert done[-1] == "commit"


# ----------------------------------------------------------------------- older crawls


@pytest.fixture
def old(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshots, "MIN_VISITS", 20)
    create(tmp_path / "old", {"topic": "birds"})
    crawl(tmp_path / "old", 70)
    kept.write_as_format_1(tmp_path / "old")
    return tmp_path / "old"


def test_a_crawl_of_an_older_version_goes_on_as_if_it_had_been_begun_by_this_one(old, tmp_path):
    create(tmp_path / "new", {"topic": "birds"})
    crawl(tmp_path / "new", 130)
    crawl(old, 30)
    crawl(old, 30)
    assert urls(old) == urls(tmp_path / "new")
    assert Check(old).run() == []
    assert not list(old.glob("snapshot-*"))


def test_readers_leave_a_crawl_of_an_older_version_as_it_is(old, tmp_path):
    before = (old / "crawl.sqlite").read_bytes()
    assert status(old)["visits"] == 70
    assert export(old, "jsonl", tmp_path / "out.jsonl").pages > 50
    assert Check(old).run() == []
    assert (old / "crawl.sqlite").read_bytes() == before


@pytest.mark.parametrize("damage", ["cut", "remove", "elsewhere"])
def test_a_damaged_snapshot_file_of_an_older_version_costs_only_time(old, tmp_path, damage):
    create(tmp_path / "new", {"topic": "birds"})
    crawl(tmp_path / "new", 90)
    newest = max(old.glob("snapshot-*"), key=lambda path: int(path.stem.split("-")[1]))
    whole = newest.read_bytes()
    newest.unlink()
    if damage == "cut":
        newest.write_bytes(whole[:5000])
    elif damage == "elsewhere":
        (tmp_path / "state").write_bytes(whole)
        newest.symlink_to(tmp_path / "state")
    assert any(finding.kind == "snapshot" for finding in Check(old).run())
    crawl(old, 20)
    assert urls(old) == urls(tmp_path / "new")


def test_what_is_learnt_of_hosts_may_be_numbers_or_bytes(tmp_path):
    create(tmp_path, {})
    learnt = [OfHost("a.example", "failures", 2.0), OfHost("a.example", "robots", b"\x00\xff")]
    with closing(Store(tmp_path)) as store:
        link = kept.Link(kept.url(0))
        store.record_seeds([link], 0.0)
        visit = kept.World().visit(link)
        store.record_visit(replace(visit, learnt=tuple(learnt)), 1.0, 1.0)
        store.record_visit(replace(visit, learnt=(OfHost("a.example", "failures", 3),)), 1.0, 2.0)
    with closing(Store(tmp_path)) as store:
        assert list(store.learnt()) == [OfHost("a.example", "failures", 3.0), learnt[1]]
    with closing(sqlite3.connect(tmp_path / "crawl.sqlite")) as connection, connection:
        connection.execute("DELETE FROM hosts WHERE what = 'robots'")
    with closing(Store(tmp_path)) as store, pytest.raises(HoneyguideError, match="of hosts"):
        store.learnt()


def test_what_is_learnt_of_hosts_is_not_in_memory_at_once(tmp_path):
    create(tmp_path, {})
    size = 1 << 20
    with closing(Store(tmp_path)) as store:
        link = kept.Link(kept.url(0))
        store.record_seeds([link], 0.0)
        visit = kept.World().visit(link)
        for number in range(24):
            learnt = (OfHost(f"h{number}.example", "robots.txt", bytes([number]) * size),)
            store.record_visit(replace(visit, learnt=learnt), 1.0, 1.0)
    with closing(Store(tmp_path)) as store:
        tracemalloc.start()
        try:
            learnt = store.learnt()
            assert sum(len(value) for _, _, value in learnt) == 24 * size
            assert len({host for host, _, _ in learnt}) == 24  # it can be read twice
            assert tracemalloc.get_traced_memory()[1] < 8 * size
        finally:
            tracemalloc.stop()


# ----------------------------------------------------------------------- lasting


def test_no_row_is_committed_before_the_names_of_its_files_are_safe(tmp_path, monkeypatch):
    events = []
    fsync = os.fsync

    def watched(handle):
        events.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", watched)
    folder = (tmp_path / "new" / "crawl").resolve()
    create(folder, {})
    assert {str(folder), str(folder.parent), str(tmp_path.resolve())} <= set(events)
    store = Store(folder, batch_seconds=60)
    steering = RecordingNavigator(kept.navigator(), store)
    events.clear()
    store._database.set_trace_callback(lambda sql: sql == "COMMIT" and events.append(sql))
    kept.crawl(steering, kept.World(), 1, 3)
    store.flush()
    warcs = folder / "warc"
    last = len(events) - 1 - events[::-1].index("COMMIT")
    for name in (folder, warcs, warcs / "pages-00001.warc.gz", warcs / "pages-00001.cdxj"):
        assert str(name) in events[:last]
    store.close()


def test_a_piece_is_at_most_as_large_as_pieces_are(states):
    states.write(1, a=noise(100_000))
    huge = pieces._shrink(bytes(pieces.SIZE + 1))
    states.database.execute("UPDATE pieces SET data = ?", (huge,))
    assert states.snapshots.newest() is None


def test_a_copy_of_a_folder_is_the_same_crawl(old, tmp_path):
    other = shutil.copytree(old, tmp_path / "copy")
    crawl(old, 10)
    crawl(other, 10)
    assert urls(old) == urls(other)
    assert database.settings(other) == {"topic": "birds"}
