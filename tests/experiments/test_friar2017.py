"""Walks of Friar (2017), in miniature."""

from collections import Counter

import pytest

from experiments.friar2017_walks import HELD_OUT, _opened, all_rewards, rewards_and_held_out, walk
from experiments.harness.experiment import Entry, Task, Trial, find_experiment
from experiments.harness.report_page import Page
from experiments.harness.results import Results
from experiments.harness.webs import Webs
from honeyguide.plan import Plan
from honeyguide.recorded.graph import Graph
from honeyguide.urls.spelling import host
from honeyguide.worlds.synthetic.world import SyntheticWorld

WEB = "links of synthetic:pages=5000,seed=1"


def test_links_alone_are_those_of_the_generated_web(tmp_path):
    world = Webs(None, tmp_path).world(WEB)
    graph = Graph.open(world.removeprefix("graph:"))
    whole = SyntheticWorld(lambda page: None, 5000, 1)
    assert len(graph) == 5000
    for page in range(0, 5000, 197):
        url = graph.url(page)
        draft = whole.draft(url)
        shown = {link.url for link in graph.page(page).links}
        if draft is None:
            assert shown == set()
        else:
            truth = whole.wiring.targets(whole.spot(draft.url))
            names = {whole.names.url(whole.layout.spot(to)) for to in truth}
            assert shown - {url} == names - {url}


def test_rewards_and_held_out_hosts_are_different_ones():
    rewards, held_out = rewards_and_held_out(20_000)
    assert rewards
    assert held_out
    assert not set(rewards) & set(held_out)


def test_without_a_part_to_hold_out_every_host_of_a_topic_is_rewarded():
    rewards, held_out = map(set, rewards_and_held_out(20_000))
    everything = set(all_rewards(20_000))
    assert everything & rewards
    assert everything & held_out
    assert everything < rewards | held_out  # two topics of three


def walked(part, rewards, folder, budget=200):
    task = Task(
        name="walk",
        web=WEB,
        topic="geology",
        judge="targets:" + ",".join(rewards),
        seeds=("50 random pages",),
        budget=budget,
    )
    entry = Entry(name="url_linear_q", agent="url_linear_q")
    return walk(Trial(part=part, task=task, entry=entry), Webs(None, folder).world(WEB), 0)


def test_held_out_hosts_are_counted_where_some_are_held_out(tmp_path):
    rewards, held_out = rewards_and_held_out(5000)
    found = walked(HELD_OUT, rewards, tmp_path, budget=1000)
    assert 0 < found["held_out"] <= len(held_out)
    assert walked("order", rewards, tmp_path)["held_out"] == 0


def test_a_walk_says_what_it_found(tmp_path):
    rewards = all_rewards(5000)
    found = walked("order", rewards, tmp_path)
    assert found["pages"] == 200
    assert found["curve"][-1] == found["relevant"] <= len(rewards)
    assert -1 <= found["separation"] <= 1
    assert sum(row["pages"] for row in found["histograms"]) > 1000


def test_walks_of_chapter_three_begin_at_no_target(tmp_path):
    rewards = set(all_rewards(5000))
    [part] = [part for part in find_experiment("friar2017").parts if part.name == "order"]
    seeds = part.trials(True)[0].task.seeds
    assert seeds == ("2500 pages off targets",)
    world = Webs(None, tmp_path).world(WEB)
    judge = "targets:" + ",".join(rewards)
    opened = _opened(Plan(topic="geology", seeds=seeds, world=world, judge=judge))
    assert len(opened.seeds) == len(opened.plan.seeds) == 2500
    assert not rewards & {host(seed.url) for seed in opened.seeds}


class Others:
    """Actors that have found every page about geology between them."""

    rewards = frozenset(f"http://graph.example/Page_{number}" for number in range(0, 40, 4))
    visited = rewards

    def __init__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def keep_pace(self, steps):
        pass


@pytest.mark.parametrize(
    ("judge", "together"), [("label:topic:geology", 10), ("targets:graph.example", 1)]
)
def test_rewards_of_all_actors_count_like_those_of_one(small_graph, judge, together, monkeypatch):
    urls = {Graph.open(small_graph).url(page) for page in range(40)}
    assert urls > Others.rewards
    monkeypatch.setattr("experiments.friar2017_walks.Actors", Others)
    task = Task(name="t", web="w", topic="rocks", judge=judge, seeds=("Page_2",), budget=30)
    entry = Entry(name="random_walk", agent="random_walk")
    found = walk(Trial(part="recorded", task=task, entry=entry), f"graph:{small_graph}", 0)
    assert 0 < found["relevant"] <= found["all_actors"] == together
    assert found["hosts"] == 1


@pytest.mark.parametrize("unseen", [1000, 0])
def test_values_are_compared_on_pages_that_no_actor_has_seen(tmp_path, unseen, monkeypatch):
    graph = Graph.open(Webs(None, tmp_path).world(WEB).removeprefix("graph:"))
    seen = frozenset(graph.url(page) for page in range(unseen, len(graph)))
    monkeypatch.setattr(Others, "visited", seen)
    monkeypatch.setattr("experiments.friar2017_walks.Actors", Others)
    found = walked("order", all_rewards(5000), tmp_path)
    compared = sum(row["pages"] for row in found.get("histograms", ()))
    assert unseen * 0.8 < compared + 1 <= unseen + 1


def test_every_agent_of_the_order_runs_once_on_each_of_five_fields():
    trials = find_experiment("friar2017").parts[0].trials(False)
    runs = Counter(trial.entry.name for trial in trials)
    assert len(trials) == 25 and set(runs.values()) == {5}
    assert {trial.task.budget for trial in trials} == {200_000}


def test_the_asynchronous_agent_runs_twice_where_others_run_three_times():
    [part] = [part for part in find_experiment("friar2017").parts if part.name == "recorded"]
    runs = Counter(t.entry.name for t in part.trials(False) if t.task.name == "webkb")
    assert runs["url_async_dqn"] == 2 and runs["random_walk"] == 3


def reported(part, names, found, folder):
    """The report of some runs, given the unique rewards of each."""
    experiment = find_experiment("friar2017")
    [some] = [each for each in experiment.parts if each.name == part]
    trials = [t for t in some.trials(False) if t.entry.name in names][: len(found)]
    same = {"repeat": 0, "reward_rate": 0.1, "all_actors": 9, "episode_length": 5, "links": 54}
    same |= {"milliseconds": 1.0, "processor_milliseconds": 1.0, "curve": [0] * 100, "budget": 100}
    records = [
        same
        | {"part": part, "entry": t.entry.name, "task": t.task.name}
        | {"trial": t.number, "digest": t.digest, "relevant": count}
        for t, count in zip(trials, found, strict=True)
    ]
    page = Page(folder)
    experiment.report(Results(trials, records), page)
    return page.markdown()


def test_the_spread_of_runs_is_that_of_a_sample_as_in_other_experiments(tmp_path):
    told = reported("recorded", ["url_async_dqn"], (40, 44), tmp_path)
    assert "| 42.0 | 2.83 |" in told


def test_margins_of_the_order_are_taken_run_by_run(tmp_path):
    """A half and a tenth more: three tenths in the mean, however many targets there were."""
    told = reported("order", ["random_walk", "url_linear_q"], (100, 150, 1000, 1100), tmp_path)
    assert "| 625 | 2 | +30.0% (sd 28.3%) |" in told
    assert "1,100 (+10.0%)" in told


def test_every_run_of_the_order_has_targets_of_its_own():
    [part] = [part for part in find_experiment("friar2017").parts if part.name == "order"]
    targets = {trial.number: set(trial.task.judge.split(",")) for trial in part.trials(False)}
    assert sorted(targets) == [0, 1, 2, 3, 4]
    for number, hosts in targets.items():
        assert not any(hosts & others for n, others in targets.items() if n != number)
