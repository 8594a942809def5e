"""Crawls with injected disk faults and losses of power, at the level of system calls."""

import random
import shutil
import subprocess
import sys

import pytest

from honeyguide.storage.database import create
from honeyguide.storage.store import RecordingNavigator, Store

from .. import kept
from . import disk
from .sweep import NAMES, WRONGS, Bench, quick_folder

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc)")
TINY, LONGER = 6, 40  # pages
SAMPLE = 40  # of the faults, and of the losses, of the longer crawl


def opened(pages):
    folder = quick_folder()
    bench = Bench(folder, pages)
    yield bench
    bench.close()
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def tiny():
    yield from opened(TINY)


@pytest.fixture(scope="module")
def longer():
    yield from opened(LONGER)


def faults(bench):
    """Return every fault that can hit a call of the crawl."""
    return [
        (kind, how, stays, turn)
        for kind, how, stays, turns in bench.faults()
        for turn in range(1, turns + 1)
    ]


def fault_name(wrong):
    kind, how, stays = wrong
    return f"{kind} {NAMES[how]}{' from then on' if stays else ''}"


@pytest.mark.parametrize("wrong", WRONGS, ids=fault_name)
def test_a_crawl_survives_a_fault_of_any_call(tiny, wrong):
    [(*_, turns)] = tiny.faults([wrong])
    assert turns
    assert not [what for turn in range(1, turns + 1) for what in tiny.try_fault(*wrong, turn)]


@pytest.mark.parametrize("loss", disk.LOSSES, ids=lambda loss: f"names {loss[0]}, data {loss[1]}")
def test_a_crawl_survives_a_loss_of_power_at_any_moment(tiny, loss):
    states = list(disk.states(tiny.calls, tiny.root, [loss]))
    assert states
    assert not [what for state in states for what in tiny.try_loss(*state)]


def test_a_longer_crawl_survives_faults(longer):
    sample = random.Random(1).sample(faults(longer), SAMPLE)
    assert not [what for fault in sample for what in longer.try_fault(*fault)]


def test_a_longer_crawl_survives_losses_of_power(longer):
    sample = random.Random(2).sample(longer.losses(), SAMPLE)
    assert not [what for state in sample for what in longer.try_loss(*state)]


def test_a_crawl_that_ends_where_a_snapshot_was_due_ends_well(tmp_path):
    create(tmp_path / "crawl", {})
    store = Store(tmp_path / "crawl")
    recorded = RecordingNavigator(kept.navigator(), store)
    kept.crawl(recorded, kept.World(), budget=5)
    for _ in range(2):  # the one that was due, and the last one of every crawl
        store.snapshot(recorded.navigator.state())
    store.close()


# a crawl that was killed while it was created, gone on with on a disk that is full
BEGUN_AGAIN = """
import resource, sqlite3, sys
from pathlib import Path
from honeyguide.errors import HoneyguideError
from honeyguide.storage.database import FILE, create
database = sqlite3.connect(Path(sys.argv[1]) / FILE)
database.execute("PRAGMA journal_mode = WAL")
database.close()
resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, resource.RLIM_INFINITY))
try:
    create(Path(sys.argv[1]), {})
except HoneyguideError as error:
    print(error)
"""


def test_a_full_disk_is_not_taken_for_a_crawl(tmp_path):
    command = [sys.executable, "-c", BEGUN_AGAIN, tmp_path]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    assert said
    assert "already holds a crawl" not in said


def test_the_disk_fails_where_it_is_told_to(tiny):
    """Without this, the tests above could pass with no fault injected."""
    where = tiny.folder / "told"
    code, said = tiny._run(where, fault=("write", 1, 28, True), count=str(where / "count"))
    assert code == 1
    assert len(said.splitlines()) == 1
    assert int((where / "count").read_text().split()[7]) >= 1


def test_no_change_of_the_disk_escapes_the_log(longer):
    made = disk.Disk(longer.root)
    for call in disk.calls(longer.calls):
        made.follow(*call)
    paths = [path for path in longer.root.rglob("*") if not path.name.endswith("-shm")]
    there = {path: path.read_bytes() if path.is_file() else None for path in paths}
    logged = made.after(disk.DONE, disk.ALL)
    assert logged == {str(path.relative_to(longer.root)): data for path, data in there.items()}


def test_what_was_not_synced_is_gone_after_a_loss_of_power():
    made = disk.Disk("/d")
    made.follow(disk.MKDIR, -1, 0, b"/d/c", b"")
    made.follow(disk.OPEN, 3, 0o100, b"/d/c/a", b"")
    made.follow(disk.WRITE, 3, 0, b"safe", b"")
    made.follow(disk.SYNC, 3, 0, b"", b"")
    made.follow(disk.WRITE, 3, 4, b" not safe", b"")
    assert made.after(disk.DONE, disk.NONE) == {"c": None, "c/a": b"safe"}
    assert made.after(disk.DONE, disk.ALL) == {"c": None, "c/a": b"safe not safe"}
    assert made.after(disk.UNDONE, disk.ALL) == {"c": None}
    assert made.after(disk.GONE, disk.NONE) == {}
    made.follow(disk.OPEN, 4, 0, b"/d/c", b"")
    made.follow(disk.SYNC, 4, 0, b"", b"")
    made.follow(disk.RENAME, -1, 0, b"/d/c/a", b"/d/c/b")
    assert made.after(disk.UNDONE, disk.NONE) == {"c": None, "c/a": b"safe"}
    assert made.after(disk.DONE, disk.NONE) == {"c": None, "c/b": b"safe"}
