"""Agents that see nothing but the words of URLs (Friar 2017)."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from queue import SimpleQueue

import numpy as np
import pytest

from honeyguide.agents.url_classifier import PASSES, balanced
from honeyguide.agents.url_linear_q import UrlLinearQ
from honeyguide.contracts import Goal, Link, Step, Verdict
from honeyguide.engine.loop import run_simulated, simulate
from honeyguide.engine.navigator import Navigator
from honeyguide.errors import HoneyguideError
from honeyguide.frontiers.walks import Walks
from honeyguide.plan import Plan
from honeyguide.registry import make
from honeyguide.training.actors import DONE, ActorReport, Actors, _send, _Signals
from tests.candidates import candidates

from ..processes import end
from ..webs import TinyWeb

PLAIN = "river cloud window paper garden market bridge carpet".split()


def web():
    """Pages named for what they are: plain ones, gates, and prizes behind the gates."""
    rng = np.random.default_rng(0)
    kinds = {"prize": 30, "gate": 60, "plain": 510}
    names = {
        kind: [f"{kind if kind != 'plain' else PLAIN[n % 8]}-{n}" for n in range(count)]
        for kind, count in kinds.items()
    }

    def some(kind, count):
        return [names[kind][n] for n in rng.integers(0, kinds[kind], count)]

    links = {name: some("prize", 2) + some("plain", 8) for name in names["gate"]}
    for name in names["plain"]:
        links[name] = some("gate", int(rng.integers(1, 3))) + some("plain", 5)
    links |= {name: some("plain", 3) for name in names["prize"]}
    return TinyWeb(links, relevant=names["prize"])


def rewards(name, encoder, steps=600, **settings):
    """Rewarded visits of a walk that begins at plain pages."""
    world = web()
    rng, for_frontier = np.random.default_rng(5).spawn(2)
    goal = Goal("prizes", encoder, world.truth)
    agent = make("agent", name, goal=goal, rng=rng, **settings)
    navigator = Navigator(agent, Walks(agent.features.width, for_frontier))
    starts = [Link(world.address(name)) for name in world.links if name[:5] in ("river", "paper")]
    found = []
    note = lambda visit, step, now: found.append(visit.verdict.relevant)  # noqa: E731
    simulate(navigator, world, starts, steps, observer=note)
    return sum(found), agent


def rows(agent, *urls):
    for _ in range(3):  # until the words have numbers
        found = agent.features.rows(urls)
    return found


def step(x, reward=0.0, options=None, relevant=False):
    options = np.empty((0, len(x)), np.float32) if options is None else options
    return Step(
        Link("http://x.example/", depth=1),
        0,
        x,
        reward,
        Verdict(reward, relevant),
        None,
        candidates(options),
    )


def test_a_linear_step_is_one_of_adam_towards_equation_3_1():
    agent = UrlLinearQ(Goal("prizes", None), np.random.default_rng(0))
    page, one, two = rows(agent, "http://rock.example/", "http://sea.example/", "http://law.test/")
    before = agent.score(candidates(np.stack([page, one, two])))
    agent.learn([step(page, 0.0, np.stack([one, two]))])
    target = 0.75 * before[1:].max()
    moved = agent.score(candidates(page[None]))[0] - before[0]
    # Adam's first step moves each weight by its step size in the direction of the error
    assert moved == pytest.approx(2 * 0.001 * np.sign(target - before[0]), rel=1e-3)


def test_nothing_is_expected_beyond_a_reward():
    agent = UrlLinearQ(Goal("prizes", None), np.random.default_rng(0), step_size=0.02)
    page, other = rows(agent, "http://rock.example/", "http://sea.test/")
    agent._w[agent.features._numbers["sea"]] = 50.0
    for _ in range(400):
        agent.learn([step(page, 1.0, other[None], relevant=True)])
    assert agent.score(candidates(page[None]))[0] == pytest.approx(1.0, abs=0.05)


def test_a_step_costs_what_the_penalty_says():
    agent = UrlLinearQ(Goal("prizes", None), np.random.default_rng(0), penalty=0.05)
    visit = type("V", (), {"verdict": Verdict(1.0, True)})
    assert agent.reward(visit) == pytest.approx(0.95)


@pytest.mark.parametrize("replay", ["none", "uniform", "ranked"])
def test_linear_q_learning_finds_more_than_a_random_walk(encoder, replay):
    random, _ = rewards("random_walk", encoder)
    linear, agent = rewards("url_linear_q", encoder, step_size=0.01, replay=replay)
    assert linear > 3 * random
    assert agent.weights()["prize"] > agent.weights()["gate"] > agent.weights()["river"]


def test_texts_beside_urls_can_be_read_too(encoder):
    _, agent = rewards("url_linear_q", encoder, steps=100, text=True)
    assert any(word.startswith("~") for word in agent.weights())


def test_learnt_weights_serve_another_crawl():
    one = UrlLinearQ(Goal("prizes", None), np.random.default_rng(0))
    (page,) = rows(one, "http://rock.example/")
    one.learn([step(page, 1.0, relevant=True)])
    other = UrlLinearQ(Goal("prizes", None), np.random.default_rng(1))
    other.load_policy(one.policy())
    assert other.score(candidates(other.features.rows(["http://rock.example/"]))) == one.score(
        candidates(page[None])
    )


def test_without_torch_all_else_works_and_the_extra_is_named():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from honeyguide.registry import make, missing, parts\n"
        "print(sorted(missing('agent').items())); print('url_linear_q' in parts('agent'))\n"
        "from honeyguide.errors import HoneyguideError\n"
        "try: make('agent', 'url_cnn_dqn')\n"
        "except HoneyguideError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "('dqn', 'deep')" in done.stdout
    assert "True" in done.stdout
    assert "pip install 'honeyguide[deep]'" in done.stdout


def test_without_torch_the_list_of_agents_says_how_to_get_every_one():
    code = (
        "import sys; sys.modules['torch'] = None; sys.argv[1:] = ['list', 'agents']\n"
        "from honeyguide.cli import main; main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lacking = [line.split()[0] for line in done.stdout.splitlines() if "honeyguide[deep]" in line]
    networks = "dqn dqn_outputs url_async_dqn url_bag_classifier url_classifier url_cnn_dqn"
    assert sorted(lacking) == networks.split()


@pytest.mark.parametrize(
    "settings",
    [{}, {"replay": "none"}, {"target_every": 0}, {"double": True}, {"replay": "ranked"}],
)
def test_the_network_finds_more_than_a_random_walk_whatever_is_left_out(encoder, settings):
    random, _ = rewards("random_walk", encoder)
    network, _ = rewards("url_cnn_dqn", encoder, step_size=0.01, **settings)
    assert network > 1.5 * random


def test_a_single_actor_learns_too(encoder):
    random, _ = rewards("random_walk", encoder)
    alone, _ = rewards("url_async_dqn", encoder, update_every=1, step_size=0.01)
    assert alone > 2 * random


def test_the_classifier_is_better_than_chance_and_knows_pages_it_was_not_shown(encoder):
    from experiments.friar2017_values import separation
    from honeyguide.learning.optimal import optimal_values

    random, _ = rewards("random_walk", encoder)
    found, agent = rewards("url_classifier", encoder, step_size=0.03)
    assert found > 3 * random
    truth = web().truth()
    unseen = np.setdiff1d(np.arange(len(truth.relevant)), agent.seen)
    values = agent.score(
        candidates(agent.features.rows([truth.url(page) for page in unseen.tolist()]))
    )
    assert separation(values, optimal_values(truth, 0.75)[unseen]) > 0.4


def trained_by_two(**settings):
    plan = Plan(
        topic="geology",
        seeds=("100 random pages",),
        world="synthetic:pages=1000",
        judge="label:geology",
        agent="url_async_dqn:actors=2",
        **settings,
    )
    opened = plan.open()
    return plan, opened, opened.navigator()


def test_actors_in_processes_train_the_network_that_is_watched():
    plan, opened, navigator = trained_by_two(budget=150)
    agent = navigator.agent
    before = agent.policy()["network"]["block"][0].copy()
    with Actors(plan, agent) as actors:
        pace = lambda visit, step, now: actors.keep_pace(navigator.memory.visits)  # noqa: E731
        run_simulated(opened.crawl(navigator, pace).run(opened.seeds))
        actors.keep_pace(1_000_000)  # all have ended: nobody is waited for
    assert [report.steps for report in actors.reports] == [150, 150]
    assert all(10 < len(report.visited) <= 150 for report in actors.reports)
    assert actors.rewards <= actors.visited
    assert int(agent._counts[0]) > 200  # steps of both, but for a few lost at the same moment
    assert not np.array_equal(agent.policy()["network"]["block"][0], before)
    assert not agent.explores()


@pytest.mark.parametrize(
    ("taken", "behind"),
    [([90, 100], True), ([100, 100], False), ([DONE, 90], True), ([DONE, 100], False)],
)
def test_an_actor_that_has_ended_says_nothing_of_how_far_the_others_are(taken, behind):
    plan, _, navigator = trained_by_two(budget=100)
    actors = Actors(plan, navigator.agent)
    actors._steps = taken
    assert actors._is_behind(100) == behind


def test_an_actor_that_is_killed_is_not_waited_for():
    plan, _, navigator = trained_by_two(budget=1_000_000)
    with (
        pytest.raises(HoneyguideError, match="an actor has failed"),
        Actors(plan, navigator.agent) as actors,
    ):
        os.kill(actors._processes[0].pid, signal.SIGKILL)
        actors.keep_pace(1_000_000)


TRAINED = """
import time
from honeyguide.training.actors import Actors
from tests.agents.test_url_agents import trained_by_two

if __name__ == "__main__":
    plan, _, navigator = trained_by_two(budget=1_000_000)
    with Actors(plan, navigator.agent) as actors:
        print(*(process.pid for process in actors._processes), flush=True)
        time.sleep(60)
"""


def test_actors_end_when_the_one_they_train_is_killed(tmp_path):
    program = tmp_path / "trained.py"  # a file, since actors begin by importing it
    program.write_text(TRAINED)
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, str(program)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    ) as trained:
        actors = [int(pid) for pid in trained.stdout.readline().split()]
        trained.kill()
    assert len(actors) == 2
    assert end(actors)


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("url_linear_q:replay=some", "no replay named 'some'"),
        ("url_async_dqn:update_every=0", "target_every of at least 1"),
        ("url_async_dqn:target_every=0", "target_every of at least 1"),
        ("url_async_dqn:actors=-1", "zero or more actors"),
        ("url_classifier:batches=0", "at least one batch"),
        ("url_bag_classifier:batches=0", "at least one batch"),
        ("dqn:gamma=1", "0 <= gamma < 1"),
        ("dqn:epsilon=7", "0 <= epsilon <= 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(spec, complaint, encoder):
    goal = Goal("prizes", encoder, web().truth)
    with pytest.raises(HoneyguideError, match=complaint):
        make("agent", spec, goal=goal, rng=np.random.default_rng(0))


def test_every_optimal_value_is_shown_as_often_unless_few_pages_have_it():
    optimal = np.array([1.0] * 3000 + [0.75] * 6000 + [0.5] * 11_000 + [0.25] * 2, np.float32)
    even = np.ones(len(optimal), np.int64)
    batches = balanced(optimal, even, 1000, 40, np.random.default_rng(0))
    shown = np.bincount(np.concatenate(batches), minlength=len(optimal))
    often = [shown[optimal == level].sum() / shown.sum() for level in (1.0, 0.75, 0.5)]
    assert often == pytest.approx([1 / 3] * 3, abs=0.02)
    assert shown[-2:].max() <= 2 * PASSES  # about PASSES, not thousands of times


def test_pages_are_shown_as_often_as_walks_have_the_choice_of_them():
    optimal = np.repeat(np.float32([1.0, 0.75]), [2, 4000])
    often = np.ones(len(optimal), np.int64)
    often[2:4] = 2000  # two pages to which half of all links lead
    batches = balanced(optimal, often, 1000, 40, np.random.default_rng(0))
    shown = np.bincount(np.concatenate(batches), minlength=len(optimal))
    assert shown[2:4].sum() / shown[2:].sum() == pytest.approx(0.5, abs=0.02)


def test_an_actor_without_a_parent_sends_no_report():
    # no process has begun this one, as when the one that is trained is gone
    said: SimpleQueue[ActorReport] = SimpleQueue()
    _send(_Signals(said, None, None, None), ActorReport(1, frozenset(), frozenset()))
    assert said.empty()


def test_a_survey_says_which_words_are_common_before_a_walk_begins():
    settled = {"topic": "geology", "seeds": ("geology",), "world": "synthetic:pages=2000"}
    plan = Plan(**settled, survey=1000)
    bag, network = (
        Plan(**settled, survey=1000, agent=name).open().navigator().agent.features
        for name in ("url_linear_q", "url_cnn_dqn")
    )
    assert len(plan.open().goal.surveyed()) == 1000
    assert len(bag.words) < len(network.words)
    assert {"example", "html"} <= set(bag.words) & set(network.words)
    assert not Plan(**settled).open().goal.surveyed()


def test_the_live_web_cannot_be_surveyed():
    plan = Plan(topic="geology", seeds=("http://rock.example/",), world="web", survey=10)
    with pytest.raises(HoneyguideError, match="a survey needs a recorded or generated web"):
        plan.open().navigator()
    with pytest.raises(HoneyguideError, match="zero or more"):
        Plan(topic="geology", seeds=("geology",), survey=-1)
