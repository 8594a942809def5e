"""honeyguide check: what is damaged is named, what can be rebuilt is."""

import inspect
import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from honeyguide.contracts import Request
from honeyguide.engine.orders import Budget, Standing
from honeyguide.errors import HoneyguideError
from honeyguide.storage import database, recent
from honeyguide.storage.check import Check
from honeyguide.storage.database import create
from honeyguide.storage.exports import export
from honeyguide.storage.ledger import Ledger
from honeyguide.storage.repair import repair
from honeyguide.storage.store import RecordingNavigator, Store
from honeyguide.storage.verdicts import JudgeChange
from tests import kept

from .test_store_flips import Learning, crawl, finished, resumed

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return finished(tmp_path_factory.mktemp("made") / "crawl", 70)


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "crawl")


def change(folder, sql):
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as connection, connection:
        assert connection.execute(sql).rowcount > 0


def ask(folder, sql):
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as connection:
        return connection.execute(sql).fetchall()


def kinds(findings):
    return {finding.kind for finding in findings if finding.is_damage}


def last_event(folder):
    return ask(folder, "SELECT max(n) FROM journal")[0][0]


def run(*words):
    command = [sys.executable, "-m", "honeyguide", "check", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_the_command_says_what_is_wrong_and_mends_it(folder):
    done = run(folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{folder}: all is well\n", "")
    index = folder / "warc" / "pages-00001.cdxj"
    index.write_text("nonsense\n")
    done = run(folder)
    assert done.returncode == 1
    assert "pages-00001.cdxj does not agree with pages-00001.warc.gz" in done.stdout
    assert index.read_text() == "nonsense\n"
    done = run(folder, "--repair", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout) == {
        "well": True,
        "repaired": ["rebuilt pages-00001.cdxj from pages-00001.warc.gz"],
        "findings": [],
    }
    done = run(folder.parent / "nowhere")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


def test_a_crawl_in_use_is_looked_at_and_not_repaired(folder):
    with closing(Store(folder)):
        assert kinds(Check(folder).run()) == set()
        with pytest.raises(HoneyguideError, match="already open"):
            repair(folder)
        with max((folder / "warc").glob("*.warc.gz")).open("ab") as file:
            file.write(b"half a record")
        assert "note:" not in run(folder).stdout
        done = run(folder, "--repair")
        assert done.returncode == 1
        assert "is in use by process" in done.stderr


def test_a_killed_crawl_is_no_damage_and_its_unfinished_records_are_cut_off(tmp_path):
    store = crawl(tmp_path / "crawl", 30)
    store.flush()
    copy = shutil.copytree(tmp_path / "crawl", tmp_path / "killed")
    store.close()
    path = max((copy / "warc").glob("*.warc.gz"))
    whole = path.read_bytes()
    path.write_bytes(whole + b"half a record")
    assert {finding.kind for finding in Check(copy).run()} == {"tail"}
    said = f"cut off the end of {path.name}, which a killed crawl left unfinished"
    assert repair(copy) == ([f"{said} and no page refers to"], [])
    assert path.read_bytes() == whole


def test_a_damaged_newest_snapshot_is_dropped_and_nothing_is_lost(folder, tmp_path):
    right = resumed(shutil.copytree(folder, tmp_path / "right"))
    change(folder, "UPDATE snapshots SET now = 0 WHERE n = (SELECT max(n) FROM snapshots)")
    assert kinds(Check(folder).run()) == {"snapshot"}
    done, left = repair(folder)
    assert "dropped the damaged snapshot after event" in done[0]
    assert left == []
    assert resumed(folder) == right


def test_damage_before_the_newest_snapshot_costs_nothing(folder, tmp_path):
    right = resumed(shutil.copytree(folder, tmp_path / "right"))
    change(folder, "UPDATE journal SET now = -1 WHERE n = (SELECT min(n) + 1 FROM journal)")
    assert kinds(Check(folder).run()) == {"journal"}
    done, left = repair(folder)
    assert "the snapshot after them is intact" in done[0]
    assert left == []
    assert resumed(folder) == right


@pytest.mark.parametrize("how", ["UPDATE journal SET now = -1", "DELETE FROM journal"])
def test_a_journal_is_taken_back_to_before_the_damage(folder, how):
    n = last_event(folder) - 6
    change(folder, f"{how} WHERE n = {n}")
    with pytest.raises(HoneyguideError, match=rf"event {n} of its journal is damaged: 'honeyguide"):
        resumed(folder)
    assert kinds(Check(folder).run()) == {"journal"}
    done, left = repair(folder)
    assert f"went back to event {n - 1}" in done[0]
    assert kinds(left) == set()
    resumed(folder)
    with closing(Store(folder)) as store:
        steering = RecordingNavigator(kept.navigator(0.1), store)
        kept.crawl(steering, Learning(), 1, 20, steering.started_at)
    assert kinds(Check(folder).run()) == set()
    urls = [url for (url,) in ask(folder, "SELECT url FROM pages")]
    assert len(urls) == len(set(urls))


def test_the_end_of_a_journal_cannot_get_lost_unseen(folder):
    change(folder, f"DELETE FROM journal WHERE n = {last_event(folder)}")
    with pytest.raises(HoneyguideError, match="the end of its journal"):
        resumed(folder)
    assert "journal" in kinds(Check(folder).run())


def test_a_page_is_read_again_from_its_records(folder, tmp_path):
    [(n, url, status, size)] = ask(
        folder, "SELECT n, url, status, bytes FROM pages WHERE status = 200 AND n < 20 LIMIT 1"
    )
    change(folder, f"UPDATE pages SET title = 'x', text = zeroblob(9) WHERE n = {n}")
    assert kinds(Check(folder).run()) == {"page"}
    done, left = repair(folder)
    assert done == [
        f"rebuilt the page of event {n} from pages-00001.warc.gz; its reasons may be lost"
    ]
    assert left == []
    assert ask(folder, f"SELECT url, status, bytes FROM pages WHERE n = {n}") == [
        (url, status, size)
    ]
    assert export(folder, "jsonl", tmp_path / "out.jsonl").pages > 20


def test_a_page_whose_records_are_gone_is_named(folder):
    [(n,)] = ask(folder, "SELECT min(n) FROM pages WHERE warc IS NULL")
    change(folder, f"UPDATE pages SET failure = 'x' WHERE n = {n}")
    done, left = repair(folder)
    [newest] = ask(folder, "SELECT max(n) FROM snapshots")[0]
    assert done == [f"dropped the events up to {newest}: the snapshot after them is intact"]
    assert [finding.what for finding in left] == [f"the page of event {n} is damaged"]


def test_a_needed_page_that_is_damaged_is_told_by_resume(folder):
    [(n,)] = ask(folder, "SELECT max(n) FROM pages")
    change(folder, f"UPDATE pages SET text = NULL WHERE n = {n}")
    with pytest.raises(HoneyguideError, match=rf"the page of event {n} is damaged: 'honeyguide"):
        resumed(folder)


def test_settings_that_are_damaged_are_named(folder):
    change(folder, "UPDATE about SET value = '{}' WHERE key = 'settings'")
    with pytest.raises(HoneyguideError, match=r"the crawl's 'settings' is damaged: 'honeyguide"):
        Store(folder)
    assert kinds(repair(folder)[1]) == {"about"}


def test_what_a_crawl_knows_of_itself_is_found_again(folder, tmp_path):
    right = resumed(shutil.copytree(folder, tmp_path / "right"))
    before = dict(ask(folder, "SELECT key, value FROM about"))
    change(folder, "UPDATE about SET value = 7 WHERE key NOT IN ('settings', 'version')")
    assert kinds(Check(folder).run()) == {"about"}
    assert repair(folder)[1] == []
    after = dict(ask(folder, "SELECT key, value FROM about"))
    for name in ("events", "visits", "hosts", "unchecked", "warc", "warc_size"):
        assert after[name] == before[name]
    assert resumed(folder) == right


def test_damaged_knowledge_of_hosts_is_forgotten(folder):
    change(folder, "UPDATE hosts SET value = 99 WHERE what = 'failures' AND host LIKE 'h1%'")
    assert kinds(Check(folder).run()) == {"host"}
    done, left = repair(folder)
    assert done[0] == "dropped 1 fact about hosts: it is learnt again"
    assert left == []
    resumed(folder)


def test_bodies_that_are_gone_are_named(folder):
    (folder / "warc" / "pages-00001.warc.gz").unlink()
    found = Check(folder).run()
    said = "pages-00001.warc.gz is missing, and with it the bodies of"
    assert any(said in each.what for each in found)


def test_rows_that_speak_of_other_records_are_named(folder):
    copy = sqlite3.connect(folder / "crawl.sqlite")
    with closing(copy), copy:
        copy.create_function("checked", -1, lambda *row: database.with_checksum(*row)[-1])
        names = [row[1] for row in copy.execute("PRAGMA table_info(pages)")][:-1]
        copy.execute("UPDATE pages SET warc_length = warc_length + 1 WHERE warc_offset > 0")
        copy.execute(f"UPDATE pages SET checksum = checked({', '.join(names)})")
    assert kinds(Check(folder).run()) == {"warc"}


@pytest.mark.parametrize("table", ["journal", "pages", "pieces", "hosts", "snapshots"])
def test_a_table_that_is_gone_costs_what_only_it_knew(folder, table):
    kept.damage_table(folder, table)
    assert "database" in kinds(Check(folder).run())
    done, left = repair(folder)
    assert done[0] == "rebuilt crawl.sqlite from the rows that can be read"
    assert kinds(left) <= {"warc"}
    resumed(folder)
    assert not list(folder.glob("*.before")) and not list(folder.glob("*.unfinished"))


def test_a_repair_that_fails_leaves_the_database_as_it_was(folder):
    kept.damage_table(folder, "about")
    before = (folder / "crawl.sqlite").read_bytes()
    done, left = repair(folder)
    assert (done, kinds(left)) == ([], {"database"})
    assert (folder / "crawl.sqlite").read_bytes() == before
    assert not list(folder.glob("*.before"))


KINDS = {  # methods of the ledger that write an event, and its kind on disk
    "write_seeds": "seed",
    "write_choice": "take",
    "write_parked": "look",
    "write_memory_limit": "bound",
    "write_visit": "visit",
    "write_revision": "revise",
    "write_judge": "judge",
    "write_order": "order",
}


def killed_with_every_event(tmp_path):
    """The folder of a killed crawl whose last events are not in the database."""
    create(tmp_path / "running", {"topic": "birds"})
    with closing(Store(tmp_path / "running", batch_seconds=10_000)) as store:
        kept.crawl(RecordingNavigator(kept.navigator(0.1), store, 10**8), Learning(), 1, 20)
        store.record_parked(1e6)
        store.record_revision([], 1e6)
        store.record_judge({"judge": "keywords"}, JudgeChange({}), {})
        store.record_order("1.json", Budget(7), 1e6, Standing(), {"budget": 7})
        for number in (1, 2):
            store.record_memory_limit(10**8 + number, 1e6)
        store.record_parked(1e6)
        return shutil.copytree(tmp_path / "running", tmp_path / "killed")


def test_every_kind_of_event_that_is_written_passes(tmp_path):
    folder = killed_with_every_event(tmp_path)
    Store(folder).close()
    kinds_written = {kind for (kind,) in ask(folder, "SELECT DISTINCT kind FROM journal")}
    assert {name for name, each in vars(Ledger).items() if is_event(each)} == set(KINDS)
    assert kinds_written == set(KINDS.values())
    assert Check(folder).run() == []


def is_event(each):
    """Whether it is a method of a ledger that writes an event: it takes the number and the time."""
    return (
        inspect.isfunction(each)
        and not each.__name__.startswith("_")
        and (list(inspect.signature(each).parameters)[1:3] == ["n", "now"])
    )


def test_a_healthy_killed_crawl_is_left_exactly_as_it_is(tmp_path):
    folder = killed_with_every_event(tmp_path)
    before = contents(folder)
    assert set(recent.NAMES) & set(before)
    assert "crawl.sqlite-wal" in before
    said = "crawl.sqlite ends at event 45: 4 later events wait in recent-0.events"
    [note] = Check(folder).run()
    assert (note.what, note.is_damage) == (f"{said}, and resuming imports them", False)
    assert repair(folder) == ([], [note])
    assert contents(folder) == before
    with closing(Store(folder)) as store:
        steering = RecordingNavigator(kept.navigator(0.1), store)
        assert steering.navigator.max_bytes == 10**8 + 2
        assert steering.memory.visits == 20


def contents(folder):
    """What is in each file but those that say who has it open."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    passing = ("lock", "crawl.sqlite-shm")
    return {path.name: path.read_bytes() for path in files if path.name not in passing}


def test_requests_are_kept_when_the_database_is_written_anew(folder):
    with closing(Store(folder)) as store:
        for number in range(5):
            store.record_request(
                Request("a.example", f"http://a.example/{number}", 1e9 + number, 0.1, 200)
            )
    before = ask(folder, "SELECT * FROM requests")
    kept.damage_table(folder, "pieces")
    repair(folder)
    assert ask(folder, "SELECT * FROM requests") == before
    assert len(before) == 5
