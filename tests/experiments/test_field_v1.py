import numpy as np
import pytest

from experiments.field_v1 import BEFORE, GUIDE, REPORTED, TASKS
from experiments.field_v1_crawl import RIDGES, crawl, start_and_ridge
from experiments.field_v1_webs import split_by_host
from experiments.harness.experiment import Task, Trial
from experiments.harness.ratios import bootstrap, paired_bootstrap
from honeyguide.recorded.graph import Graph
from honeyguide.recorded.writer import GraphWriter

WORLD = "synthetic:pages=2000,seed=5"
TASK = Task(
    name="wine",
    web=WORLD,
    topic="wine",
    judge="label:topic:wine",
    seeds=("wine", "music"),
    budget=60,
)


def trial(entry=GUIDE, number=0, part="labels"):
    return Trial(part=part, task=TASK, entry=entry, number=number)


def test_no_topic_of_a_web_is_both_developed_on_and_reported():
    places = {part: {(t.web, t.judge) for t in tasks} for part, tasks in TASKS.items()}
    reported = set.union(*(places[part] for part in REPORTED))
    others = set.union(*(found for part, found in places.items() if part not in REPORTED))
    assert reported and others and not reported & others


def test_perturbations_are_start_pages_with_each_ridge():
    asked = [start_and_ridge(trial(number=number)) for number in range(4)]
    assert asked == [(0, RIDGES[0]), (1, RIDGES[0]), (0, RIDGES[1]), (1, RIDGES[1])]


@pytest.mark.parametrize("entry", [GUIDE, BEFORE])
def test_a_crawl_is_counted_by_labels_and_comes_out_the_same_again(entry):
    first = crawl(trial(entry), WORLD, 0)
    assert first == crawl(trial(entry), WORLD, 0)
    assert first["pages"] == 60
    assert (
        first["relevant"]
        == first["relevant_500"]
        == first["told_relevant"]
        == first["curve"][-1]
        > 0
    )
    assert first != crawl(trial(entry, number=1), WORLD, 0)


def test_under_the_default_judge_labels_still_count():
    told = crawl(trial(part="judge"), WORLD, 0)
    assert told["relevant"] == len(told["hits"]) > 0


def test_noise_that_both_agents_share_does_not_widen_a_paired_interval():
    base = np.random.default_rng(0).uniform(10, 200, (6, 8))
    pairs = [((1.1 * row).tolist(), row.tolist()) for row in base]
    paired = paired_bootstrap(pairs, np.random.default_rng(0))
    assert paired == pytest.approx((1.1, 1.1, 1.1))
    apart = bootstrap(pairs, np.random.default_rng(0))
    assert apart.low < 1.0 < apart.high


def test_a_web_of_one_host_is_split_by_folder(tmp_path):
    site = "http://s.example/"
    index = site + "wp/index/subject.Science.Biology.htm"
    ant, picture = site + "wp/a/Ant.htm", site + "images/30/ant.htm"
    with GraphWriter(tmp_path / "whole") as writer:
        writer.add(index, index, "Biology", "", [(ant, "Ant"), (picture, "Picture")], ())
        writer.add(ant, ant, "Ant", "An insect.", [(picture, "Picture")], ())
        writer.add(picture, picture, "Picture", "", [], ())
    split_by_host(tmp_path / "whole", tmp_path / "split")
    graph = Graph.open(tmp_path / "split")
    assert [graph.url(page) for page in range(3)] == [
        "http://index.s.example/wp/index/subject.Science.Biology.htm",
        "http://a.s.example/wp/a/Ant.htm",
        "http://images1.s.example/images/30/ant.htm",
    ]
    read = graph.page(graph.find("Ant"))
    assert set(read.labels) == {"subject:Science", "subject:Biology"}
    assert [link.url for link in read.links] == ["http://images1.s.example/images/30/ant.htm"]
    assert graph.labels() == {"subject:Biology": 1, "subject:Science": 1}
