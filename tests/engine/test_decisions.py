"""A calibration decides for the whole crawl, and earlier verdicts follow it."""

import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from honeyguide.contracts import Page, Verdict
from honeyguide.engine import decisions
from honeyguide.engine.decisions import FITS, calibrated
from honeyguide.engine.loop import run_simulated
from honeyguide.plan import Plan
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.storage.database import reading
from honeyguide.storage.exports import status
from honeyguide.storage.store import RecordingNavigator
from honeyguide.testing import check_resume


class Median:
    """Calls the better half of a crawl's pages relevant; unfitted, all with a measure above 0."""

    def __init__(self) -> None:
        self._threshold = 0.0

    def fit(self, measures):
        self._threshold = float(np.median(measures))

    def decide(self, measures):
        relevance = np.clip(measures[:, 0], 0, 1).astype(np.float32)
        return relevance, measures[:, 0] > self._threshold

    def state(self):
        return {"threshold": self._threshold}

    def load(self, state):
        self._threshold = state["threshold"]


class MedianOfWords:
    """Measures how many words of a page are long."""

    def __init__(self, topic: str = "") -> None:
        pass

    def __call__(self, page: Page) -> Verdict:
        words = page.text.split()
        share = sum(len(word) > 7 for word in words) / max(len(words), 1)
        return Verdict(min(1.0, share), share > 0, (), (share,))

    def calibration(self):
        return Median()


PLAN = Plan(
    topic="geology",
    seeds=("geology",),
    world="synthetic:pages=600",
    judge=MedianOfWords,
    agent="guide",
    budget=100,
    random_seed=3,
)


def test_earlier_verdicts_follow_the_calibration():
    opened = PLAN.open()
    navigator = opened.navigator()
    outcome = run_simulated(opened.crawl(navigator).run(opened.seeds))
    assert navigator.memory.visits == 100
    # fitted at 80 pages: about half of those are relevant, not nearly all as in the beginning
    assert 0.3 < outcome.relevant / 100 < 0.8
    unfitted = replace(PLAN, budget=FITS[0] - 1).simulate()
    assert unfitted.relevant / unfitted.pages > 0.9


def test_a_revised_crawl_is_one_that_had_those_verdicts_from_the_start():
    opened = PLAN.open()
    navigator = opened.navigator()
    run_simulated(opened.crawl(navigator).run(opened.seeds))
    counted = navigator.decisions.counted
    assert len(counted) == 100
    memory = navigator.memory
    assert memory.relevant_found == sum(verdict.relevant for verdict in counted)


@pytest.mark.parametrize("agent", ["guide", "best_first", "linear_sync", "dqn"])
def test_a_calibrated_crawl_resumes_exactly(agent):
    plan = replace(PLAN, agent=agent)
    opened = plan.open()
    check_resume(
        opened.navigator, lambda: plan.open().world, opened.seeds, pages=60, saves=4, in_flight=3
    )


def test_folders_hold_the_revised_verdicts(tmp_path):
    folder = tmp_path / "crawl"
    create_crawl(folder, PLAN)
    ended = run_crawl(folder, lambda *_: None)
    assert status(folder)["relevant"] == ended.outcome.relevant
    with reading(folder) as database:
        kinds = [kind for (kind,) in database.execute("SELECT kind FROM journal ORDER BY n")]
    assert 1 <= kinds.count("revise") <= 3
    assert all(kinds[place - 1] == "visit" for place, kind in enumerate(kinds) if kind == "revise")


def test_a_crawl_in_parts_ends_like_one_in_one_piece(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    create_crawl(whole, PLAN)
    expected = run_crawl(whole, lambda *_: None).outcome
    create_crawl(parts, replace(PLAN, budget=15))
    for budget in (15, 20, 39, 41, 100):
        found = run_crawl(parts, lambda *_: None, budget=budget).outcome
    assert (found.pages, found.relevant) == (expected.pages, expected.relevant)
    rows = "SELECT url, relevance, relevant FROM pages ORDER BY n"
    with reading(whole) as one, reading(parts) as other:
        assert one.execute(rows).fetchall() == other.execute(rows).fetchall()


def test_a_revision_that_a_kill_cut_off_is_made_when_the_crawl_resumes(tmp_path, monkeypatch):
    folder = tmp_path / "crawl"
    create_crawl(folder, replace(PLAN, budget=30))
    with monkeypatch.context() as patched:
        patched.setattr(RecordingNavigator, "_record_revision", lambda self, now: None)
        run_crawl(folder, lambda *_: None, budget=FITS[0])
    revisions = "SELECT count(*) FROM journal WHERE kind = 'revise'"
    with reading(folder) as database:  # as if the process had ended before the snapshot, too
        assert database.execute(revisions).fetchone() == (0,)
    with sqlite3.connect(folder / "crawl.sqlite") as database:
        database.execute("DELETE FROM snapshots")
    run_crawl(folder, lambda *_: None, budget=30)
    whole = tmp_path / "whole"
    create_crawl(whole, replace(PLAN, budget=30))
    run_crawl(whole, lambda *_: None)
    rows = "SELECT url, relevance, relevant FROM pages ORDER BY n"
    with reading(folder) as one, reading(whole) as other:
        assert one.execute(rows).fetchall() == other.execute(rows).fetchall()


def test_a_list_of_pages_is_calibrated_by_all_of_them():
    verdicts = [Verdict(n / 100, True, (), (n / 100,)) for n in range(100)]
    found = calibrated(Median(), verdicts)
    assert sum(verdict.relevant for verdict in found) == 50  # above the median
    assert calibrated(Median(), verdicts[:10]) == verdicts[:10]


@pytest.fixture
def late_fits(monkeypatch):
    """Verdicts are revised after 20 pages; then thresholds are fitted twice for later pages."""
    monkeypatch.setattr(decisions, "FITS", (20,))
    monkeypatch.setattr(decisions, "ALL_FITS", (20, 40, 60))
    fitted = []

    class Noted(Median):
        def fit(self, measures):
            super().fit(measures)
            fitted.append(len(measures))

    monkeypatch.setattr(MedianOfWords, "calibration", lambda self: Noted())
    return fitted


def test_late_fits_are_for_later_pages_alone(late_fits):
    navigator = PLAN.open().navigator()
    revised = []
    absorb = navigator.absorb

    def noted(visit, now):
        step = absorb(visit, now)
        revised.append(len(navigator.revised))
        return step

    navigator.absorb = noted
    opened = PLAN.open()
    run_simulated(opened.crawl(navigator).run(opened.seeds))
    assert late_fits == [20, 40, 60]
    assert [pages for pages in revised if pages] == [20]
    assert navigator.decisions.state()["rows"].size == 0  # dropped after the last fit


@pytest.mark.parametrize("agent", ["guide", "best_first"])
def test_a_crawl_with_late_fits_resumes_exactly(agent, late_fits):
    plan = replace(PLAN, agent=agent)
    opened = plan.open()
    check_resume(
        opened.navigator, lambda: plan.open().world, opened.seeds, pages=80, saves=5, in_flight=3
    )
    assert {20, 40, 60} <= set(late_fits)


def test_late_fits_in_parts_are_those_in_one_piece(tmp_path, late_fits):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    create_crawl(whole, PLAN)
    run_crawl(whole, lambda *_: None)
    create_crawl(parts, replace(PLAN, budget=30))
    for budget in (30, 45, 59, 61, 100):
        run_crawl(parts, lambda *_: None, budget=budget)
    rows = "SELECT url, relevance, relevant FROM pages ORDER BY n"
    with reading(whole) as one, reading(parts) as other:
        assert one.execute(rows).fetchall() == other.execute(rows).fetchall()


@pytest.mark.parametrize(("pages", "fitted"), [(15, [20, 40, 60]), (30, [20])])
def test_a_state_saved_before_late_fits_is_loaded(pages, fitted, late_fits):
    opened = replace(PLAN, budget=pages).open()
    navigator = opened.navigator()
    run_simulated(opened.crawl(navigator).run(opened.seeds))
    state = navigator.state()
    del state["decisions"]["rows"]
    later = replace(PLAN, budget=100).open()
    resumed = later.navigator()
    resumed.load(state)
    run_simulated(later.crawl(resumed).run(()))
    assert late_fits == fitted
