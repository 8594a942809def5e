"""Events that the database does not have yet outlive the process."""

import random
import shutil
import sqlite3
import threading
import tracemalloc
from contextlib import closing
from itertools import pairwise

import pytest

from honeyguide.contracts import Link, OfHost, Page, Response, Verdict, Visit
from honeyguide.disk.serialise import pack_visit
from honeyguide.errors import HoneyguideError
from honeyguide.storage import recent
from honeyguide.storage.check import Check
from honeyguide.storage.database import create
from honeyguide.storage.recent import Absorbed, absorbed_from, absorbed_row
from honeyguide.storage.repair import repair
from honeyguide.storage.store import RecordingNavigator, Store
from tests import kept


def killed(tmp_path, pages):
    """The folder of a crawl that was killed before its first commit after the seeds."""
    create(tmp_path / "running", {})
    store = Store(tmp_path / "running", batch_seconds=10_000, warc_bytes=60_000)
    kept.crawl(RecordingNavigator(kept.navigator(0.1), store), kept.World(), 3, pages)
    idle = threading.Event()  # the files do not change while they are copied
    store._writer.put(idle.set)
    idle.wait()
    shutil.copytree(tmp_path / "running", tmp_path / "killed")
    store.close()
    return tmp_path / "killed"


def pages(folder):
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database:
        wanted = "SELECT url, score, relevance, title, failure, bytes, warc FROM pages ORDER BY n"
        return database.execute(wanted).fetchall()


def test_a_crawl_that_was_killed_before_a_commit_has_lost_nothing(tmp_path):
    folder = killed(tmp_path, 60)
    assert len(pages(folder)) == 0
    store = Store(folder, warc_bytes=60_000)
    recorded = RecordingNavigator(kept.navigator(0.1), store)
    assert recorded.memory.visits == 60
    assert store.differing == 0
    assert not list(folder.glob("recent*"))
    store.close()
    assert pages(folder) == pages(tmp_path / "running")


@pytest.mark.parametrize("seed", range(8))
def test_what_a_loss_of_power_takes_of_it_has_not_happened(tmp_path, seed):
    folder, rng = killed(tmp_path, 25), random.Random(seed)
    file = folder / recent.NAMES[0]
    data = bytearray(file.read_bytes())
    if seed % 2:
        del data[rng.randrange(len(data)) :]
    else:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    file.write_bytes(data)
    with closing(Store(folder, warc_bytes=60_000)) as store:
        RecordingNavigator(kept.navigator(0.1), store)
        assert store.differing == 0
    whole = pages(tmp_path / "running")
    assert pages(folder) == whole[: len(pages(folder))]
    assert len(pages(folder)) < 25


def test_two_files_take_turns_and_stay_small(tmp_path, monkeypatch):
    monkeypatch.setattr(recent, "_FULL", 3000)
    create(tmp_path / "crawl", {})
    store = Store(tmp_path / "crawl", batch_seconds=0.0)
    steering, sizes = RecordingNavigator(kept.navigator(), store), []

    class Watched(kept.World):
        def visit(self, link):
            store.flush()
            sizes.append([(tmp_path / "crawl" / n).stat().st_size for n in recent.NAMES])
            return super().visit(link)

    kept.crawl(steering, Watched(), budget=100)
    store.close()
    assert max(map(max, sizes)) < 3000 + 10_000
    for file in (0, 1):
        assert any(after[file] < before[file] for before, after in pairwise(sizes))


def test_every_part_of_a_visit_comes_back():
    link = Link("http://a.example/\udc80", "anchor", "context", "html/a", 3, "http://b.example/")
    headers = {"content-type": "text/html", "x": "\udcff"}
    response = Response(link, "http://c.example/", 200, headers, b"\x00body", "truncated", 0.25)
    page = Page("http://c.example/", "Title \ud800", "Text", (Link("http://d.example/"),))
    learnt = (OfHost("a.example", "failures", 2.0), OfHost("a.example", "robots.txt", b"\xff"))
    visit = Visit(link, page, Verdict(0.5, True, ("why",)), response, "", 1.5, 2.0, True, learnt)
    counted = Verdict(0.25, False, ("a copy",))
    absorbed = Absorbed(visit, pack_visit(visit), counted, -0.5, 1e9, {"waiting": 7})
    row = recent.unpack_row(recent.pack_row(absorbed_row(absorbed)))
    assert absorbed_from(row) == absorbed


def test_a_link_in_the_place_of_recent_events_is_not_followed(tmp_path):
    folder = killed(tmp_path, 5)
    victim = tmp_path / "victim"
    victim.write_bytes((folder / recent.NAMES[0]).read_bytes())
    (folder / recent.NAMES[0]).unlink()
    (folder / recent.NAMES[0]).symlink_to(victim)
    with pytest.raises(HoneyguideError, match="symbolic link"):
        Store(folder)
    assert victim.exists()


def damage(folder, sql):
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database, database:
        assert database.execute(sql).rowcount > 0


def test_a_repair_that_keeps_the_last_event_keeps_what_follows_it(tmp_path):
    folder = killed(tmp_path, 25)
    damage(folder, "UPDATE about SET value = 7 WHERE key = 'started'")
    done, left = repair(folder)
    unfinished = "which a killed crawl left unfinished and no page refers to"
    assert done == [
        "counted again, or dropped, figures of the crawl: started",
        f"cut off the end of pages-00001.warc.gz, {unfinished}",
        f"cut off the end of pages-00002.warc.gz, {unfinished}",
    ]
    assert {finding.kind for finding in left} == {"waiting"}
    Store(folder, warc_bytes=60_000).close()
    assert pages(folder) == pages(tmp_path / "running")


def test_a_repair_that_goes_back_says_that_it_drops_what_followed(tmp_path):
    folder = killed(tmp_path, 25)
    Store(folder).close()
    store = Store(folder)
    store.record_parked(1e6)
    copy = shutil.copytree(folder, tmp_path / "again")
    store.close()
    [[last]] = sqlite3.connect(copy / "crawl.sqlite").execute("SELECT max(n) FROM journal")
    damage(copy, f"UPDATE journal SET now = -1 WHERE n = {last}")
    done, left = repair(copy)
    said = f"they follow event {last}, and the last one is now {last - 1}"
    assert done[-1] == f"dropped recent events: {said}"
    assert not list(copy.glob("recent*"))
    assert not any(finding.is_damage for finding in left)


def ends(data):
    """Where the head, each record and the last one end."""
    place = len(recent._BEGIN)
    yield place
    while place < len(data):
        _, _, length, _ = recent._HEAD.unpack_from(data, place)
        place += recent._HEAD_BYTES + length
        yield place


def findings(folder):
    return {finding.kind for finding in Check(folder).run() if finding.is_damage}


def test_events_that_wait_and_an_end_that_was_never_finished_are_no_finding(tmp_path):
    folder = killed(tmp_path, 10)
    file = folder / recent.NAMES[0]
    data = file.read_bytes()
    *_, before, last = ends(data)
    assert last == len(data)
    for torn in (data, data[:-1], data[: before + 3], data + bytes(5000), data[:5], b""):
        file.write_bytes(torn)
        assert findings(folder) == set()


@pytest.mark.parametrize("where", ["head", "row", "begin"])
def test_damage_among_recent_events_is_found_and_what_is_before_it_is_kept(tmp_path, where):
    folder = killed(tmp_path, 25)
    file = folder / recent.NAMES[0]
    data = bytearray(file.read_bytes())
    tenth = list(ends(data))[9]
    data[{"head": tenth + 5, "row": tenth + recent._HEAD_BYTES + 2, "begin": 2}[where]] ^= 1
    file.write_bytes(data)
    assert findings(folder) == {"recent"}
    done, left = repair(folder)
    kept_events = 0 if where == "begin" else 9
    said = {
        9: " that cannot be used: 9 recent events after event 1 are kept",
        0: ", which cannot be used: the crawl is at event 1",
    }
    assert done[0] == f"dropped the recent events{said[kept_events]}"
    assert {finding.kind for finding in left} <= {"waiting"}
    with closing(Store(folder)) as store:
        assert store._n == 1 + kept_events


def test_a_recent_event_that_does_not_fit_is_found_and_dropped(tmp_path):
    folder = killed(tmp_path, 5)
    events = list(recent.read(folder, 1))
    odd = [event._replace(kind="later") if event.n == 4 else event for event in events]
    recent.write(folder, odd)
    with pytest.raises(HoneyguideError, match=r"recent-1.events is damaged: 'honeyguide check"):
        Store(folder)
    assert findings(folder) == {"recent"}
    assert {finding.kind for finding in repair(folder)[1]} == {"waiting"}
    with closing(Store(folder)) as store:
        assert store._n == 3


def test_recent_events_that_do_not_go_on_from_the_last_one_are_found(tmp_path):
    folder = killed(tmp_path, 5)
    recent.write(folder, [event for event in recent.read(folder, 1) if event.n > 3])
    [finding] = [each for each in Check(folder).run() if each.is_damage]
    where = "between the end of crawl.sqlite and recent-0.events"
    assert finding.what == f"events 2 to 3 are missing {where}: those after cannot be used"
    assert not any(finding.is_damage for finding in repair(folder)[1])
    assert not list(folder.glob("recent*"))


def test_a_file_of_another_format_is_not_taken_for_damage(tmp_path):
    folder = killed(tmp_path, 5)
    file = folder / recent.NAMES[0]
    data = b"honeyguide events 2\n" + file.read_bytes()[len(recent._BEGIN) :]
    file.write_bytes(data)
    with pytest.raises(HoneyguideError, match="written by another version"):
        Store(folder)
    assert findings(folder) == {"recent"}
    repair(folder)
    assert file.read_bytes() == data


@pytest.mark.parametrize("begin", [b"", recent._BEGIN, recent._BEGIN + recent._record(2, b"x")])
def test_a_huge_file_is_told_and_takes_no_memory(tmp_path, begin):
    folder = killed(tmp_path, 5)
    with (folder / recent.NAMES[0]).open("wb") as file:
        file.write(begin)
        file.truncate(8 << 30)  # sparse
    tracemalloc.start()
    try:
        assert findings(folder) == {"recent"}
        assert repair(folder)[1] == []
        assert tracemalloc.get_traced_memory()[1] < 1 << 25
    finally:
        tracemalloc.stop()
    Store(folder).close()
