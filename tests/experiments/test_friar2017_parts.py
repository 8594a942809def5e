"""Smaller parts of friar2017: far held-out rewards, measured seconds, trials of settings."""

import numpy as np
import pytest

from experiments.friar2017 import PAPER_FOUND, WHY, count_targets, we_found
from experiments.friar2017_far import KEPT, far_walk, thinned
from experiments.friar2017_reach import reach
from experiments.friar2017_seconds import FAST, SLOW, host_seconds, page_seconds, timed_walk
from experiments.friar2017_trials import SAID, default_of, trial_entries, weights_plot
from experiments.friar2017_walks import all_rewards, rewards_and_held_out
from experiments.harness.experiment import Entry, Task, Trial, find_experiment
from experiments.harness.results import Results
from experiments.harness.webs import Webs
from honeyguide.recorded.graph import Graph
from honeyguide.registry import make, parts
from honeyguide.urls.spelling import host

PAGES = 3000
WEB = f"links of synthetic:pages={PAGES},seed=1"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return Webs(None, tmp_path_factory.mktemp("webs")).world(WEB)


def trial(agent="url_linear_q", part="far", rewards=None, budget=150):
    judge = "targets:" + ",".join(rewards or rewards_and_held_out(PAGES)[0])
    task = Task(
        name="t", web=WEB, topic="geology", judge=judge, seeds=("50 random pages",), budget=budget
    )
    return Trial(part=part, task=task, entry=Entry(name="e", agent=agent))


def links_into(graph, hosts):
    """Links from other hosts to pages of these hosts, and all other links."""
    pages = [host(graph.url(page)) for page in range(len(graph))]
    offsets, targets = graph.inside()
    sources = np.repeat(np.arange(len(graph)), np.diff(offsets))
    into = [
        pages[target] in hosts and pages[source] != pages[target]
        for source, target in zip(sources, targets, strict=True)
    ]
    return sum(into), len(into) - sum(into)


def test_few_links_lead_to_far_rewards_and_no_other_link_is_lost(world):
    whole = Graph.open(world.removeprefix("graph:"))
    far = Graph.open(thinned(whole.path))
    held_out = set(rewards_and_held_out(PAGES)[1])
    (before, others), (after, same) = links_into(whole, held_out), links_into(far, held_out)
    assert others == same
    assert 0 < before * KEPT / 4 < after < before * KEPT * 4
    assert [whole.url(page) for page in range(PAGES)] == [far.url(page) for page in range(PAGES)]


def test_a_walk_among_far_rewards_counts_both_kinds(world):
    found = far_walk(trial(), world, 0)
    rewards, held_out = rewards_and_held_out(PAGES)
    assert (found["rewards_there"], found["held_out_there"]) == (len(rewards), len(held_out))
    assert 0 <= found["held_out"] <= len(held_out)


def test_half_of_the_hosts_are_slow_and_pages_differ_a_little():
    hosts = [f"h{n}.example" for n in range(400)]
    assert np.mean([host_seconds(name) == SLOW for name in hosts]) == pytest.approx(0.5, abs=0.1)
    pages = [page_seconds(f"http://{hosts[0]}/{n}") for n in range(200)]
    assert np.median(pages) == pytest.approx(host_seconds(hosts[0]), rel=0.1)
    assert FAST * 0.1 < min(pages) < max(pages) < SLOW * 10


@pytest.mark.parametrize("agent", ["url_linear_q:second_price=0.1", "url_linear_q at 0.1"])
def test_a_timed_walk_counts_seconds_and_is_the_same_each_time(world, agent):
    found = timed_walk(trial(agent, "seconds"), world, 0)
    assert found["simulated_seconds"] <= 0.8 * 150 + 10 * SLOW
    assert 0 < found["fast_share"] < 1
    assert found == timed_walk(trial(agent, "seconds"), world, 0)


def test_optimal_values_of_a_generated_web_depend_on_links_and_not_on_hosts(world):
    found = reach(trial(part="reach", rewards=all_rewards(PAGES)), world, 0)
    assert sum(found["shares"].values()) == pytest.approx(1.0)
    assert found["by_links"] > found["by_host"]
    assert found["pages_there"] == PAGES


def test_every_trial_is_of_an_agent_with_settings_that_it_takes(encoder):
    from honeyguide.contracts import Goal

    entries = trial_entries(100)
    assert set(SAID) < {entry.name for entry in entries}
    for entry in entries:
        goal, rng = Goal("geology", encoder), np.random.default_rng(0)
        make("agent", entry.agent, goal=goal, rng=rng)
    assert {default_of(name) for name in SAID} <= {entry.name for entry in entries}
    assert "url_linear_q" in parts("agent")


def test_the_heaviest_words_are_drawn_with_their_sign():
    figure = weights_plot({"geology": 0.5, "blog": -0.7})
    bars = figure.axes[0].patches
    assert [round(bar.get_width(), 2) for bar in bars] == [-0.7, 0.5]


def test_the_opening_sentences_name_the_paper_and_what_was_found():
    assert "843 companies" in PAPER_FOUND and WHY
    trials = [t for part in find_experiment("friar2017").parts for t in part.trials(True)]
    assert not we_found(Results(trials, []))
    order = [t for t in trials if t.part == "order"]
    records = [
        {"part": "order", "task": t.task.name, "entry": t.entry.name, "trial": t.number}
        | {
            "repeat": 0,
            "digest": t.digest,
            "relevant": 100 if t.entry.name == "random_walk" else 150,
        }
        for t in order
    ]
    results = Results(trials, records)
    assert "url_linear_q +50%" in we_found(results)
    assert count_targets(results, "order", order[0].task.name) == len(all_rewards(20_000))
