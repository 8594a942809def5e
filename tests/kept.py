"""A small crawl that is stored on disk, as a program that tests can kill at any moment."""

import hashlib
import heapq
import json
import os
import resource
import sqlite3
import sys
import time
import traceback
from contextlib import closing
from pathlib import Path

import numpy as np

from honeyguide.contracts import Agent, Link, Page, Response, Verdict, Visit
from honeyguide.disk.serialise import write_state
from honeyguide.engine.navigator import Navigator
from honeyguide.errors import HoneyguideError
from honeyguide.features.discovery import Discovery
from honeyguide.frontiers.best_first import BestFirst
from honeyguide.gates.none import NoGate
from honeyguide.storage import database, snapshots
from honeyguide.storage.store import RecordingNavigator, Store

PAGES = 300
HOSTS = 7


def damage_table(folder, table):
    """Overwrite the first block of a table of a closed crawl."""
    path = folder / database.FILE
    with closing(database.connect(folder)) as connection:
        [[size]] = connection.execute("PRAGMA page_size")
        wanted = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
        [[root]] = connection.execute(wanted, (table,))
    data = bytearray(path.read_bytes())
    data[size * (root - 1) : size * root] = b"\xff" * size
    path.write_bytes(data)


FORMAT_1 = """
CREATE TABLE about (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE journal (
    n INTEGER PRIMARY KEY, kind TEXT NOT NULL, now REAL NOT NULL, url TEXT, data BLOB
);
CREATE TABLE pages (
    n INTEGER PRIMARY KEY, url TEXT NOT NULL, page_url TEXT, title TEXT, status INTEGER,
    failure TEXT NOT NULL, relevance REAL, relevant INTEGER NOT NULL, reasons TEXT, score REAL,
    depth INTEGER NOT NULL, parent TEXT, fetched REAL NOT NULL, seconds REAL,
    bytes INTEGER NOT NULL, warc TEXT, warc_offset INTEGER, warc_length INTEGER, text BLOB
);
CREATE TABLE snapshots (n INTEGER PRIMARY KEY, now REAL NOT NULL, file TEXT NOT NULL);
CREATE TABLE hosts (
    host TEXT, what TEXT, value REAL NOT NULL, PRIMARY KEY (host, what)
) WITHOUT ROWID;
PRAGMA application_id = 1752133241;
PRAGMA user_version = 1;
"""


def write_as_format_1(folder):
    """Convert a closed crawl to format 1, which has no checksums and has snapshot files."""
    with closing(database.connect(folder)) as connection:
        known = snapshots.Snapshots(folder, connection)
        for row in known.rows_newest_first():
            with (folder / f"snapshot-{row.n}.state").open("wb") as file:
                write_state(file, known.read(row))
        copy = {}
        for table, count in {"about": 2, "journal": 5, "pages": 19, "hosts": 3}.items():
            copy[table] = [row[:count] for row in connection.execute(f"SELECT * FROM {table}")]
        new = ("events", "visits", "hosts", "unchecked", "written_by")
        copy["about"] = [row for row in copy["about"] if row[0] not in new]
        copy["snapshots"] = [
            (row.n, row.now, f"snapshot-{row.n}.state") for row in known.rows_newest_first()
        ]
    (folder / database.FILE).unlink()
    with closing(sqlite3.connect(folder / database.FILE)) as connection, connection:
        connection.executescript(FORMAT_1)
        connection.execute("PRAGMA journal_mode = WAL")
        for table, rows in copy.items():
            for row in rows:
                marks = ",".join("?" * len(row))
                connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)


class Learner(Agent):
    """An agent with weights and random numbers, both of which must be restored exactly."""

    def __init__(self):
        self.features = Discovery()
        self.rng = np.random.default_rng(3)
        self.w = np.float32(0)

    def score(self, links):
        return np.cos(links.x[:, 0] * (1 + self.w)).astype(np.float32)

    def learn(self, steps):
        for step in steps:
            self.w = np.float32(0.9 * self.w + 0.01 * step.reward + 1e-3 * len(step.options))

    def stale(self):
        return True

    def explores(self):
        return bool(self.rng.random() < 0.2)

    def state(self):
        return {"w": self.w, "rng": self.rng.bit_generator.state}

    def load(self, state):
        self.w = state["w"]
        self.rng.bit_generator.state = state["rng"]


class RandomGate(NoGate):
    """A gate that refuses links at random and releases a host's links after each of its pages."""

    def __init__(self, refuses):
        self.refuses = refuses
        self.rng = np.random.default_rng(4)

    def opens(self, memory, id, link, foreseen):
        return bool(self.rng.random() >= self.refuses)

    def note(self, memory, id, visit):
        ids = np.arange(len(memory), dtype=np.int32)
        return ids[memory.host(ids) == memory.host(ids[id : id + 1])]

    def state(self):
        return {"rng": self.rng.bit_generator.state}

    def load(self, state):
        self.rng.bit_generator.state = state["rng"]


def url(number):
    return f"http://h{number % HOSTS}.example/{number}"


class World:
    """A finite web with bodies and failures that writes every visit to a log."""

    def __init__(self, log=None, pause=0.0):
        self.log = log
        self.pause = pause

    def visit(self, link):
        if self.log:
            with self.log.open("a") as file:
                file.write(link.url + "\n")
        time.sleep(self.pause)
        number = int(link.url.rsplit("/", 1)[1])
        dice = hashlib.sha256(link.url.encode()).digest()
        seconds = dice[0] / 256
        if dice[1] < 20:
            failed = Response(link, link.url, 0, failure="timeout")
            return Visit(link, None, Verdict(0.0, False), failed, "timeout", seconds)
        targets = [number * 2 + 1, number * 2 + 2, number // 2, dice[2], dice[3]]
        links = tuple(Link(url(n), f"to {n}", "about") for n in targets if n < PAGES)
        body = hashlib.shake_128(link.url.encode()).digest(2000)
        response = Response(link, link.url, 200, {"content-type": "text/html"}, body)
        page = Page(link.url, f"Page {number}", f"text {number} " * 20, links)
        relevant = dice[4] < 80
        return Visit(link, page, Verdict(dice[4] / 255, relevant), response, "", seconds, 0.5)


def navigator(refuses=0.0):
    frontier = BestFirst(1, np.random.default_rng(5), delay=0.3)
    return Navigator(Learner(), frontier, gate=RandomGate(refuses))


def crawl(steering, world, in_flight=1, budget=10**9, now=0.0):
    """Run a crawl on a simulated clock until no link is left; return why it stopped."""
    steering.seed([Link(url(0))])
    flying = []  # (end time, order, visit)
    started = landed = 0
    while landed < budget:
        while len(flying) < in_flight and (link := steering.choose(now)) is not None:
            visit = world.visit(link)
            started += 1
            heapq.heappush(flying, (now + visit.seconds, started, visit))
        wake = steering.frontier.wake(now) if len(flying) < in_flight else None
        if flying and (wake is None or flying[0][0] <= wake):
            now, _, visit = heapq.heappop(flying)
            steering.absorb(visit, now)
            landed += 1
        elif wake is not None:
            now = max(wake, now)
        elif not len(steering.frontier):
            return "no link left"
    return "budget spent"


def run(folder, log, in_flight=1, refuses=0.0, pause=0.0, max_file_size=0, worker=0):
    """Begin or resume the crawl in a folder, to its end; `worker` forks a process that sleeps."""
    snapshots.MIN_VISITS = 40
    if max_file_size:
        resource.setrlimit(resource.RLIMIT_FSIZE, (max_file_size, resource.RLIM_INFINITY))
    folder = Path(folder)
    if not database.holds_crawl(folder):
        database.create(folder, {"in_flight": in_flight})
    store = Store(folder, batch_seconds=0.01, warc_bytes=60_000)
    if worker and not os.fork():
        time.sleep(worker)
        os._exit(0)
    try:
        steering = RecordingNavigator(navigator(refuses), store)
        reason = crawl(steering, World(Path(log), pause), in_flight, now=steering.started_at)
        store.note(stopped=reason)
    finally:
        store.close()


def serve(run=run):
    """Fork a crawl, or wait for one, for each line of standard input: faster than a new process."""
    for line in sys.stdin:
        order, arguments = json.loads(line)
        if order == "start":
            pid = os.fork()
            answer = pid or child(run, **arguments)
        else:
            answer = os.waitpid(arguments, 0)[1]
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def child(run, errors, **arguments):
    code = 0
    with Path(errors).open("w") as file:
        try:
            run(**arguments)
        except HoneyguideError as error:
            file.write(f"{error}\n")
            code = 1
        except BaseException:
            traceback.print_exc(file=file)
            code = 2
    os._exit(code)


if __name__ == "__main__":
    serve()
