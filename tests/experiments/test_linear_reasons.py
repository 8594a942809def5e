"""The crawls that look for reasons change one thing and measure what they say they do."""

from dataclasses import replace

import numpy as np
import pytest

from experiments.found_early import within
from experiments.harness.experiment import Trial
from experiments.linear_reasons import Fit, changed_crawlers, columns, in_hindsight, measured
from experiments.topics import Topic, han_entries, keyword_task
from honeyguide.engine.loop import run_simulated
from honeyguide.plan import Plan

WEB = "synthetic:pages=300,seed=1"
TOPIC = Topic("geology", "geology", "earth+science")
TASK = keyword_task(TOPIC, 60, WEB)


def crawler(name, encoder="ngrams"):
    found = {entry.name: entry for entry in changed_crawlers(TOPIC)}[name]
    return Trial(part="reasons", task=TASK, entry=replace(found, encoder=encoder))


def test_pages_found_early_are_counted_to_the_page():
    run = {"hits": [1, 4, 9]}
    assert [within(run, pages) for pages in (0, 1, 3, 4, 8, 9, 100)] == [0, 1, 1, 2, 2, 3, 3]


def test_linear_sync_with_nothing_changed_finds_what_linear_sync_finds():
    found = measured(crawler("linear_sync"), WEB, 7)
    entry = han_entries(TOPIC, "ngrams")[1]
    plan = Plan(
        topic=TOPIC.word, seeds=(TOPIC.seed,), world=WEB, judge=entry.judge(TASK), budget=60,
        encoder="ngrams", agent=entry.agent, random_seed=7,
    )  # fmt: skip
    opened = plan.open(remember=True)
    navigator = opened.navigator()
    curve = []
    crawl = opened.crawl(navigator, lambda *_: curve.append(navigator.memory.relevant_found))
    run_simulated(crawl.run(opened.seeds))
    assert found["relevant"] == curve[-1] > 0
    assert found["hits"] == [curve.index(count) + 1 for count in sorted(set(curve)) if count]


@pytest.mark.parametrize("name", [entry.name for entry in changed_crawlers(TOPIC)])
def test_every_crawler_of_the_reasons_crawls(name):
    function = in_hindsight if "hindsight" in name else measured
    found = function(crawler(name), WEB, 0)
    assert found["pages"] == 60
    assert len(found["hits"]) == found["relevant"] == found["curve"][-1]
    assert 0 <= found["AUC of score"] <= 1
    assert ("AUC of the link's cosine" in found) == (not name.startswith("best_first"))


def test_least_squares_finds_the_weights_that_made_the_values():
    rng = np.random.default_rng(0)
    rows = rng.random((500, 3)).astype(np.float32) * 10
    weights = np.array([2.0, -1.0, 0.5])
    fit = Fit(3)
    fit.add(rows, rows @ weights + 7)
    assert fit.weights() == pytest.approx(weights, abs=0.02)


def test_columns_are_where_rows_have_them():
    # two categories: topic, earth, science, all parents, relevant parents; see test_discrete.py
    page = [*(1, 3, 2, 3, 3), *(2, 3, 3, 4, 4)]
    link = [*(4, 1, 0, 1, 0), *(5, 1, 0, 2, 0)]
    change, distance = 4, 1
    row = np.array([*page, change, distance, *link])
    named = {name: row[at].tolist() for name, at in columns(len(row)).items()}
    assert named == {
        "the link's cosine": [4, 5],
        "its page's relevance": [1, 2],
        "its parents' relevance": [1, 2],
        "its page's distance": [1],
    }
