import errno
import sqlite3
import threading
import time
from contextlib import closing

import numpy as np
import pytest

from honeyguide.contracts import Link, Page, Response, Verdict, Visit
from honeyguide.errors import HoneyguideError
from honeyguide.storage import database, lock, snapshots
from honeyguide.storage.check import Check
from honeyguide.storage.database import create, open_crawl
from honeyguide.storage.exports import status
from honeyguide.storage.ledger import Writer
from honeyguide.storage.pieces import HASH
from honeyguide.storage.repair import repair
from honeyguide.storage.store import RecordingNavigator, Store
from tests import kept


@pytest.fixture
def folder(tmp_path):
    create(tmp_path / "crawl", {"topic": "birds"})
    return tmp_path / "crawl"


def crawl(folder, budget, **settings):
    """Crawl until so many visits of this session are absorbed; the rest is another session's."""
    store = Store(folder, **settings)
    try:
        steering = RecordingNavigator(kept.navigator(0.1), store)
        kept.crawl(steering, kept.World(), 1, budget, steering.started_at)
    finally:
        store.close()


class Empty:
    """A navigator that knows of nothing."""

    def load(self, state):
        """Whatever it was."""

    def choose(self, now):
        """Look, and find nothing."""


def query(folder, sql):
    connection = sqlite3.connect(folder / "crawl.sqlite")
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def change(folder, sql):
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as connection, connection:
        assert connection.execute(sql).rowcount > 0


def urls(folder):
    return [url for (url,) in query(folder, "SELECT url FROM pages ORDER BY n")]


# ----------------------------------------------------------------------- folders


def test_settings_come_back(folder):
    store = Store(folder)
    assert store.settings == {"topic": "birds"}
    assert not store.has_events
    store.close()


def test_a_folder_that_holds_a_crawl_takes_no_other(folder):
    with pytest.raises(HoneyguideError, match="already holds a crawl"):
        create(folder, {})


def test_a_folder_with_another_database_is_left_alone(tmp_path):
    (tmp_path / "crawl.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(HoneyguideError, match="already holds a crawl"):
        create(tmp_path, {})
    with pytest.raises(HoneyguideError, match="is damaged"):
        Store(tmp_path)


def test_a_crawl_killed_while_it_was_created_can_be_created(tmp_path):
    (tmp_path / "crawl.sqlite").touch()
    create(tmp_path, {"a": 1})
    Store(tmp_path).close()


def test_a_folder_without_a_crawl_is_told_so(tmp_path):
    with pytest.raises(HoneyguideError, match=r"holds no crawl: there is no crawl.sqlite in it$"):
        open_crawl(tmp_path)
    sqlite3.connect(tmp_path / "crawl.sqlite").close()
    (tmp_path / "crawl.sqlite").touch()
    with pytest.raises(HoneyguideError, match=r"holds no crawl: its crawl.sqlite is empty"):
        open_crawl(tmp_path)


def test_a_crawl_of_a_newer_version_is_told_so(folder):
    change(folder, "UPDATE about SET value = '99.1' WHERE key = 'version'")
    query(folder, "PRAGMA user_version = 4")
    said = r"was written by honeyguide 99\.1 \(its format is 4, this one, .*, reads 1 to 3\)"
    with pytest.raises(HoneyguideError, match=said):
        Store(folder)
    with pytest.raises(HoneyguideError, match=said):
        status(folder)


def test_a_process_cannot_open_a_crawl_twice(folder):
    store = Store(folder)
    with pytest.raises(HoneyguideError, match="already open in this process"):
        Store(folder)
    store.close()
    Store(folder).close()


# ----------------------------------------------------------------------- going on


def test_a_crawl_in_many_sessions_is_the_crawl_in_one(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshots, "MIN_VISITS", 25)
    for name in ("whole", "parts"):
        create(tmp_path / name, {})
    crawl(tmp_path / "whole", 150)
    for _ in range(10):
        crawl(tmp_path / "parts", 15)
    columns = "url, page_url, title, relevance, score, depth, parent, failure, text"
    sql = f"SELECT {columns} FROM pages ORDER BY n"
    assert query(tmp_path / "parts", sql) == query(tmp_path / "whole", sql)


def test_old_snapshots_go_and_all_events_and_pages_stay(folder, monkeypatch):
    monkeypatch.setattr(snapshots, "MIN_VISITS", 20)
    crawl(folder, 90)
    kept_snapshots = query(folder, "SELECT n FROM snapshots ORDER BY n")
    assert len(kept_snapshots) == 2
    hashes = [row for (row,) in query(folder, "SELECT hashes FROM snapshots")]
    used = {row[at : at + HASH] for row in hashes for at in range(0, len(row), HASH)}
    bases = {base for (base,) in query(folder, "SELECT base FROM pieces") if base}
    assert used <= {name for (name,) in query(folder, "SELECT hash FROM pieces")} <= used | bases
    assert query(folder, "SELECT min(n) FROM journal") == [(1,)]
    assert query(folder, "SELECT count(*) FROM pages") == [(90,)]


_NEWEST = "WHERE n = (SELECT max(n) FROM snapshots)"
NEWEST = {
    "cut": f"UPDATE snapshots SET skeleton = substr(skeleton, 1, 100) {_NEWEST}",
    "flip": f"UPDATE snapshots SET hashes = randomblob(length(hashes)) {_NEWEST}",
    "moved": f"UPDATE snapshots SET now = now + 1 {_NEWEST}",
    "remove": f"DELETE FROM snapshots {_NEWEST}",
    "piece": "UPDATE pieces SET data = randomblob(100) WHERE hash IN (SELECT substr(hashes, 1, 16)"
    f" FROM snapshots {_NEWEST}) AND hash NOT IN (SELECT substr(hashes, 1, 16) FROM snapshots"
    " WHERE n = (SELECT min(n) FROM snapshots))",
}


@pytest.mark.parametrize("damage", NEWEST)
def test_a_damaged_snapshot_costs_only_time(tmp_path, monkeypatch, damage):
    monkeypatch.setattr(snapshots, "MIN_VISITS", 20)
    for name in ("whole", "parts"):
        create(tmp_path / name, {})
    crawl(tmp_path / "whole", 120)
    crawl(tmp_path / "parts", 70)
    change(tmp_path / "parts", NEWEST[damage])
    crawl(tmp_path / "parts", 50)
    assert urls(tmp_path / "parts") == urls(tmp_path / "whole")


def damage_newest(folder):
    """Change a piece that only the newest snapshot has."""
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as connection, connection:
        older, newest = (
            {row[at : at + HASH] for at in range(0, len(row), HASH)}
            for (row,) in connection.execute("SELECT hashes FROM snapshots ORDER BY n")
        )
        name = min(newest - older)
        wanted = "UPDATE pieces SET data = randomblob(100) WHERE hash = ?"
        assert connection.execute(wanted, (name,)).rowcount == 1


def test_a_damaged_piece_is_not_used_again_and_the_whole_snapshot_is_kept(folder):
    table = np.random.default_rng(0).integers(0, 255, 400_000).astype(np.uint8)
    with closing(Store(folder)) as store:
        store.record_seeds([Link(kept.url(0))], 0.0)
        store.snapshot({"table": table[:200_000]})
        store.record_parked(1.0)
        store.snapshot({"table": table})
        store.record_parked(2.0)
    damage_newest(folder)
    with closing(Store(folder)) as store:
        store.replay(Empty())
        store.record_parked(3.0)
        store.snapshot({"table": table})  # its pieces are those that were damaged
        store.flush()
    assert query(folder, "SELECT n FROM snapshots ORDER BY n") == [(1,), (4,)]
    assert query(folder, "SELECT min(n) FROM journal") == [(1,)]
    assert Check(folder).run() == []


def test_a_piece_of_no_newest_snapshot_is_verified_before_it_is_used_again(folder):
    tables = np.random.default_rng(0).integers(0, 255, (2, 70_000)).astype(np.uint8)
    with closing(Store(folder)) as store:
        store.record_seeds([Link(kept.url(0))], 0.0)
        for table in tables:
            store.record_parked(1.0)
            store.snapshot({"table": table})
    [[older]] = query(folder, "SELECT hashes FROM snapshots ORDER BY n LIMIT 1")
    change(folder, f"UPDATE pieces SET data = randomblob(100) WHERE hash = x'{older[:HASH].hex()}'")
    with closing(Store(folder)) as store:
        store.replay(Empty())
        store.record_parked(2.0)
        store.snapshot({"table": tables[0]})
    assert Check(folder).run() == []


def test_without_a_whole_snapshot_the_journal_is_replayed(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(snapshots, "MIN_VISITS", 20)
    crawl(folder, 70)
    change(folder, "UPDATE snapshots SET hashes = x'00'")
    crawl(folder, 1)
    assert query(folder, "SELECT count(*) FROM pages") == [(71,)]


def test_without_a_whole_snapshot_and_journal_the_user_is_told(folder, monkeypatch):
    monkeypatch.setattr(snapshots, "MIN_VISITS", 20)
    crawl(folder, 70)
    change(folder, "UPDATE snapshots SET hashes = x'00'")
    change(folder, "DELETE FROM journal WHERE n < 10")  # as earlier versions did
    with pytest.raises(HoneyguideError, match=r"snapshots are damaged: 'honeyguide check "):
        crawl(folder, 1)


def test_a_damaged_database_is_told_when_a_crawl_goes_on(folder):
    crawl(folder, 30)
    kept.damage_table(folder, "pages")
    with pytest.raises(HoneyguideError, match=r"crawl.sqlite is damaged"):
        crawl(folder, 1)


def test_damage_far_into_what_is_known_of_hosts_is_told_as_well(folder):
    Store(folder).close()
    with closing(database.connect(folder)) as connection:
        rows = [(f"host{number:05}.test", "failures", 1.0, 0) for number in range(5_000)]
        connection.executemany("INSERT INTO hosts VALUES (?,?,?,?)", rows)
        [[size]] = connection.execute("PRAGMA page_size")
    path = folder / database.FILE
    data = bytearray(path.read_bytes())
    block = data.rindex(b"host04999.test") // size * size
    data[block : block + size] = b"\xff" * size
    path.write_bytes(data)
    with closing(Store(folder)) as store, pytest.raises(HoneyguideError, match="is damaged"):
        store.learnt()


def test_links_in_flight_come_first_and_keep_what_they_were_taken_with(folder):
    store = Store(folder)
    steering = RecordingNavigator(kept.navigator(), store)
    kept.crawl(steering, kept.World(), 4, 40)
    before = steering.leases
    store.snapshot(steering.navigator.state())
    steering.choose(10**6)
    assert len(before) > 1
    store.close()
    store = Store(folder)
    again = RecordingNavigator(kept.navigator(), store)
    assert list(again.leases) == list(before)
    for url, lease in before.items():
        assert again.leases[url].link == lease.link
        assert again.leases[url].x.tolist() == lease.x.tolist()
        assert (again.leases[url].id, again.leases[url].score) == (lease.id, lease.score)
    assert [again.choose(0.0).url for _ in before] == list(before)
    store.close()


def test_links_that_were_only_looked_at_stay_aside(folder):
    store = Store(folder)
    steering = RecordingNavigator(kept.navigator(refuses=1.0), store)
    steering.seed([Link(kept.url(0))])
    links = Link(kept.url(1)), Link(kept.url(7))  # the second one's host rests
    page = Page(kept.url(0), links=links)
    steering.absorb(Visit(steering.choose(1.0), page, Verdict(0.0, False)), 1.0)
    assert steering.choose(1.0) is None
    before = steering.navigator.state()
    store.close()
    store = Store(folder)
    again = RecordingNavigator(kept.navigator(refuses=1.0), store)
    assert len(again.frontier) == 1
    assert again.navigator.state()["gate"] == before["gate"]
    store.close()


def test_a_crawl_that_was_killed_before_its_seeds_were_safe_is_seeded(folder):
    Store(folder).close()
    crawl(folder, 5)
    assert urls(folder)[0] == kept.url(0)
    store = Store(folder)
    assert store.has_events
    store.close()


# ----------------------------------------------------------------------- writing


@pytest.mark.parametrize(
    ("visits", "links", "due"),
    [
        (1999, 10, False),
        (2000, 10, True),
        (2000, 1_000_000, False),
        (20_000, 1_000_000, True),
    ],
)
def test_snapshots_come_the_more_rarely_the_more_they_cost(visits, links, due):
    assert snapshots.is_due(visits, links) is due


def test_a_full_database_stops_the_crawl_with_a_clear_sentence(folder):
    store = Store(folder, batch_seconds=0.0)
    steering = RecordingNavigator(kept.navigator(0.1), store)
    pages = store._database.execute("PRAGMA page_count").fetchone()[0]
    store._database.execute(f"PRAGMA max_page_count = {pages + 12}")
    with pytest.raises(HoneyguideError, match=r"the disk is full: 'honeyguide resume .*crawl'"):
        kept.crawl(steering, kept.World(), budget=200)
        store.flush()
    with pytest.raises(HoneyguideError, match="the disk is full"):
        store.close()
    done = len(urls(folder))
    assert 0 < done < 200
    crawl(folder, 10)
    after = urls(folder)
    assert len(set(after)) == len(after) >= done + 10, (
        "what the database had no room for comes back"
    )


def test_events_are_safe_a_moment_after_they_happen(folder):
    store = Store(folder, batch_seconds=0.05)
    steering = RecordingNavigator(kept.navigator(), store)
    kept.crawl(steering, kept.World(), budget=3)
    for _ in range(200):
        if len(urls(folder)) == 3:
            break
        time.sleep(0.02)
    assert len(urls(folder)) == 3
    store.close()


def test_odd_texts_are_kept(folder):
    odd = "a\x00b\ud800c\U0001f41d"
    link = Link(f"http://a.example/{odd}", odd, odd, odd, source=odd)
    page = Page(link.url, odd, odd, (link,))
    response = Response(link, link.url, 200, {"x": f"a\r\nb{odd}"}, b"body")
    store = Store(folder)
    store.record_seeds([link], 0.0)
    store.record_visit(Visit(link, page, Verdict(1.0, True, (odd,)), response, odd), 1.0, 0.0)
    store.close()
    [(title, failure)] = query(folder, "SELECT title, failure FROM pages")
    assert title == failure == "a\ufffdb\ufffdc\U0001f41d"


def test_a_writer_does_everything_in_order_and_commits_it():
    done = []
    writer = Writer(lambda: done.append("commit"), seconds=60, jobs=3)
    for number in range(7):
        writer.put(lambda number=number: done.append(number))
    writer.flush()
    writer.stop()
    assert done == [0, 1, 2, "commit", 3, 4, 5, "commit", 6, "commit"]


def test_a_writer_that_failed_does_nothing_more_and_says_so():
    def fail():
        raise OSError("no")

    done = []
    writer = Writer(lambda: done.append("commit"))
    writer.put(fail)
    with pytest.raises(OSError, match="no"):
        writer.flush()
    with pytest.raises(OSError, match="no"):
        writer.put(lambda: done.append(1))
    writer.stop()
    assert not done


def test_whoever_outruns_the_disk_waits_for_it():
    gate = threading.Event()
    writer = Writer(lambda: None, max_waiting=100)
    writer.put(gate.wait, 90)
    threading.Timer(0.2, gate.set).start()
    begin = time.monotonic()
    writer.put(lambda: None, 90)
    assert time.monotonic() - begin > 0.15
    writer.stop()


def test_a_lock_that_cannot_be_written_is_one_sentence(folder):
    (folder / "lock").unlink()
    (folder / "lock").mkdir()
    with pytest.raises(HoneyguideError, match=r"cannot write .*lock: Is a directory"):
        Store(folder)
    with pytest.raises(HoneyguideError, match=r"cannot write .*lock: Is a directory"):
        create(folder, {})


def test_a_failure_to_create_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(HoneyguideError, match="cannot write to"):
        create(tmp_path / "file" / "crawl", {})
    assert not database.holds_crawl(tmp_path / "nowhere")


def test_a_lock_that_somebody_looks_at_is_waited_for(folder, monkeypatch):
    tries = []

    def busy_at_first(file, shared=False):
        tries.append(file)
        if len(tries) < 3:
            raise BlockingIOError

    monkeypatch.setattr(lock, "_lock", busy_at_first)
    Store(folder).close()
    assert len(tries) == 3


def test_a_lock_holds_on_a_disk_that_is_too_full_for_its_number(tmp_path, monkeypatch):
    def full(file, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(lock, "write_all", full)
    held = lock.Lock(tmp_path)
    with pytest.raises(HoneyguideError, match="already open"):
        lock.Lock(tmp_path)
    held.release()


def test_who_may_only_read_sees_what_is_not_yet_in_the_file_itself(folder, monkeypatch):
    store = Store(folder)
    kept.crawl(RecordingNavigator(kept.navigator(), store), kept.World(), 3, budget=20)
    store.flush()
    monkeypatch.setattr(database.os, "access", lambda *_: False)
    with database.reading(folder) as opened:
        assert opened.execute("SELECT count(*) FROM pages").fetchone() == (20,)
    store.close()


class Counting(kept.World):
    """A web that notes what it was asked for."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def visit(self, link):
        self.asked.append(link.url)
        return super().visit(link)


@pytest.mark.parametrize("in_flight", [1, 5])
def test_a_crawl_whose_choices_would_be_others_now_goes_on_from_those_it_made(folder, in_flight):
    store = Store(folder)
    kept.crawl(RecordingNavigator(kept.navigator(), store), kept.World(), in_flight, budget=120)
    store.close()
    before = urls(folder)
    store = Store(folder)
    changed = kept.navigator(refuses=0.3)
    changed.agent.score = lambda links: -links.x[:, 0]
    steering, world = RecordingNavigator(changed, store), Counting()
    assert store.differing > 20
    kept.crawl(steering, world, in_flight, now=steering.started_at)
    store.close()
    after = urls(folder)
    assert after[:120] == before
    assert len(after) == len(set(after))
    assert not set(before) & set(world.asked)


def test_a_warc_file_that_lost_its_end_loses_no_more(folder):
    crawl(folder, 20)
    [file] = (folder / "warc").glob("*.warc.gz")
    kept_bytes = file.read_bytes()[:-10]
    file.write_bytes(kept_bytes)
    for _ in range(3):  # neither of them writes a page
        store = Store(folder)
        store.record_parked(1e6)
        store.close()
        assert file.read_bytes() == kept_bytes
    assert [*query(folder, "SELECT value FROM about WHERE key = 'warc'")] == [(file.name,)]


def test_a_warc_file_is_never_cut_off_before_what_a_page_speaks_of(folder):
    crawl(folder, 20)
    [file] = (folder / "warc").glob("*.warc.gz")
    whole = file.read_bytes()
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as connection, connection:
        database.put_about(connection, {"warc_size": 0})
    repair(folder)
    assert file.read_bytes() == whole
    Store(folder).close()
    assert file.read_bytes() == whole


def test_closing_a_second_time_does_nothing(folder):
    store = Store(folder)
    store.close()
    second = threading.Thread(target=store.close, daemon=True)
    second.start()
    second.join(30)
    assert not second.is_alive()
    Store(folder).close()
