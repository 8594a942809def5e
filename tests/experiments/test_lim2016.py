"""Experiment lim2016: pages needed with a gate, and the paper's own lists."""

import numpy as np
import pytest

from experiments.harness.experiment import Entry, Task, Trial
from experiments.harness.results import Results
from experiments.lim2016_gate import change, needed
from experiments.lim2016_lists import iterate
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
