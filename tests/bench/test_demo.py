"""The demo: what it prints is what README shows, and what a newcomer gets."""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from honeyguide.bench.compare import Comparison, Runs, compare
from honeyguide.bench.demo import (
    AGENTS,
    BUDGET,
    failures,
    figures,
    merged,
    rows,
    tasks,
    title,
    topics,
    write,
)
from honeyguide.bench.report import spread
from honeyguide.cli.demo import as_text

ROOT = Path(__file__).parents[2]
KNOWN = json.loads((Path(__file__).parent / "demo_figures.json").read_text())
UNCHANGING = ("breadth_first", "oracle")  # they add no numbers up: the same on every machine


def none(agent, pages):
    """No progress is shown."""


def known_runs(agent):
    """The runs of an agent, as the demo's committed figures have them."""
    found = KNOWN["agents"][agent]
    ends = np.array(found["relevant"], np.int32)[:, None]
    pages, seconds = tuple(found["pages"]), tuple(found["seconds"])
    return Runs(agent, ends, pages, seconds, Counter(found["failures"]))


@pytest.fixture(scope="module")
def known():
    runs = tuple(known_runs(agent) for agent in AGENTS)
    return Comparison(tasks(1, BUDGET)[0], runs, runs[AGENTS.index("oracle")])


@pytest.fixture(scope="module")
def small():
    return [compare(plan, AGENTS, 1, none) for plan in tasks(2, 15)]


def test_the_table_in_the_readme_is_that_of_the_committed_figures(known):
    assert as_text(known) in (ROOT / "README.md").read_text()


def test_the_committed_figures_are_of_the_whole_demo():
    assert [task["topic"] for task in KNOWN["tasks"]] == list(topics())
    assert {task["budget"] for task in KNOWN["tasks"]} == {BUDGET}
    assert KNOWN["tasks"] == json.loads(json.dumps(_tasks_of_the_demo()))


def _tasks_of_the_demo():
    plans = tasks(len(topics()), BUDGET)
    comparison = Comparison(plans[0], (known_runs("guide"),), None)
    return figures(comparison, plans)["tasks"]


def test_the_demo_finds_what_the_readme_says_within_its_spread():
    comparison = compare(tasks(1, BUDGET)[0], AGENTS, 1, none)
    for runs in comparison.runs:
        told = KNOWN["agents"][runs.agent]["relevant"]
        room = 0 if runs.agent in UNCHANGING else spread(told)
        assert abs(runs.relevant[0] - told[0]) <= room, runs.agent


def test_the_same_demo_finds_the_same_again(small):
    again = [compare(plan, AGENTS, 1, none) for plan in tasks(2, 15)]
    for first, second in zip(small, again, strict=True):
        for one, other in zip(first.runs, second.runs, strict=True):
            assert np.array_equal(one.curves, other.curves), one.agent
        assert first.failures == second.failures


def test_every_web_counts_as_a_run(small):
    together = merged(small)
    for place, runs in enumerate(together.runs):
        assert runs.relevant == [each.runs[place].relevant[0] for each in small]
    assert together.oracle.relevant == [each.oracle.relevant[0] for each in small]
    assert together.failures == small[0].failures + small[1].failures
    assert "15 fetched, mean of 2 webs" in title(together)
    assert rows(together)[0][0] == "oracle"


def test_one_sentence_says_how_many_fetches_failed_and_why(small):
    failed = Counter({"status 404": 33, "timeout": 8, "robots": 1})
    runs = Runs("guide", np.zeros((1, 1), np.int32), (2000,), (1.0,), failed)
    told = failures(Comparison(small[0].plan, (runs,), None))
    assert told == "42 of 2,000 fetches failed: 33 not found, 8 timed out, 1 robots."
    runs = Runs("guide", np.zeros((1, 1), np.int32), (2000,), (1.0,))
    assert failures(Comparison(small[0].plan, (runs,), None)) == "None of 2,000 fetches failed."


def test_the_files_of_a_demo_agree_with_one_another(small, tmp_path):
    together, plans = merged(small), tasks(2, 15)
    written = write(together, plans, as_text(together), tmp_path)
    assert [path.name for path in written] == [
        "table.txt",
        "report.md",
        "curves.png",
        "results.json",
    ]
    assert all(path.stat().st_size for path in written)
    results = json.loads((tmp_path / "results.json").read_text())
    report = (tmp_path / "report.md").read_text()
    for runs in together.runs:
        assert results["agents"][runs.agent]["relevant"] == runs.relevant
        assert re.search(rf"\| {runs.agent} \| {np.mean(runs.relevant):.1f} \|", report)
        assert re.search(rf"│ {runs.agent} +│ +{np.mean(runs.relevant):.1f} │", as_text(together))
    assert failures(together) in report


def test_nothing_of_a_demo_is_wider_than_a_terminal(small):
    assert max(map(len, as_text(merged(small)).splitlines())) <= 80


def test_the_picture_of_the_readme_is_small():
    assert (ROOT / "docs/images/comparison.png").stat().st_size < 150_000
