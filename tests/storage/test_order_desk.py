"""Orders to crawls in folders: each is carried out once, whatever is killed when."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from honeyguide.engine.orders import Budget, Delay, Deny, Forget, InFlight, Pause, Seed, Stop
from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan
from honeyguide.storage.check import Check
from honeyguide.storage.control import give_order, give_orders, orders_in_force
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.storage.exports import status
from honeyguide.storage.orders import FOLDER, waiting_orders
from honeyguide.urls.spelling import host

PLAN = Plan(topic="geology", seeds=("geology",), world="synthetic:pages=800", budget=30)
ROWS = "SELECT url, page_url, relevance, relevant, reasons FROM pages ORDER BY n"
ORDERS = "SELECT url FROM journal WHERE kind = 'order' ORDER BY n"


def crawl(folder, budget=30, told=None):
    if not folder.exists():
        create_crawl(folder, PLAN)
    warn = (lambda sentence: None) if told is None else told.append
    return run_crawl(folder, lambda *_: None, warn, budget=budget)


def rows(folder, what=ROWS):
    with closing(sqlite3.connect(folder / "crawl.sqlite", timeout=30)) as database:
        return database.execute(what).fetchall()


def busiest(folder):
    hosts = [host(row[0]) for row in rows(folder)]
    return max(sorted(set(hosts)), key=hosts.count)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crawls") / "crawl"
    crawl(folder)
    return folder


@pytest.fixture
def folder(stopped, tmp_path):
    return shutil.copytree(stopped, tmp_path / "crawl")


@pytest.fixture(scope="module")
def denied(stopped, tmp_path_factory):
    """A crawl that was never killed, with an order after 30 of its 60 pages."""
    folder = shutil.copytree(stopped, tmp_path_factory.mktemp("crawls") / "denied")
    give_orders(folder, [Deny((busiest(folder),))])
    crawl(folder, 60)
    return folder


def test_an_order_to_a_stopped_crawl_is_kept_and_carried_out_before_its_next_page(folder):
    name = busiest(folder)
    told = give_order(folder, Deny((name,)))
    assert told == (
        False,
        f"{folder} does not run (budget spent): the order is kept, and 'honeyguide resume"
        f" {folder}' carries it out",
    )
    assert status(folder)["orders_waiting"] == ["deny"]
    crawl(folder, 90)
    assert not [row for row in rows(folder)[30:] if host(row[0]) == name]
    assert status(folder)["in_force"] == {"denied": [name]}
    assert not any(waiting_orders(folder))
    assert Check(folder).run() == []


def test_orders_are_events_and_stay_in_force(folder):
    name = busiest(folder)
    give_orders(folder, [Deny((name,)), Budget(60), InFlight(3), Forget("a.example")])
    crawl(folder, 31)  # the order comes after the limit that the caller sets
    assert len(rows(folder)) == 60
    assert len(rows(folder, ORDERS)) == 4
    settings = status(folder)["settings"]
    assert (settings["budget"], settings["in_flight"]) == (60, 3)
    crawl(folder, 100)
    assert not [row for row in rows(folder)[30:] if host(row[0]) == name]


def test_a_crawl_with_orders_resumes_to_the_same_decisions(folder, denied):
    give_orders(folder, [Deny((busiest(folder),))])
    crawl(folder, 45)
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database, database:
        database.execute("DELETE FROM snapshots")  # the whole journal is replayed
    assert crawl(folder, 60).differing == 0
    assert rows(folder) == rows(denied)


def test_an_order_that_cannot_be_carried_out_is_told_and_dropped(folder):
    give_orders(folder, [Seed(("http://nowhere.example/",)), Delay("a.example", 3.0)])
    (folder / FOLDER / "9.json").write_text('{"order": "dance"}')
    crawl(folder, 40)
    results = list(orders_in_force(folder).done.values())
    assert all(result.startswith("refused: ") for result in results)
    assert "a delay is for hosts of the live web" in results[1]
    assert "Invalid value 'dance'" in results[2]
    assert not any(waiting_orders(folder))
    assert rows(folder, ORDERS) == []
    assert len(rows(folder)) == 40


def test_there_is_nothing_to_pause_or_stop_where_nothing_runs(folder):
    for order, name in ((Pause(), "pause"), (Stop(), "stop")):
        with pytest.raises(HoneyguideError, match=f"does not run: there is nothing to {name}"):
            give_order(folder, order)
    assert not any(waiting_orders(folder))


def test_a_folder_without_a_crawl_gets_no_order(tmp_path):
    with pytest.raises(HoneyguideError, match="holds no crawl"):
        give_order(tmp_path, Budget(5))
    assert not (tmp_path / FOLDER).exists()


def test_orders_of_others_are_left_alone(folder):
    give_orders(folder, [Budget(50)])
    [path] = (folder / FOLDER).glob("*.json")
    path.chmod(0o666)  # anybody could have written it
    crawl(folder, 40)
    assert len(rows(folder)) == 40
    path.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(path, 12345, -1)
        crawl(folder, 41)
        assert len(rows(folder)) == 41
        os.chown(path, 0, -1)
    crawl(folder, 42)
    assert len(rows(folder)) == 50


def test_only_the_owner_gives_orders(folder, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    with pytest.raises(HoneyguideError, match="only the owner of"):
        give_order(folder, Budget(50))
    assert not any(waiting_orders(folder))


KILLED = """
import os, signal, sys
from pathlib import Path
from honeyguide.storage import order_desk
from honeyguide.storage.crawl_folder import run_crawl
from honeyguide.storage.ledger import Ledger
from honeyguide.storage.store import Store
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
moment = sys.argv[2]
if moment == "before it is recorded":
    Store.record_order = die
elif moment == "before it is committed":
    write = Ledger._event
    def write_and_die(self, n, kind, *what):
        write(self, n, kind, *what)
        if kind == "order":
            die()
    Ledger._event = write_and_die
else:
    order_desk.remove_order = die
run_crawl(Path(sys.argv[1]), lambda *_: None, budget=60)
"""


@pytest.mark.parametrize(
    "moment",
    [
        "before it is recorded",
        "before it is committed",
        "before its file is removed",
    ],
)
def test_a_killed_crawl_carries_out_an_order_once(folder, denied, moment):
    give_orders(folder, [Deny((busiest(folder),))])
    command = [sys.executable, "-c", KILLED, str(folder), moment]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    assert any(waiting_orders(folder))
    crawl(folder, 60)
    assert rows(folder) == rows(denied)
    assert len(rows(folder, ORDERS)) == 1
    assert not any(waiting_orders(folder))
    assert Check(folder).run() == []
