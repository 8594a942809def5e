"""honeyguide train dqn: training over several crawls, checkpoints, errors in one sentence."""

import errno
import os
from dataclasses import replace

import numpy as np
import pytest

from honeyguide.disk import serialise

pytest.importorskip("torch")

from honeyguide.disk.serialise import read_state
from honeyguide.errors import HoneyguideError
from honeyguide.learning.policies import load_policy
from honeyguide.plan import Plan
from honeyguide.training.pretraining import Training, _trained_navigator


def lesson(topic, **more):
    settings = {"world": "synthetic:pages=600", "agent": "dqn", "budget": 60, "seeds": (topic,)}
    return Plan(topic=topic, judge=f"label:{topic}", **settings | more)


def training(tmp_path, **more):
    return Training((lesson("geology", **more), lesson("football", **more)), 2, tmp_path / "it")


def silent(done, total, news):
    pass


def network(path):
    return read_state(path)["policy"]["network"]["block"]


class StopError(Exception):
    pass


def stopped_after(visits):
    def report(done, total, news):
        if done >= visits:
            raise StopError

    return report


def test_training_that_was_stopped_goes_on_exactly(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    whole = training(tmp_path / "a")
    found = whole.run(False, silent)
    assert len(found) == 4
    again = training(tmp_path / "b")
    with pytest.raises(StopError):
        again.run(False, stopped_after(170))
    assert again.checkpoint.exists()
    assert again.run(True, silent) == found
    assert np.array_equal(network(whole.out), network(again.out))
    assert not again.checkpoint.exists()


@pytest.mark.parametrize(
    "agent", ["url_linear_q:replay=ranked", "url_cnn_dqn", "url_async_dqn:actors=0"]
)
def test_walks_can_be_trained_too_and_go_on_exactly(tmp_path, agent):
    def lessons(folder):
        plan = lesson("geology", agent=agent, seeds=("40 random pages",), budget=110)
        return Training((plan,), 2, tmp_path / folder)

    found = lessons("a").run(False, silent)
    again = lessons("b")
    with pytest.raises(StopError):
        again.run(False, stopped_after(150))
    assert again.run(True, silent) == found
    a, b = (read_state(tmp_path / name)["policy"] for name in "ab")
    weights = (lambda p: p["weights"]) if "weights" in a else (lambda p: p["network"]["block"])
    assert np.array_equal(weights(a), weights(b))
    (log,) = (tmp_path / "a.logs").glob("events.out.tfevents.*")
    for figure in (b"loss", b"mean value", b"epsilon", b"rewards"):
        assert figure in log.read_bytes()


def test_several_actors_train_one_network_and_go_on_from_a_checkpoint(tmp_path):
    agent = "url_async_dqn:actors=2,epsilon_steps=300"
    plan = lesson("geology", agent=agent, seeds=("40 random pages",), budget=100)
    together = Training((plan,), 2, tmp_path / "it")
    with pytest.raises(StopError):
        together.run(False, stopped_after(150))
    kept = read_state(together.checkpoint)["learnt"]
    steps = kept["counts"][0]
    assert steps > 150  # of two actors, while one crawl of 100 pages was watched
    pupil = _trained_navigator(plan.open(), kept).agent
    assert len(together.run(True, silent)) == 2
    assert not np.array_equal(network(together.out), kept["values"]["network"]["block"])
    actor = plan.open().navigator().agent
    actor.join(pupil.share())
    assert actor._exploration.epsilon == pytest.approx(0.1 * (1 - (steps // 2) / 300))


def test_a_trained_policy_serves_a_crawl_and_logs_are_there(tmp_path):
    train = training(tmp_path)
    train.run(False, silent)
    (log,) = (tmp_path / "it.logs").glob("events.out.tfevents.*")
    for figure in (b"loss", b"mean value", b"epsilon", b"rewards"):
        assert figure in log.read_bytes()
    agent = lesson("sailing").open().navigator().agent
    before = agent.policy()["network"]["block"].copy()
    load_policy(train.out, "dqn", agent)
    assert not np.array_equal(agent.policy()["network"]["block"], before)


def test_a_damaged_checkpoint_gets_one_sentence(tmp_path):
    train = training(tmp_path)
    with pytest.raises(StopError):
        train.run(False, stopped_after(80))
    data = train.checkpoint.read_bytes()
    train.checkpoint.write_bytes(data[: len(data) // 2])
    with pytest.raises(HoneyguideError, match="is damaged: train again without --resume"):
        train.run(True, silent)


def test_a_full_disk_gets_one_sentence(tmp_path, monkeypatch):
    def full(file, state):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(serialise, "write_state", full)
    with pytest.raises(HoneyguideError, match=r"cannot write .*checkpoint: No space left"):
        training(tmp_path).run(False, silent)
    assert [path.name for path in tmp_path.iterdir()] == ["it.logs"]


@pytest.mark.parametrize("other", [{"budget": 70}, {"encoder": "wordllama:64"}, {"random_seed": 9}])
def test_a_checkpoint_of_something_else_gets_one_sentence(tmp_path, other):
    with pytest.raises(StopError):
        training(tmp_path).run(False, stopped_after(80))
    with pytest.raises(HoneyguideError, match="is of another training"):
        training(tmp_path, **other).run(True, silent)


def test_a_policy_of_another_shape_gets_one_sentence(tmp_path):
    train = training(tmp_path)
    train.run(False, silent)
    other = lesson("geology", agent="dqn:dueling=false").open().navigator().agent
    with pytest.raises(
        HoneyguideError, match="does not fit: it belongs to a network of another shape"
    ):
        load_policy(train.out, "dqn", other)


def test_an_agent_that_learns_nothing_cannot_be_trained(tmp_path):
    with pytest.raises(HoneyguideError, match="cannot be trained"):
        training(tmp_path, agent="best_first").run(False, silent)
    assert not list(tmp_path.iterdir())


def test_every_crawl_is_checked_before_the_first_and_nothing_is_left_behind(tmp_path):
    lost = replace(lesson("football"), seeds=("nosuch",))
    with pytest.raises(HoneyguideError, match="'nosuch'"):
        Training((lesson("geology"), lost), 1, tmp_path / "it").run(False, stopped_after(0))
    assert not list(tmp_path.iterdir())


def test_a_policy_that_cannot_be_written_is_told_before_training(tmp_path):
    out, logs = tmp_path / "none" / "it", tmp_path / "logs"
    with pytest.raises(HoneyguideError, match="there is no folder"):
        Training((lesson("geology"),), 1, out, logs).run(False, stopped_after(0))
    assert not list(tmp_path.iterdir())
