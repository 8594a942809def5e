"""A crawl can be given another judge: its pages are judged again and its agent learns anew."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan
from honeyguide.storage import snapshots
from honeyguide.storage.check import Check
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.storage.database import reading
from honeyguide.storage.exports import status
from honeyguide.storage.rejudge import change_judge
from honeyguide.storage.store import RecordingNavigator, Store
from honeyguide.storage.stored_plan import stored_plan

PLAN = Plan(
    topic="geology",
    seeds=("geology",),
    world="synthetic:pages=800",
    judge="keywords",
    agent="guide",
    budget=60,
)
OTHER = "label:topic:geology"
ROWS = "SELECT url, relevance, relevant, reasons FROM pages ORDER BY n"


def crawl(folder, plan=PLAN, **changes):
    if not folder.exists():
        create_crawl(folder, plan)
    return run_crawl(folder, lambda *_: None, **changes).outcome


def rows(folder):
    with reading(folder) as database:
        return database.execute(ROWS).fetchall()


def navigator_of(folder):
    """The navigator of a stopped crawl, as resuming restores it."""
    store = Store(folder)
    try:
        navigator = stored_plan(folder).open().navigator()
        RecordingNavigator(navigator, store)
        return navigator
    finally:
        store.close()


def test_all_pages_have_the_verdicts_of_the_new_judge(tmp_path):
    folder = tmp_path / "crawl"
    crawl(folder)
    changed = change_judge(folder, OTHER)
    assert 50 < changed.pages <= 60  # failed visits have no page
    assert changed.now == sum(row[2] for row in rows(folder)) != changed.before
    assert status(folder)["relevant"] == navigator_of(folder).memory.relevant_found
    assert stored_plan(folder).judge == OTHER
    assert not Check(folder).run()


def test_the_agent_knows_what_it_would_know_with_that_judge_from_the_start(tmp_path):
    folder = tmp_path / "crawl"
    crawl(folder)
    change_judge(folder, OTHER)
    with reading(folder) as database:
        urls = [url for (url,) in database.execute("SELECT url FROM pages ORDER BY n")]
    opened = replace(PLAN, judge=OTHER).open()
    expected = opened.navigator()
    expected.seed(opened.seeds)
    for url in urls:
        expected.follow(url, 0.0)
        expected.absorb(asyncio.run(opened.world.visit(expected.leases[url].link)), 0.0)
    found = navigator_of(folder).agent.state()
    np.testing.assert_array_equal(found["weights"], expected.agent.state()["weights"])


def test_a_changed_crawl_goes_on_and_resumes_to_the_same_decisions(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder in (whole, parts):
        crawl(folder)
        change_judge(folder, OTHER)
    crawl(whole, budget=120)
    for budget in (70, 71, 120):
        crawl(parts, budget=budget)
    assert rows(whole) == rows(parts)
    assert len(rows(whole)) == 120


def test_it_can_be_changed_again_and_back(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshots, "MIN_VISITS", 10)
    folder, before = tmp_path / "crawl", None
    crawl(folder)
    before = rows(folder)
    change_judge(folder, OTHER)
    change_judge(folder, "keywords")
    assert rows(folder) == before
    crawl(folder, budget=80)
    assert not Check(folder).run()


def test_without_its_snapshot_the_change_is_replayed_from_the_journal(tmp_path):
    kept, lost = tmp_path / "kept", tmp_path / "lost"
    for folder in (kept, lost):
        crawl(folder)
        change_judge(folder, OTHER)
    with sqlite3.connect(lost / "crawl.sqlite") as database:
        database.execute("DELETE FROM snapshots WHERE n = (SELECT max(n) FROM snapshots)")
    crawl(kept, budget=90)
    crawl(lost, budget=90)
    assert rows(kept) == rows(lost)


KILLED = """
import os, signal, sys
from pathlib import Path
from honeyguide.storage.ledger import Ledger
from honeyguide.storage.rejudge import change_judge
real = Ledger._revise
count = 0
def killing(self, *row):
    global count
    count += 1
    if count == 20:
        os.kill(os.getpid(), signal.SIGKILL)
    real(self, *row)
Ledger._revise = killing
change_judge(Path(sys.argv[1]), sys.argv[2])
"""


def test_a_kill_in_the_middle_leaves_the_old_judge_and_all_its_verdicts(tmp_path):
    folder = tmp_path / "crawl"
    crawl(folder)
    before = rows(folder)
    ended = subprocess.run([sys.executable, "-c", KILLED, str(folder), OTHER], env=os.environ)
    assert ended.returncode == -signal.SIGKILL
    assert rows(folder) == before
    assert stored_plan(folder).judge == "keywords"
    change_judge(folder, OTHER)
    assert crawl(folder, budget=80).pages == 80


def test_a_judge_that_does_not_exist_changes_nothing(tmp_path):
    folder = tmp_path / "crawl"
    crawl(folder)
    before = rows(folder)
    with pytest.raises(HoneyguideError, match="no judge named"):
        change_judge(folder, "labels:x")
    assert rows(folder) == before


def test_a_crawl_by_examples_can_be_given_a_judge_without_them_and_back(tmp_path):
    folder = tmp_path / "crawl"
    crawl(folder, replace(PLAN, judge="topic", like=("geology",)))
    before = rows(folder)
    assert stored_plan(folder).judge == "topic_and_like"
    change_judge(folder, "keywords")
    crawl(folder, budget=61)
    change_judge(folder, "topic_and_like")
    assert rows(folder)[:60] == before


def test_a_crawl_that_runs_is_not_touched(tmp_path):
    folder = tmp_path / "crawl"
    crawl(folder)
    store = Store(folder)
    try:
        with pytest.raises(HoneyguideError, match="already open"):
            change_judge(folder, OTHER)
    finally:
        store.close()
