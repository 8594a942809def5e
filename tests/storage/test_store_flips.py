"""Single flipped bits in a crawl's files: the right state or one sentence, and `check` sees it."""

import random
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from honeyguide.contracts import OfHost
from honeyguide.disk.serialise import DamagedError, split_state
from honeyguide.errors import HoneyguideError
from honeyguide.storage import snapshots
from honeyguide.storage.check import Check
from honeyguide.storage.database import create
from honeyguide.storage.pieces import SIZE, unpacked
from honeyguide.storage.records import stored
from honeyguide.storage.repair import repair
from honeyguide.storage.store import RecordingNavigator, Store
from honeyguide.warc.writer import index_lines
from tests import kept

TABLES = ("about", "journal", "pages", "snapshots", "hosts")
FLIPS = 70  # of the database
FEW = 20  # of every other file


class Learning(kept.World):
    """A world that learns of hosts, numbers and bytes."""

    def visit(self, link):
        visit = super().visit(link)
        host = link.url.split("/")[2]
        learnt = OfHost(host, "failures", float(len(link.url))), OfHost(host, "robots", b"x" * 90)
        return replace(visit, learnt=learnt)


def finished(folder, budget):
    """A closed crawl with several snapshots."""
    usual, snapshots.MIN_VISITS = snapshots.MIN_VISITS, 20
    try:
        crawl(folder, budget).close()
    finally:
        snapshots.MIN_VISITS = usual
    return folder


def crawl(folder, budget=70):
    create(folder, {"topic": "birds"})
    store = Store(folder, warc_bytes=60_000)
    steering = RecordingNavigator(kept.navigator(0.1), store)
    kept.crawl(steering, Learning(), 1, budget)
    return store


def resumed(folder):
    """What resuming brings back: all that decides how the crawl goes on."""
    store = Store(folder)
    try:
        steering = RecordingNavigator(kept.navigator(0.1), store)
        skeleton, arrays = split_state(steering.navigator.state())
        learnt = sorted(store.learnt())
        return skeleton, [array.tobytes() for _, array in arrays], learnt, steering.started_at
    finally:
        store.close()


def rows(folder):
    """All that the tables say; None where they cannot be read."""
    try:
        with closing(sqlite3.connect(folder / "crawl.sqlite")) as database:
            said = [database.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES]
            pieces = database.execute("SELECT * FROM pieces").fetchall()
            return [*said, [(*names, unpacked(data, SIZE)) for *names, data in pieces]]
    except (sqlite3.Error, DamagedError, UnicodeError):
        return None


def bodies(folder):
    return [
        (each.url, each.requested, each.date, each.headers, each.body, each.known, each.line)
        for path in sorted((folder / "warc").glob("*.warc.gz"))
        for each in stored(path.parent, path.name)
    ]


def is_damaged(folder):
    return any(finding.is_damage for finding in Check(folder).run())


def flip(path, place, bit):
    data = bytearray(path.read_bytes())
    data[place] ^= 1 << bit
    path.write_bytes(data)


def places(path, count, seed):
    rng = random.Random(seed)
    size = path.stat().st_size
    return [(rng.randrange(size), rng.randrange(8)) for _ in range(count)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return finished(tmp_path_factory.mktemp("whole") / "crawl", 70)


@pytest.fixture(scope="module")
def right(whole, tmp_path_factory):
    copy = shutil.copytree(whole, tmp_path_factory.mktemp("right") / "crawl")
    return resumed(copy)


def outcome(folder):
    try:
        return resumed(folder)
    except HoneyguideError as error:
        assert "\n" not in str(error)
        return str(error)


def test_a_whole_crawl_is_well_and_looking_changes_nothing(whole):
    before = {path: path.read_bytes() for path in whole.rglob("*") if path.is_file()}
    assert Check(whole).run() == []
    assert before == {path: path.read_bytes() for path in whole.rglob("*") if path.is_file()}


def test_a_flipped_bit_of_the_database_is_harmless_or_told(whole, right, tmp_path):
    expected, told = rows(whole), 0
    for place, bit in places(whole / "crawl.sqlite", FLIPS, 1):
        copy = shutil.copytree(whole, tmp_path / "crawl")
        flip(copy / "crawl.sqlite", place, bit)
        found, changed = is_damaged(copy), rows(copy) != expected
        assert found or not changed, (place, bit)
        state = outcome(copy)
        assert state == right or isinstance(state, str), (place, bit)
        told += found
        shutil.rmtree(copy)
    assert told > FLIPS // 4


def test_a_flipped_bit_of_a_log_is_harmless_or_told(tmp_path):
    """The last commit may be gone: it is as if the crawl had been killed before it."""
    create(tmp_path / "running", {"topic": "birds"})
    store = Store(tmp_path / "running", batch_seconds=60)
    steering = RecordingNavigator(kept.navigator(0.1), store)
    states = []
    for budget in (1, 10, 10, 10):
        kept.crawl(steering, Learning(), 1, budget, store._now)
        store.flush()
        cut = shutil.copytree(tmp_path / "running", tmp_path / f"killed{len(states)}")
        states.append(resumed(shutil.copytree(cut, tmp_path / f"right{len(states)}")))
    told = 0
    for place, bit in places(cut / "crawl.sqlite-wal", FEW, 2):
        copy = shutil.copytree(cut, tmp_path / "crawl")
        flip(copy / "crawl.sqlite-wal", place, bit)
        found, state = is_damaged(copy), outcome(copy)
        assert state in states[-2:] or (isinstance(state, str) and found), (place, bit)
        told += found
        shutil.rmtree(copy)
    store.close()
    assert told > FEW // 4


def test_a_flipped_bit_of_a_warc_file_is_harmless_or_told(whole, right, tmp_path):
    expected = bodies(whole)
    for number, path in enumerate(sorted((whole / "warc").glob("*.warc.gz"))):
        for place, bit in places(path, FEW // 2, number):
            copy = shutil.copytree(whole, tmp_path / "crawl")
            flip(copy / "warc" / path.name, place, bit)
            assert is_damaged(copy) or bodies(copy) == expected, (place, bit)
            assert outcome(copy) == right
            shutil.rmtree(copy)


def test_a_flipped_bit_of_an_index_is_told_and_mended(whole, right, tmp_path):
    path = next((whole / "warc").glob("*.cdxj"))
    for place, bit in places(path, FEW, 3):
        copy = shutil.copytree(whole, tmp_path / "crawl")
        flip(copy / "warc" / path.name, place, bit)
        assert is_damaged(copy)
        assert repair(copy)[1] == []
        assert sorted(index_lines(copy / "warc" / path.name)) == sorted(index_lines(path))
        assert outcome(copy) == right
        shutil.rmtree(copy)
