"""A short stored crawl on a disk with injected faults; run as a program, it starts such crawls."""

import ctypes
from pathlib import Path

from honeyguide.learning.policies import save_policy
from honeyguide.storage import database, snapshots
from honeyguide.storage.store import RecordingNavigator, Store

from .. import kept

KINDS = ("open", "write", "sync", "truncate", "rename", "unlink", "mkdir")  # as in faults.c
SHORT = -1  # in place of an errno: only half is written
WARC_BYTES = 12_000  # a few visits: most crawls have several files


class Learner(kept.Learner):
    """A learner whose weights can be saved as a policy."""

    def policy(self):
        return {"w": self.w}

    def load_policy(self, state):
        self.w = state["w"]


class Flushed:
    """A recorded navigator that flushes the store after every few visits."""

    def __init__(self, recorded, every, is_safe):
        self.recorded = recorded
        self.every = every
        self.is_safe = is_safe  # called with the number of flushed visits

    def __getattr__(self, name):
        return getattr(self.recorded, name)

    def absorb(self, visit, now):
        step = self.recorded.absorb(visit, now)
        if self.recorded.memory.visits % self.every == 0:
            self.recorded.store.flush()
            self.is_safe(self.recorded.memory.visits)
        return step


def run(folder, log, safe, pages, *, fault=None, calls="", count="", every=3, min_visits=4):
    """Begin or resume a crawl; a fault is (kind of call, number of the call, error, persists)."""
    disk = ctypes.CDLL(None)
    folder = Path(folder)
    kept.PAGES, snapshots.MIN_VISITS = pages, min_visits
    if fault or calls or count:
        disk.faults_watch(str(folder.parent).encode(), calls.encode())
    if fault:
        kind, turn, how, stays = fault
        disk.faults_arm(KINDS.index(kind), ctypes.c_long(turn), how, stays)

    def is_safe(visits):
        Path(safe).write_text(str(visits))
        if calls:
            disk.faults_mark(f"safe {visits}".encode())

    try:
        _crawl(folder, Path(log), every, is_safe)
    finally:
        if count:
            disk.faults_where.restype = ctypes.c_char_p
            counts = [str(disk.faults_count(number)) for number in range(len(KINDS))]
            where = disk.faults_where().decode()
            Path(count).write_text(" ".join([*counts, str(disk.faults_hits()), where]))


def _crawl(folder, log, every, is_safe):
    if not database.holds_crawl(folder):
        database.create(folder, {})
    # commits only with flushes, so that the calls are the same every time
    store = Store(folder, batch_seconds=3600.0, warc_bytes=WARC_BYTES)
    try:
        navigator = kept.navigator()
        navigator.agent = Learner()
        recorded = RecordingNavigator(navigator, store)
        steering = Flushed(recorded, every, is_safe)
        reason = kept.crawl(steering, kept.World(log), now=recorded.started_at)
        store.snapshot(recorded.navigator.state())
        store.note(stopped=reason)
        store.flush()
        is_safe(recorded.memory.visits)
        save_policy(folder / "learnt.policy", "learner", navigator.agent)
    finally:
        store.close()


if __name__ == "__main__":
    kept.serve(run)
