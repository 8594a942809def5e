"""Experiment lim2016: pages needed with a gate, the paper's own lists, and its whole crawler."""

from dataclasses import replace

import numpy as np
import pytest

from experiments.harness.experiment import Entry, Task, Trial
from experiments.harness.report_page import Page as ReportPage
from experiments.harness.results import Results
from experiments.lim2016 import PAPER_FOUND, WHY, we_found
from experiments.lim2016_composite import (
    ENTRIES,
    LIM,
    MODIFIED,
    RUN,
    SEARCHES,
    composite_tasks,
    plan_of,
    run_composite,
)
from experiments.lim2016_gate import change, needed
from experiments.lim2016_lists import iterate, loop_once
from experiments.lim2016_policy import report_policy
from experiments.lim2016_time import (
    PUBLISHED,
    _similarity,
    _word_vectors,
    run_live,
)
from honeyguide.contracts import Link, Page, Verdict, Visit
from honeyguide.engine.loop import run_simulated

TASK = Task(name="t", web="w", topic="x", seeds=("s",), budget=120)  # 100 pages count


def results(**hits):
    trials = [Trial(part="p", task=TASK, entry=Entry(name=name, agent="random")) for name in hits]
    common = {"part": "p", "task": "t", "trial": 0, "repeat": 0, "budget": 120}
    records = [
        {**common, "entry": trial.entry.name, "digest": trial.digest, "hits": hits[name]}
        for trial, name in zip(trials, hits, strict=True)
    ]
    return Results(trials, records)


def test_pages_needed_are_those_for_what_was_found_in_the_pages_that_count():
    found = results(bare=[10, 50, 110], worn=[5, 20, 30])
    assert needed(found, "p", "t", "worn", "bare") == (20, 50)
    assert change([(20, 50)], 120) == "-60%"


def test_a_run_that_did_not_get_there_counts_with_all_its_pages():
    found = results(bare=[10, 50], worn=[5])
    pair = needed(found, "p", "t", "worn", "bare")
    assert pair == (float("inf"), 50)
    assert change([pair, (30, 100)], 120) == "at least +0%"


def test_nothing_is_said_of_a_task_on_which_nothing_was_found():
    pair = needed(results(bare=[], worn=[5]), "p", "t", "worn", "bare")
    assert np.isnan(pair).all()
    assert change([pair], 120) == "–"


class Small:
    """A web by its links: a letter is a host, a digit a page of it."""

    def __init__(self, **pages):
        self.pages = pages
        self.asked = []

    async def visit(self, link):
        name = link.url.removeprefix("http://").replace("/", "")
        self.asked.append(name)
        links = tuple(Link(f"http://{to[0]}/{to[1:]}") for to in self.pages.get(name, "").split())
        return Visit(link, Page(link.url, links=links), Verdict(0.0, False))


def lists(world, iterations, modified, seed=0):
    seeds = [Link("http://a/0")]
    work = iterate(world, seeds, iterations, modified, np.random.default_rng(seed))
    return run_simulated(work)


def test_in_the_papers_queue_a_link_waits_as_often_as_it_is_found():
    world = Small(a0="b1 c1", b1="a0 c1", c1="b1")
    queue, stack = lists(world, 3, modified=False), lists(world, 3, modified=True)
    assert queue["waiting"] == 3, "two from the first page, three from the others, two were taken"
    assert queue["pages"] == 3
    assert stack["waiting"] < queue["waiting"], "it leaves what was visited"


def test_in_the_papers_stack_links_are_left_when_the_three_pages_before_were_of_the_same_host():
    path = {f"a{n}": f"a{n + 1}" for n in range(9)}
    assert lists(Small(**path), 9, modified=True)["pages"] == 4
    assert lists(Small(**path), 9, modified=False)["pages"] == 9
    path["a2"], path["b0"] = "b0", "a3"
    assert lists(Small(**path), 9, modified=True)["pages"] == 8, "another host lets it go on"


@pytest.mark.parametrize("modified", [False, True])
def test_the_same_order_of_links_gives_the_same_lists(modified):
    world = Small(**{f"{h}{n}": f"a{n} b{n + 1} c{n + 2}" for h in "abc" for n in range(8)})
    assert lists(world, 12, modified, seed=3) == lists(world, 12, modified, seed=3)


# --------------------------------------------------------------------------- the whole crawler


def small(entry, budget=40, web="synthetic:pages=2000,seed=1"):
    """A trial of the paper's crawler on a small web."""
    task = replace(composite_tasks(quick=True)[0], web=web, budget=budget)
    [chosen] = [each for each in ENTRIES if each.name == entry]
    return Trial(part="composite", task=task, entry=chosen, function=RUN)


@pytest.fixture(autouse=True)
def searches(monkeypatch):
    words = ("geology", "volcanoes", "astronomy")
    monkeypatch.setitem(SEARCHES, "synthetic:pages=2000,seed=1", words)


def test_the_papers_gate_parses_nothing_but_the_seeds_in_its_first_iterations():
    trial = small(LIM)
    found = run_composite(trial, trial.task.web, 0)
    assert found["pages"] == 40
    assert found["iterations"] > 100, "skipped links count, too"
    assert found["pages_50"] == 10, "the ten hub pages"
    assert found["pages_5"] == found["iterations_5"] == 5


def test_without_a_gate_every_iteration_is_a_page_and_its_own_score_is_added_up():
    trial = small(MODIFIED)
    found = run_composite(trial, trial.task.web, 0)
    assert found["iterations"] == found["pages"] == 40
    assert found["pages_50"] == 40
    assert 0 < found["relevance"] < 40
    assert found["mean_relevance"] == pytest.approx(found["relevance"] / 40, abs=1e-4)
    assert found["relevance_5"] <= found["relevance_50"] == found["relevance"]


def test_the_papers_loops_count_what_their_pages_hold():
    trial = small(MODIFIED)
    plan = plan_of(trial, trial.task.web, 0)
    found = loop_once(plan, 10, modified=True, random_seed=0)
    assert found["pages"] == 10
    assert found["links"] >= found["waiting"] > 0
    assert found["characters"] > 0
    assert found["processor_seconds"] > 0


def test_skipped_pages_are_not_requested_over_http():
    bare, gated = (replace(small(name, budget=20), part="live") for name in (MODIFIED, LIM))
    found = [run_live(trial, trial.task.web, 0) for trial in (bare, gated)]
    assert found[0]["pages"] == 20
    assert found[0]["requests"] >= 20, "robots.txt included"
    assert found[1]["pages_50"] < found[0]["pages_50"]
    assert found[1]["requests"] < found[0]["requests"]


def test_phrases_compared_one_by_one_have_the_similarity_of_their_mean_vectors(encoder):
    vectors = _word_vectors(["music", "rock", "classical music"], encoder)
    same = _similarity(["classical", "music"], ["classical", "music"], vectors)
    assert same == pytest.approx(1.0, abs=1e-5)
    assert _similarity(["rock"], ["classical", "music"], vectors) < 0.9
    assert _similarity([], ["music"], vectors) == 0.0


def test_the_policy_is_reported_for_a_discount_of_one(tmp_path):
    page = ReportPage(tmp_path)
    figures = report_policy(page)
    assert figures["states parsed at discount 1, penalty 0"] == 0
    assert figures["states parsed at discount 1, penalty 1.5"] == 16
    assert "| 0.5 | 12 | 4 | 4 | 0 | 0 |" in page.markdown()


def test_the_opening_sentences_name_figures_only_where_there_are_runs():
    assert we_found(Results([], [])) == ""
    assert "4,459 s" in PAPER_FOUND
    assert "51 to 70 ms" in WHY


def test_the_papers_seconds_are_51_to_70_milliseconds_a_waiting_link():
    cells = [
        1e3 * seconds / links
        for queue, stack, queue_seconds, stack_seconds in PUBLISHED.values()
        for links, seconds in ((queue, queue_seconds), (stack, stack_seconds))
    ]
    assert (round(min(cells)), round(max(cells))) == (51, 70)
