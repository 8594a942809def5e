"""The trained network as a judge."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from honeyguide.contracts import Page
from honeyguide.disk.serialise import write_state
from honeyguide.errors import HoneyguideError
from honeyguide.judges import network_model
from honeyguide.judges.classifier import read_model
from honeyguide.judges.linear_model import LinearModel
from honeyguide.judges.network_model import NetworkModel
from honeyguide.learning.logistic import sigmoid
from honeyguide.registry import make
from honeyguide.training.judge import Examples, train_judge
from honeyguide.training.network_judge import fit_network
from honeyguide.training.quality import quality

from ..examples_of_pages import ROCKS, two_kinds

PROGRAM = Path(sys.executable).parent / "honeyguide"


@pytest.fixture(scope="module")
def trained(encoder):
    return train_judge(*two_kinds(seed=0), encoder, learner=fit_network)


@pytest.fixture(scope="module")
def file(trained, tmp_path_factory):
    path = tmp_path_factory.mktemp("judges") / "rocks.judge"
    trained.model.save(path)
    return path


@pytest.fixture(scope="module")
def judge(file, encoder):
    return make("judge", f"classifier:{file}", encoder=encoder)


def test_pages_never_seen_are_told_apart_and_the_words_that_speak_for_them_are_named(judge):
    positive, negative = two_kinds(seed=1)
    assert all(judge(page).relevant for page in positive)
    assert not any(judge(page).relevant for page in negative)
    assert any(word in judge(positive[0]).reasons[0] for word in ROCKS)


def test_what_is_saved_is_read_again_number_by_number(trained, file):
    read = read_model(file)
    assert isinstance(read, NetworkModel)
    for name in NetworkModel.__slots__:
        assert np.array_equal(getattr(read, name), getattr(trained.model, name)), name


def test_a_judge_says_what_the_network_that_was_trained_says(encoder):
    """The network is trained by torch and used without it: both give the same logits."""
    positive, negative = two_kinds(seed=2)
    pages = [*positive, *negative]
    examples = Examples(pages, encoder, lambda what, done, total: None)
    everyone, target = np.ones(len(pages), bool), np.arange(len(pages)) < len(positive)
    fitted = fit_network(examples, everyone, target)
    trained = train_judge(positive, negative, encoder, learner=lambda *said: fitted)
    model = trained.model
    vectors = encoder([f"{page.title}. {page.text}" for page in pages])
    logits = [
        model.meaning_logit(vector) + float(model.shares(bag).sum()) + model.bias
        for vector, bag in zip(vectors, examples.bags, strict=True)
    ]
    slope = float(model.out[0] / fitted.out[0])
    offset = model.bias - slope * fitted.bias
    assert np.allclose(logits, slope * fitted.logits + offset, atol=1e-3)


def test_the_same_seed_trains_the_same_network_and_another_seed_another(encoder, file, tmp_path):
    for name, seed in (("again", 0), ("other", 1)):
        learner = partial(fit_network, random_seed=seed)
        train_judge(*two_kinds(seed=0), encoder, learner=learner).model.save(tmp_path / name)
    assert (tmp_path / "again").read_bytes() == file.read_bytes()
    assert (tmp_path / "other").read_bytes() != file.read_bytes()


def test_it_learns_what_no_weights_of_numbers_can_say(encoder):
    """Relevant are pages whose vector has numbers of different signs: a line cannot part them."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(600, 4)).astype(np.float32)
    target = (vectors[:, 0] > 0) != (vectors[:, 1] > 0)

    class ByNumber:
        width = 4

        def __call__(self, texts):
            numbers = [int(text.split()[-1]) if text.split()[-1].isdigit() else 0 for text in texts]
            return vectors[numbers]

    pages = [Page("", "", f"words {number}") for number in range(600)]
    examples = Examples(pages, ByNumber(), lambda what, done, total: None)
    seen = np.arange(600) < 400
    logits = fit_network(examples, seen, target).logits
    assert quality(sigmoid(logits[~seen]), target[~seen]).auc > 0.9


def test_a_file_with_a_wrong_field_is_refused_in_a_sentence(trained, tmp_path, encoder):
    whole = {name: getattr(trained.model, name) for name in NetworkModel.__slots__}
    whole |= {"kind": network_model.KIND, "version": 1}
    wrong = (
        {"version": 2},
        {"hidden": whole["hidden"][:-1]},
        {"hidden": whole["hidden"].ravel()},
        {"out": whole["out"][:-1]},
        {"hidden_offset": whole["hidden_offset"].astype(np.float64)},
        {"words": np.full_like(whole["words"], np.nan)},
        {"idf": whole["idf"][:-1]},
        {"bias": "low"},
        {"encoder": 7},
        {"probe": None},
    )
    for change in wrong:
        with (tmp_path / "changed").open("wb") as out:
            write_state(out, whole | change)
        with pytest.raises(HoneyguideError, match="another version: train it again"):
            make("judge", f"classifier:{tmp_path / 'changed'}", encoder=encoder)
    with pytest.raises(HoneyguideError, match="no trained judge"):
        LinearModel.read(tmp_path / "changed")


# --------------------------------------------------------------------------- command


def honeyguide(*arguments, folder, **environment):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.fixture
def files(tmp_path):
    for name, pages in zip(("rocks", "ships"), two_kinds(seed=0), strict=True):
        lines = [json.dumps({"url": p.url, "title": p.title, "text": p.text}) for p in pages]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    return tmp_path


TRAIN = ("train", "judge", "--network", "--positive", "rocks.jsonl", "--negative", "ships.jsonl")


def test_a_network_is_trained_and_a_crawl_with_it_is_stopped_and_resumed(files, small_graph):
    done = honeyguide(*TRAIN, "--out", "rocks.judge", folder=files)
    assert done.returncode == 0, done.stderr
    assert "trained on 40 positive and 80 other pages" in done.stdout
    web = ("--world", f"graph:{small_graph}", "--judge", "classifier:rocks.judge")
    plan = (*web, "--topic", "rocks", "--seed", "Page_0")
    whole = honeyguide("crawl", *plan, "--budget", 40, "--out", "whole", folder=files)
    assert whole.returncode == 0, whole.stderr
    assert honeyguide("crawl", *plan, "--budget", 15, "--out", "two", folder=files).returncode == 0
    resumed = honeyguide("resume", "two", "--budget", 40, folder=files)
    assert resumed.returncode == 0, resumed.stderr
    for name in ("whole", "two"):
        assert honeyguide("export", name, "--out", f"{name}.jsonl", folder=files).returncode == 0
    one, two = (
        [json.loads(line) for line in (files / f"{name}.jsonl").read_text().splitlines()]
        for name in ("whole", "two")
    )
    assert [(p["url"], p["relevance"]) for p in one] == [(p["url"], p["relevance"]) for p in two]
    assert len(one) == 40
    assert all(page["relevant"] == ("minerals" in page["text"]) for page in one)


def test_without_torch_training_names_the_extra_and_judging_still_works(files, file, encoder):
    (files / "without").mkdir()
    hidden = "raise ModuleNotFoundError('No module named torch', name='torch')\n"
    (files / "without" / "torch.py").write_text(hidden)
    environment = {"PYTHONPATH": f"{files / 'without'}:{Path(__file__).parents[2]}"}
    done = honeyguide(*TRAIN, "--out", "rocks.judge", folder=files, **environment)
    assert done.returncode == 1
    assert done.stderr == "honeyguide: --network needs an extra: pip install 'honeyguide[deep]'\n"
    program = (
        "from honeyguide.contracts import Page\n"
        "from honeyguide.registry import make\n"
        f"judge = make('judge', 'classifier:{file}', encoder=make('encoder', 'wordllama'))\n"
        "print(judge(Page('', '', 'rock lava basalt quartz volcano')).relevant)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert run.stdout == "True\n", run.stderr
