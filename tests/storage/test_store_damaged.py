"""Damaged crawl folders, as their users meet them: what is told, what is left, what helps."""

import shutil
import tracemalloc
from contextlib import closing

import pytest
from typer.testing import CliRunner

from honeyguide.cli import app
from honeyguide.errors import HoneyguideError
from honeyguide.recorded.importers.warc import import_warc
from honeyguide.storage import recent
from honeyguide.storage.check import Check
from honeyguide.storage.database import create
from honeyguide.storage.log import has_lost_commits
from honeyguide.storage.repair import repair
from honeyguide.storage.store import RecordingNavigator, Store
from tests import kept

from .test_store_check import ask
from .test_store_flips import Learning, flip, resumed, whole  # noqa: F401

WARC = "pages-00001.warc.gz"


@pytest.fixture
def folder(whole, tmp_path):  # noqa: F811
    return shutil.copytree(whole, tmp_path / "crawl")


def run(*words):
    """The lines that a command prints, or the sentence that it ends with."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exception is None or isinstance(done.exception, HoneyguideError | SystemExit)
    if isinstance(done.exception, HoneyguideError):
        return [f"honeyguide: {done.exception}"]
    return done.output.splitlines()


def bodies(folder, name=WARC):
    return ask(folder, f"SELECT count(*) FROM pages WHERE warc = '{name}'")[0][0]


def cut(path, size):
    path.write_bytes(path.read_bytes()[:size])


# ----------------------------------------------------------------------- the database


FIRST_BYTES = {
    "nothing": lambda path: path.write_bytes(b""),
    "a few bytes": lambda path: cut(path, 50),
    "other bytes": lambda path: path.write_bytes(b"XXXX" + path.read_bytes()[4:]),
}


@pytest.mark.parametrize("what", FIRST_BYTES)
def test_a_database_without_its_first_bytes_is_told_with_what_can_still_be_used(
    folder, tmp_path, what
):
    count = sum(bodies(folder, path.name) for path in (folder / "warc").glob("*.gz"))
    FIRST_BYTES[what](folder / "crawl.sqlite")
    for flags in ([], ["--repair"]):
        told, *notes, in_all = run("check", folder, *flags)
        assert told.startswith("crawl.sqlite is ") and "rebuilt" in told
        rescue = f"'honeyguide import warc {folder / 'warc'} NEW' makes a recorded web"
        assert notes[-1].startswith(f"note: {rescue}")
        assert in_all.startswith(f"{folder}: 1 finding")
        assert not any("--repair" in line for line in (told, *notes, in_all))
    assert import_warc([folder / "warc"], tmp_path / "new")["pages"] == count
    for command in (["status"], ["resume"], ["report"], ["export", "--out", tmp_path / "o.csv"]):
        [line] = run(command[0], folder, *command[1:])
        assert line.endswith(f": 'honeyguide check {folder}' shows what can still be used")


def test_bodies_without_a_database_are_told_once_for_each_file(folder):
    cut(folder / "crawl.sqlite", 50)
    expected = [
        f"note: {path.name} holds the bodies of {bodies_in(path)} pages that can still be read"
        for path in sorted((folder / "warc").glob("*.warc.gz"))
    ]
    assert [line for line in run("check", folder) if "holds the" in line] == expected


def bodies_in(path):
    return len(path.with_name(path.name.replace("warc.gz", "cdxj")).read_text().splitlines())


def test_a_database_that_lost_its_end_is_rebuilt_from_the_rows_before(folder):
    path = folder / "crawl.sqlite"
    pages = ask(folder, "SELECT url, title FROM pages")
    cut(path, path.stat().st_size * 3 // 4)
    assert "damaged or cut off" in run("check", folder)[0]
    done, _ = repair(folder)
    assert done[0] == "rebuilt crawl.sqlite from the rows that can be read"
    assert len(set(ask(folder, "SELECT url, title FROM pages")) & set(pages)) > 20


def test_a_repair_that_fails_says_why_and_does_not_advise_itself(folder):
    kept.damage_table(folder, "about")
    lines = run("check", folder, "--repair")
    said = "crawl.sqlite could not be repaired, and is as it was: its settings are lost"
    assert any(line.startswith(said) for line in lines)
    assert not any("--repair" in line for line in lines)
    assert "--repair" in run("check", folder)[-1]


@pytest.mark.parametrize("format", [0, -3, 1 << 20])
def test_a_format_that_no_version_writes_is_damage(folder, format):
    ask(folder, f"PRAGMA user_version = {format}")
    [finding] = [each for each in Check(folder).run() if each.is_damage]
    assert finding.what == f"crawl.sqlite is damaged: no crawl has format {format}"
    with pytest.raises(HoneyguideError, match=f"no crawl has format {format}: 'honeyguide check"):
        Store(folder)
    assert repair(folder)[1] == []
    resumed(folder)


def test_a_crawl_of_a_newer_version_is_never_written_anew(folder):
    ask(folder, "PRAGMA user_version = 4")
    before = (folder / "crawl.sqlite").read_bytes()
    done, [finding] = repair(folder)
    assert (done, finding.kind) == ([], "version")
    assert (folder / "crawl.sqlite").read_bytes() == before


def test_the_log_of_an_empty_database_is_left_alone(killed, tmp_path):
    folder, _ = killed
    log = (folder / "crawl.sqlite-wal").read_bytes()
    (folder / "crawl.sqlite").write_bytes(b"")
    for command in (["check"], ["check", "--repair"], ["status"], ["resume"], ["report"]):
        assert "crawl.sqlite is cut off" in run(*command, folder)[0]
    with pytest.raises(HoneyguideError, match="already holds a crawl"):
        create(folder, {})
    assert (folder / "crawl.sqlite-wal").read_bytes() == log


def test_a_crawl_is_not_begun_over_the_bodies_of_another(folder):
    (folder / "crawl.sqlite").unlink()
    before = (folder / "warc" / WARC).read_bytes()
    with pytest.raises(HoneyguideError, match="holds the bodies of another crawl, in warc"):
        create(folder, {})
    assert (folder / "warc" / WARC).read_bytes() == before
    assert not (folder / "crawl.sqlite").exists()


# ----------------------------------------------------------------------- no crawl


def not_there(path):
    return f"{path} does not exist"


def a_file(path):
    path.write_text("hello")
    return f"{path} is a file: give the folder that holds the crawl"


def an_empty_folder(path):
    path.mkdir()
    return f"{path} holds no crawl: there is no crawl.sqlite in it"


def a_folder_in_a_folder(path):
    (path / "crawl.sqlite").mkdir(parents=True)
    return f"{path} holds no crawl: its crawl.sqlite is a folder"


def an_empty_database(path):
    path.mkdir()
    (path / "crawl.sqlite").touch()
    return f"{path} holds no crawl: its crawl.sqlite is empty"


def another_database(path):
    path.mkdir()
    ask(path, "CREATE TABLE birds (name)")
    return f"{path} holds no crawl: its crawl.sqlite is a database of something else"


def bodies_alone(path):
    (path / "warc").mkdir(parents=True)
    (path / "warc" / WARC).touch()
    rescue = f"'honeyguide import warc {path / 'warc'} NEW' makes a recorded web of the bodies"
    return f"{path} holds no crawl: there is no crawl.sqlite in it; {rescue}"


NO_CRAWLS = [not_there, a_file, an_empty_folder, a_folder_in_a_folder, an_empty_database]
NO_CRAWLS += [another_database, bodies_alone]


@pytest.mark.parametrize("make", NO_CRAWLS)
def test_where_no_crawl_is_every_command_says_so_and_leaves_nothing(tmp_path, make):
    path = tmp_path / "place"
    expected = make(path)
    before = sorted(tmp_path.rglob("*"))
    for command in (["check"], ["check", "--repair"], ["status"], ["resume"], ["report"]):
        assert run(*command, path) == [f"honeyguide: {expected}"]
    assert run("export", path, "--out", tmp_path / "out.csv") == [f"honeyguide: {expected}"]
    assert sorted(tmp_path.rglob("*")) == before


# ----------------------------------------------------------------------- bodies and indexes


def test_only_the_page_whose_record_is_damaged_is_called_lost(folder):
    wanted = f"SELECT n, warc_offset FROM pages WHERE warc = '{WARC}' ORDER BY n LIMIT 1 OFFSET 5"
    [[n, offset]] = ask(folder, wanted)
    flip(folder / "warc" / WARC, offset + 400, 3)
    told, lost = [finding.what for finding in Check(folder).run()]
    assert told.startswith(f"{WARC}: the record at byte {offset} ")
    assert "Error -" not in told
    assert lost == f"the body of 1 page cannot be read from {WARC} (event {n})"


def test_an_index_is_told_by_its_own_name(folder, tmp_path):
    index = folder / "warc" / "pages-00001.cdxj"
    lines = index.read_text()
    index.write_text(lines + "nonsense\n")
    assert run("check", folder)[0] == f"{index.name} does not agree with {WARC}: 1 line is wrong"
    index.unlink()
    assert run("check", folder)[0] == f"{index.name}, the index of {WARC}, is missing"
    (tmp_path / "elsewhere").write_text(lines)
    index.symlink_to(tmp_path / "elsewhere")
    [finding] = Check(folder).run()
    assert finding.what.startswith(f"{index.name} cannot be read: ")
    assert repair(folder) == ([f"rebuilt {index.name} from {WARC}"], [])
    assert not index.is_symlink()


def test_who_resumes_is_warned_of_bodies_that_are_gone(tmp_path):
    folder = kept_with_bodies(tmp_path)
    assert warnings(folder) == []
    count = bodies(folder)
    [[offset]] = ask(folder, f"SELECT max(warc_offset) FROM pages WHERE warc = '{WARC}'")
    cut(folder / "warc" / WARC, offset)
    said = f"{WARC} is cut off at byte {offset}: the body of 1 page is lost"
    assert warnings(folder) == [said]
    (folder / "warc" / WARC).unlink()
    said = f"{WARC} is missing, and with it the bodies of {count} pages"
    assert warnings(folder) == [said]
    assert f"honeyguide: {said}" in run("resume", folder)


def kept_with_bodies(tmp_path):
    """A crawl that any command goes on with, of which the budget is spent."""
    plan = {"world": "synthetic:pages=1000", "seeds": ["geology"], "judge": "label:geology"}
    create(tmp_path / "crawl", plan | {"budget": 1})
    with closing(Store(tmp_path / "crawl", warc_bytes=30_000)) as store:
        for number in range(20):
            visit = kept.World().visit(kept.Link(kept.url(number)))
            store.record_visit(visit, 0.5, float(number))
    return tmp_path / "crawl"


def warnings(folder):
    with closing(Store(folder)) as store:
        return store.warnings


# ----------------------------------------------------------------------- SQLite's log


@pytest.fixture
def killed(tmp_path, monkeypatch):
    """The folder of a killed crawl, and the bytes of its log after each commit."""
    monkeypatch.setattr(recent, "_FULL", 20_000)
    create(tmp_path / "running", {})
    store, sizes = Store(tmp_path / "running", batch_seconds=10_000), []
    with closing(store):
        steering = RecordingNavigator(kept.navigator(0.1), store)
        for budget in (1, 10, 10, 10):
            kept.crawl(steering, Learning(), 1, budget, store._now)
            store.flush()
            sizes.append((tmp_path / "running" / "crawl.sqlite-wal").stat().st_size)
        folder = shutil.copytree(tmp_path / "running", tmp_path / "killed")
    (folder / "crawl.sqlite-shm").unlink()
    return folder, sizes


def test_a_log_that_lost_its_end_costs_nothing_where_recent_events_go_on(killed, tmp_path):
    folder, sizes = killed
    right = resumed(shutil.copytree(folder, tmp_path / "right"))
    cut(folder / "crawl.sqlite-wal", sizes[-2])
    notes = [finding for finding in Check(folder).run() if finding.kind == "waiting"]
    assert "later events wait in recent-" in notes[0].what
    assert not any(finding.is_damage for finding in Check(folder).run())
    assert resumed(folder) == right


def test_events_that_a_log_lost_are_told_and_nothing_goes_on_without_a_repair(killed):
    folder, sizes = killed
    cut(folder / "crawl.sqlite-wal", sizes[0])
    [[last]] = ask(folder, "SELECT max(n) FROM journal")
    first = min(recent.scan(folder, name).first for name in recent.NAMES)
    assert first > last + 2
    said = f"events {last + 1} to {first - 1} are missing between the end of crawl.sqlite and"
    before = {path: path.read_bytes() for path in folder.rglob("*.*") if "shm" not in path.name}
    [finding] = [each for each in Check(folder).run() if each.is_damage]
    assert finding.what.startswith(said)
    for _ in range(2):
        with pytest.raises(HoneyguideError, match=f"cannot be resumed: {said}.*--repair"):
            Store(folder)
    assert before == {path: path.read_bytes() for path in before}
    done, left = repair(folder)
    assert done[0].endswith(f"which cannot be used: the crawl is at event {last}")
    assert any("resuming cuts off the bodies" in finding.what for finding in left)
    assert (folder / "warc" / WARC).read_bytes() == before[folder / "warc" / WARC]
    with closing(Store(folder)) as store:
        assert store._n == last


def test_a_loss_of_power_that_empties_the_older_recent_file_does_not_stop_a_crawl(killed):
    folder, sizes = killed
    cut(folder / "crawl.sqlite-wal", sizes[0])
    older = min(recent.NAMES, key=lambda name: recent.scan(folder, name).first)
    (folder / older).write_bytes(b"")
    [[last]] = ask(folder, "SELECT max(n) FROM journal")
    with closing(Store(folder)) as store:
        assert store._n == last
        assert f"events {last + 1} to" in store.warnings[0]


def test_who_resumes_is_warned_of_recent_events_that_are_damaged(killed):
    folder, sizes = killed
    cut(folder / "crawl.sqlite-wal", sizes[-2])
    newest = max(recent.NAMES, key=lambda name: recent.scan(folder, name).last)
    data = bytearray((folder / newest).read_bytes())
    place = data.rindex(recent._MARK, 0, data.rindex(recent._MARK))
    data[place + recent._HEAD_BYTES + 2] ^= 1
    (folder / newest).write_bytes(data)
    expected = f"{newest} is damaged at byte {place}: the events after it cannot be used"
    assert warnings(folder) == [expected]


def test_a_large_log_takes_little_memory(killed):
    folder, _ = killed
    with (folder / "crawl.sqlite-wal").open("r+b") as file:
        file.truncate(1 << 26)
    has_lost_commits(folder)  # numpy and the weights of checksums are there from now on
    tracemalloc.start()
    try:
        assert not has_lost_commits(folder)
        assert tracemalloc.get_traced_memory()[1] < 1 << 21
    finally:
        tracemalloc.stop()


def test_a_log_with_less_than_a_frame_has_lost_nothing_that_it_knows_of(killed):
    folder, _ = killed
    for size in (40, 32, 31, 20, 7, 0):
        cut(folder / "crawl.sqlite-wal", size)
        assert not has_lost_commits(folder)
