"""Real crawls of a served web, killed at random moments: a short form of `make soak`."""

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[2] / "benchmarks" / "soak.py"
KILLS = 24
pytestmark = pytest.mark.timeout(600)  # whichever comes first waits for all kills


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """One soak, also when several processes run these tests."""
    mine = tmp_path_factory.mktemp("soak")
    shared = tmp_path_factory.getbasetemp().parent if "PYTEST_XDIST_WORKER" in os.environ else mine
    told = shared / "soak.json"
    with (shared / "soak.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not told.exists():
            told.write_text(soaked(mine))
    return json.loads(told.read_text())


def soaked(folder):
    command = [sys.executable, SOAK, "--kills", str(KILLS), "--seed", "5", "--out", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def broken(report, *promises):
    """What went wrong with these promises."""
    unknown = set(promises) - set(report["broken"])
    assert not unknown
    return [failure for failure in report["failures"] if failure["promise"] in promises]


def test_crawls_are_killed_in_all_that_they_do(report):
    assert report["kills"] == KILLS
    assert len(report["kills_by_aim"]) >= 5
    assert not report["phases_missing"]
    assert report["counts"]["visits kept"] > 1000


def test_a_killed_crawl_can_always_be_resumed(report):
    assert not broken(report, "cannot be resumed", "traceback", "choices forced")


def test_a_killed_crawl_takes_the_same_decisions(report):
    assert not broken(report, "decisions differ")


def test_a_killed_crawl_loses_no_link_and_no_visit(report):
    assert not broken(report, "links lost", "kept visits lost")


def test_a_killed_crawl_asks_for_no_kept_page_again(report):
    assert not broken(report, "kept pages asked again")


def test_a_killed_crawl_keeps_to_its_budget_exactly(report):
    assert not broken(report, "budget not exact")


def test_a_killed_crawl_leaves_whole_archives(report):
    assert not broken(report, "WARC or CDXJ damaged", "status or export wrong")


def test_a_killed_crawl_repeats_what_was_in_flight_at_most(report):
    assert not broken(report, "repeated more than in flight")


def test_a_killed_crawl_knows_robots_txt_again(report):
    assert not broken(report, "robots.txt asked again")
