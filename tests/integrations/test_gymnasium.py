"""A crawl as a Gymnasium environment."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given
from hypothesis import strategies as st

from honeyguide import Plan
from honeyguide.errors import HoneyguideError
from honeyguide.features.discovery import Discovery
from honeyguide.integrations.candidate_frontier import CandidateFrontier
from honeyguide.integrations.gymnasium import ID, CrawlEnv, register
from honeyguide.integrations.link_rows import LinkRows
from honeyguide.learning.policies import save_policy

EXAMPLE = Path(__file__).parents[2] / "examples" / "train_gymnasium.py"
GOAL = {"topic": "geology", "seeds": ("geology",), "world": "synthetic:pages=1500", "budget": 60}


@pytest.fixture(scope="module")
def env():
    register()
    return gymnasium.make(ID, **GOAL, judge="label:geology").unwrapped


@pytest.fixture(scope="module")
def wide():
    """An environment that offers every waiting link."""
    return CrawlEnv(offers=3000, **GOAL, judge="label:geology")


@pytest.fixture(scope="module")
def recorded(small_graph):
    """Forty pages, ten of them about rocks."""
    return CrawlEnv(
        topic="rocks", seeds=("Page_2",), world=f"graph:{small_graph}", judge="label:geology"
    )


def crawl(env, choose, seed=1):
    """All steps of one episode."""
    _, info = env.reset(seed=seed)
    steps = []
    while not steps or not (steps[-1][2] or steps[-1][3]):
        steps.append(env.step(choose(info)))
        info = steps[-1][4]
    return steps


def test_gymnasiums_own_checker_finds_nothing_wrong(env):
    check_env(env)


def test_registering_twice_is_no_trouble_and_importing_honeyguide_registers_nothing():
    register()
    register()
    code = "import honeyguide, sys; assert 'gymnasium' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.parametrize(
    "agent", ["best_first", "guide", "beam:width=5", "host_limited_depth_first"]
)
def test_always_taking_the_first_offer_is_the_crawl_of_the_agent_that_ranks(agent):
    seen = []
    plan = Plan(**GOAL, judge="label:geology", agent=agent)
    plan.simulate(lambda visit, step, now: seen.append(visit.link.url))
    env = CrawlEnv(**GOAL, judge="label:geology", agent=agent, oracle=False)
    assert [step[4]["url"] for step in crawl(env, lambda info: 0)] == seen


def test_the_oracles_choice_among_all_that_waits_is_the_oracles_crawl(wide):
    last = crawl(wide, lambda info: info["oracle"])[-1][4]
    outcome = Plan(**GOAL, judge="label:geology", agent="oracle").simulate()
    assert (last["relevant_found"], last["pages"]) == (outcome.relevant, outcome.pages)


def test_the_oracle_is_not_in_what_a_learner_observes(env):
    observation, info = env.reset(seed=0)
    assert set(observation) == {"links", "state"}
    assert info["oracle"] == 0
    blind = CrawlEnv(oracle=False, **GOAL, judge="label:geology")
    other, said = blind.reset(seed=0)
    assert "oracle" not in said
    assert np.array_equal(other["links"], observation["links"])


def test_rewards_add_up_to_the_relevant_pages_found(env):
    rng = np.random.default_rng(3)
    steps = crawl(env, lambda info: rng.choice(np.flatnonzero(info["action_mask"])))
    assert sum(step[1] for step in steps) == steps[-1][4]["relevant_found"] > 0


def test_a_spent_budget_truncates_and_an_empty_frontier_terminates(env, recorded):
    assert [step[2:4] for step in crawl(env, lambda info: 0)] == [(False, False)] * 59 + [
        (False, True)
    ]
    steps = crawl(recorded, lambda info: 0)
    assert steps[-1][2:4] == (True, False)
    assert steps[-1][4]["oracle"] == -1
    assert not steps[-1][4]["action_mask"].any()
    assert len({step[4]["url"] for step in steps}) == len(steps) > 30


def test_the_mask_says_which_places_are_offered_and_the_rest_is_padding(recorded):
    observation, info = recorded.reset(seed=0)
    while info["action_mask"].any():
        offered = int(info["action_mask"].sum())
        assert info["action_mask"].tolist() == [1] * offered + [0] * (64 - offered)
        assert len(set(info["urls"])) == len(info["urls"]) == offered
        assert not observation["links"][offered:].any()
        assert observation["links"][:offered].any(axis=1).all()
        assert 0 <= info["oracle"] < offered
        observation, *_, info = recorded.step(offered - 1)


def test_an_action_without_an_offered_link_only_uses_the_budget(recorded):
    before, first = recorded.reset(seed=0)
    after, reward, terminated, truncated, info = recorded.step(63)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert (info["pages"], info["urls"]) == (0, first["urls"])
    assert np.array_equal(after["links"], before["links"])
    tiny = CrawlEnv(**GOAL | {"budget": 2}, judge="label:geology", oracle=False)
    tiny.reset(seed=0)
    assert [tiny.step(63)[3] for _ in range(2)] == [False, True]
    with pytest.raises(HoneyguideError, match="from 0 to 63, not 64"):
        tiny.step(64)


def test_the_same_seed_and_choices_give_the_same_episode(env):
    def trace():
        rng = np.random.default_rng(5)
        steps = crawl(env, lambda info: rng.choice(np.flatnonzero(info["action_mask"])), seed=7)
        told = [(step[4]["url"], step[1]) for step in steps]
        return told, np.array([step[0]["links"] for step in steps])

    (told, rows), (again, same_rows) = trace(), trace()
    assert told == again
    assert np.allclose(rows, same_rows, atol=1e-6)  # a product's last bit is the machine's affair


def test_an_episode_knows_nothing_of_those_before_it(env):
    def rows(env, choices):
        rng = np.random.default_rng(choices)
        steps = crawl(env, lambda info: rng.choice(np.flatnonzero(info["action_mask"])))
        return np.array([step[0]["links"] for step in steps])

    fresh = rows(CrawlEnv(**GOAL, judge="label:geology", oracle=False), 5)
    for other in range(3):
        rows(env, other)
    assert np.allclose(rows(env, 5), fresh, atol=1e-6)


def test_an_episode_can_start_elsewhere(recorded):
    _, info = recorded.reset(seed=0, options={"seeds": ["Page_4", "Page_8"]})
    assert [url.rpartition("/")[2] for url in info["urls"]] == ["Page_4", "Page_8"]


def test_rows_tell_of_parents_distance_and_depth(recorded):
    recorded.reset(seed=0, options={"seeds": ["Page_4"]})
    _, _, _, _, info = recorded.step(0)  # relevant: its three links are one hop from it
    rows = recorded.step(63)[0]["links"][: len(info["urls"])]
    column = dict(zip(LinkRows.NAMES, rows.T, strict=True))
    ones = np.ones(len(info["urls"]), np.float32)
    for name in ("parent relevance", "relevant-parent relevance", "relevant-parent share"):
        assert np.allclose(column[name], ones)
    assert np.allclose(column["page relevance"], ones)
    assert np.allclose(column["distance"], ones / 9)
    assert np.allclose(column["parents"], np.log(2))
    assert np.allclose(column["depth"], np.log(2))


def test_features_reward_and_ranking_can_be_others():
    other = CrawlEnv(
        features=lambda goal: Discovery(),
        reward=lambda visit: -1.0 if visit.failure else 2.0,
        agent="breadth_first",
        offers=5,
        **GOAL,
    )
    assert other.observation_space["links"].shape == (5, 1)
    steps = crawl(other, lambda info: 0)
    assert {step[1] for step in steps} <= {-1.0, 0.0, 2.0}
    oldest = [int(step[0]["links"][0, 0]) for step in steps]
    assert oldest == sorted(oldest)  # breadth first: the oldest link is always offered first


def test_slow_worlds_are_visited_on_a_simulated_clock(small_graph):
    slow = CrawlEnv(
        topic="rocks",
        seeds=("Page_2",),
        world=f"graph:path={small_graph},latency=1000",
        judge="label:geology",
        budget=5,
    )
    assert len(crawl(slow, lambda info: 0)) == 5

    async def inside_a_running_loop():
        return len(crawl(slow, lambda info: 0))

    assert asyncio.run(inside_a_running_loop()) == 5


def test_what_a_plan_says_of_links_that_wait_holds_here_too(small_graph, tmp_path):
    plan = {"topic": "rocks", "seeds": ("Page_2",), "world": f"graph:{small_graph}"}
    narrow = CrawlEnv(**plan, judge="label:geology", max_waiting=3, deny=["*Page_5"])
    steps = crawl(narrow, lambda info: 0)
    assert max(int(step[4]["action_mask"].sum()) for step in steps) == 3
    whole = crawl(CrawlEnv(**plan, judge="label:geology", deny=["*Page_5"]), lambda info: 0)
    visited = {step[4]["url"].rpartition("/")[2] for step in whole}
    assert "Page_5" not in visited
    assert len(visited) > 30
    with pytest.raises(HoneyguideError, match="an environment has no gate"):
        CrawlEnv(**plan, judge="label:geology", gate="parse_or_skip")


def test_the_agent_that_ranks_may_know_something_already(tmp_path):
    after = Plan(**GOAL, judge="label:geology", agent="guide").open().navigator().agent
    save_policy(tmp_path / "learnt", "guide", after)
    knows = CrawlEnv(**GOAL, judge="label:geology", agent="guide", policy=str(tmp_path / "learnt"))
    assert len(crawl(knows, lambda info: 0)) == 60
    lost = CrawlEnv(**GOAL, judge="label:geology", agent="guide", policy=str(tmp_path / "none"))
    with pytest.raises(HoneyguideError, match="cannot read the policy"):
        lost.reset(seed=0)


def test_the_live_web_is_no_environment():
    with pytest.raises(HoneyguideError, match="needs a recorded or generated web"):
        CrawlEnv(topic="rocks", seeds=("http://a.example/",), world="web", contact="a@a.example")


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(-3, 3)), max_size=40), st.integers(1, 12))
def test_offers_are_the_best_that_wait_older_first_among_equals(puts, count):
    frontier, waiting = CandidateFrontier(1), {}
    for id, score in puts:
        ids = np.array([id], np.int32)
        x = np.array([[id]], np.float32)
        frontier.put(ids, np.zeros(1, np.int32), x, np.array([score], np.float32))
        waiting[id] = score
    offer = frontier.best_few(count)
    expected = sorted(waiting, key=lambda id: (-waiting[id], id))[:count]
    assert offer.ids.tolist() == expected
    assert offer.x[:, 0].tolist() == expected
    assert len(frontier) == len(waiting)
    for id in expected:
        frontier.imposed = id
        assert frontier.take(0.0).id == id
        assert not frontier.wants(np.array([id], np.int32))[0]
    assert frontier.take(0.0) is None
    assert len(frontier) == len(waiting) - len(expected)


def test_the_example_trains_a_policy_that_beats_chance_on_a_web_it_has_not_seen():
    small = ("--episodes", "10", "--budget", "60", "--pages", "2000")
    done = subprocess.run(
        [sys.executable, EXAMPLE, *small], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    before, after = map(float, re.findall(r"[\d.]+(?= before| after)", done.stdout))
    assert after > 1.2 * before


def test_a_link_that_a_guard_refuses_is_gone_without_a_fetch(small_graph):
    guarded = CrawlEnv(
        topic="rocks", seeds=("Page_2",), world=f"graph:{small_graph}", judge="label:geology"
    )
    guarded.reset(seed=0)
    guarded._navigator.guard.allows = lambda memory, id, link: False
    _, reward, terminated, _, info = guarded.step(0)
    assert (reward, terminated, info["pages"]) == (0.0, True, 0)
