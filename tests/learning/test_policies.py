"""What an agent has learnt serves another crawl."""

import subprocess
import sys

import numpy as np
import pytest

from honeyguide.contracts import Candidates, Goal, Trainable
from honeyguide.disk.serialise import read_state, write_state
from honeyguide.errors import HoneyguideError
from honeyguide.learning.policies import load_policy, save_policy
from honeyguide.plan import Plan
from honeyguide.registry import make
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.worlds.synthetic.world import SyntheticWorld

LINEAR = "linear_sync:categories=earth"


@pytest.fixture
def learner(encoder):
    return lambda spec=LINEAR: make(
        "agent", spec, goal=Goal("geology", encoder), rng=np.random.default_rng(0)
    )


def plan(**more):
    said = {"world": "synthetic:pages=400", "seeds": ("geology",), "topic": "geology"}
    return Plan(**said | {"agent": LINEAR, "judge": "word_and_cosine", "budget": 40} | more)


def crawl(folder, **more):
    create_crawl(folder, plan(**more))
    return run_crawl(folder, lambda *told: None).outcome


def test_a_crawl_leaves_what_it_learnt_and_another_starts_from_it(tmp_path, learner):
    crawl(tmp_path / "first")
    learnt = tmp_path / "first" / "learnt.policy"
    fresh = learner()
    load_policy(learnt, LINEAR, fresh)
    assert fresh.policy()["weights"].any()
    crawl(tmp_path / "second", policy=str(learnt), budget=1)
    kept = read_state(tmp_path / "second" / "learnt.policy")["policy"]["weights"]
    assert kept.tolist() == fresh.policy()["weights"].tolist()  # a seed teaches nothing


def test_an_agent_inside_another_leaves_its_policy_and_starts_from_one(tmp_path, learner):
    beam = "beam:agent=linear_sync"
    first, second = learner(beam), learner(beam)
    first.agent._w = first.agent._w + 1.0
    assert save_policy(tmp_path / "kept", beam, first)
    load_policy(tmp_path / "kept", beam, second)
    assert second.agent.policy()["weights"].tolist() == first.agent.policy()["weights"].tolist()


def test_a_warm_crawl_resumes_as_if_nothing_had_happened_and_without_the_file(tmp_path):
    crawl(tmp_path / "first")
    learnt = tmp_path / "first" / "learnt.policy"
    crawl(tmp_path / "whole", policy=str(learnt), budget=60)
    create_crawl(tmp_path / "parts", plan(policy=str(learnt), budget=60))
    learnt.unlink()
    run_crawl(tmp_path / "parts", lambda *told: None, budget=25)
    run_crawl(tmp_path / "parts", lambda *told: None, budget=60)
    whole, parts = (
        read_state(tmp_path / name / "learnt.policy")["policy"]["weights"].tolist()
        for name in ("whole", "parts")
    )
    assert whole == parts


def test_an_agent_that_does_not_learn_leaves_no_policy(tmp_path, learner):
    crawl(tmp_path / "out", agent="best_first")
    assert not (tmp_path / "out" / "learnt.policy").exists()
    assert not isinstance(learner("best_first"), Trainable)
    save_policy(tmp_path / "p", LINEAR, learner())
    with pytest.raises(HoneyguideError, match="'best_first' has no policy to load"):
        load_policy(tmp_path / "p", "best_first", learner("best_first"))


def test_a_policy_that_does_not_fit_is_refused_in_one_sentence(tmp_path, learner):
    path = tmp_path / "p"
    save_policy(path, LINEAR, learner())
    with pytest.raises(HoneyguideError, match="a policy of agent 'linear_sync', not of 'linear_a"):
        load_policy(path, "linear_async", learner("linear_async"))
    with pytest.raises(HoneyguideError, match="does not fit: 18 weights do not fit 14 features"):
        load_policy(path, "linear_sync", learner("linear_sync"))
    with pytest.raises(HoneyguideError, match=r"cannot read the policy .*: No such file"):
        load_policy(tmp_path / "none", LINEAR, learner())
    with pytest.raises(HoneyguideError, match="cannot read the policy"):
        load_policy(tmp_path, LINEAR, learner())


def test_a_damaged_policy_is_refused_wherever_the_damage_is(tmp_path, learner):
    path = tmp_path / "p"
    save_policy(path, LINEAR, learner())
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        with pytest.raises(HoneyguideError, match="is no policy file, or it is damaged"):
            load_policy(path, LINEAR, learner())
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
        with pytest.raises(HoneyguideError, match="is no policy file, or it is damaged"):
            load_policy(path, LINEAR, learner())


NOT_POLICIES = (
    {},
    {"agent": "linear_sync"},
    {"agent": "linear_sync", "policy": {}},
    {"agent": "linear_sync", "policy": {"weights": "no"}},
)


@pytest.mark.parametrize("kept", NOT_POLICIES)
def test_a_file_that_is_something_else_is_refused(kept, tmp_path, learner):
    with (tmp_path / "p").open("wb") as file:
        write_state(file, kept)
    with pytest.raises(HoneyguideError):
        load_policy(tmp_path / "p", LINEAR, learner())


def test_the_command_line_takes_a_policy(tmp_path):
    crawl(tmp_path / "first")
    flags = ["--world", "synthetic:pages=400", "--seed", "geology", "--topic", "geology",
             "--judge", "word_and_cosine", "--budget", "20", "--agent", LINEAR]  # fmt: skip
    for policy, code in (("first/learnt.policy", 0), ("first/none", 1)):
        done = subprocess.run(
            [sys.executable, "-c", "from honeyguide.cli import main; main()", "crawl", *flags,
             "--out", f"out{code}", "--policy", policy],
            cwd=tmp_path, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
    assert done.stderr.startswith("honeyguide: cannot read the policy first/none")
    assert not (tmp_path / "out1").exists()


def test_a_policy_that_cannot_be_written_is_one_sentence(tmp_path, learner):
    (tmp_path / "p.unfinished").mkdir()
    with pytest.raises(HoneyguideError, match=r"cannot write .*p: Is a directory"):
        save_policy(tmp_path / "p", LINEAR, learner())


def test_a_policy_names_its_encoder_and_refuses_another(tmp_path, learner):
    path = tmp_path / "p"
    save_policy(path, LINEAR, learner(), "vectors:/data/glove/words.npy")
    assert read_state(path)["encoder"] == "vectors:words.npy"
    load_policy(path, LINEAR, learner(), "vectors:/moved/words.npy")
    load_policy(path, LINEAR, learner())  # a program that names no encoder
    with pytest.raises(HoneyguideError, match=r"was learnt with the encoder 'vectors:words\.npy'"):
        load_policy(path, LINEAR, learner(), "wordllama")


def test_a_policy_of_an_earlier_version_names_no_encoder_and_takes_any(tmp_path, learner):
    path = tmp_path / "p"
    save_policy(path, LINEAR, learner())
    assert "encoder" not in read_state(path)
    load_policy(path, LINEAR, learner(), "ngrams")


def test_the_policy_of_an_agent_that_uses_no_encoder_fits_any(tmp_path, learner):
    path = tmp_path / "p"
    save_policy(path, "url_linear_q", learner("url_linear_q"), "wordllama")
    load_policy(path, "url_linear_q", learner("url_linear_q"), "ngrams")


def test_a_crawl_refuses_the_policy_of_a_crawl_with_another_encoder(tmp_path):
    crawl(tmp_path / "first", budget=5)
    learnt = str(tmp_path / "first" / "learnt.policy")
    with pytest.raises(HoneyguideError, match="say --encoder wordllama"):
        crawl(tmp_path / "second", policy=learnt, encoder="ngrams")


@pytest.mark.parametrize("agent", ["url_classifier:batches=3", "url_bag_classifier:batches=3"])
def test_a_classifier_is_trained_on_a_recorded_web_and_used_where_no_truth_is_known(
    agent, tmp_path, encoder, monkeypatch
):
    crawl(tmp_path / "first", agent=agent, judge="label:topic:geology", budget=3)
    learnt = tmp_path / "first" / "learnt.policy"
    trained = read_state(learnt)["policy"]
    assert len(trained["words"]) > 50
    monkeypatch.setattr(SyntheticWorld, "truth", lambda world: pytest.fail("it was looked at"))
    crawl(
        tmp_path / "second", agent=agent, policy=str(learnt), world="synthetic:pages=500", budget=9
    )
    again = read_state(tmp_path / "second" / "learnt.policy")["policy"]
    assert again["words"][: len(trained["words"])] == trained["words"]
    fresh = [
        make("agent", agent, goal=Goal("", encoder, has_policy=True), rng=np.random.default_rng(n))
        for n in (1, 2)
    ]
    urls = [f"http://{word}.example/" for word in trained["words"] if len(word) > 3][:20]
    scores = []
    for one in fresh:
        load_policy(learnt, agent, one)
        x = one.features.rows(urls)
        scores.append(one.score(Candidates(np.arange(20, dtype=np.int32), x)).tolist())
    assert scores[0] == scores[1]
    assert len(set(scores[0])) > 10


def test_a_classifier_without_a_policy_needs_a_web_whose_truth_is_known(encoder):
    with pytest.raises(HoneyguideError, match="truth is known"):
        make("agent", "url_classifier", goal=Goal("", encoder), rng=np.random.default_rng(0))
