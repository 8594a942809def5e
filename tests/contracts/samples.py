"""Make one of each registered part; a new part needs a line here only if it needs arguments."""

import atexit
import dataclasses
import functools
import shutil
import tempfile
from pathlib import Path

import numpy as np

from honeyguide.contracts import Goal, Page
from honeyguide.judges.closeness import YARDSTICK
from honeyguide.registry import make, parts
from honeyguide.source_finder.model import read_model, shared_encoder
from honeyguide.training.judge import train_judge
from honeyguide.training.teaching import Lessons, ReadPages, teach
from honeyguide.web.judge_spec import JudgeSpec

TOPIC = "geology"
SPELLING = {"ngrams"}  # encoders of spelling, not of meaning
LIVE = {"web"}  # worlds that cannot be visited in these checks
SEERS = {"oracle", "url_bag_classifier", "url_classifier"}  # agents that may use the truth
SPECS = {
    ("agent", "dqn_outputs"): "dqn_outputs:pages=200",
    ("agent", "source_finder"): "source_finder:threshold=-1,batch=2",  # so that it never stops
    ("judge", "label"): "label:geology",
    ("judge", "label_and_cosine"): "label_and_cosine:geology",
    ("judge", "targets"): "targets:geology.example",
    ("world", "organisations"): "organisations:set=rww,sites=2",
    ("world", "readable"): "readable:pages=600",
    ("world", "synthetic"): "synthetic:pages=2000",
}


def names(kind):
    return sorted(parts(kind))


def examples():
    """Return pages on geology and pages on other topics."""
    rocks = "rocks minerals volcanoes mountains crystals lava strata fossils quartz basalt".split()
    pages = [Page("", "Geology", f"On {a}, {b} and geology.") for a in rocks for b in rocks[:3]]
    return pages, [Page("", topic, text) for topic, text in YARDSTICK]


def temporary_folder():
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    return folder


@functools.cache
def trained_judge(shared_encoder):
    """Return the file of a classifier trained on a few pages on geology."""
    path = temporary_folder() / "geology"
    train_judge(*examples(), shared_encoder).model.save(path)
    return str(path)


@functools.cache
def trained_network(shared_encoder):
    """Return the file of a network trained on a few pages on geology."""
    from honeyguide.training.network_judge import fit_network

    path = temporary_folder() / "geology"
    train_judge(*examples(), shared_encoder, learner=fit_network).model.save(path)
    return str(path)


@functools.cache
def taught_judge(shared_encoder):
    """Return the file of a judge taught by answers about pages on geology."""
    pages, others = examples()
    numbered = [
        dataclasses.replace(page, url=f"http://{n}.example/")
        for n, page in enumerate(pages + others)
    ]
    spec = JudgeSpec("topic", "wordllama", {"topic": TOPIC})
    lessons = Lessons(ReadPages(numbered, shared_encoder), spec)
    path = temporary_folder() / "taught"
    answers = {n: n < len(pages) for n in range(0, len(numbered), 4)}
    teach(lessons, answers).save(path)
    return path


@functools.cache
def trained_scorer():
    """Return the file of a source finder whose page scorer is trained on geology."""
    from honeyguide.source_finder.training.page_scorer import ScorerTraining

    path = temporary_folder() / "geology.model"
    known, (pages, others) = read_model(), examples()
    truth = np.array([True] * len(pages) + [False] * len(others))
    scorer = ScorerTraining().run(pages + others, truth, shared_encoder(known.encoder))
    dataclasses.replace(known, kind="rocks", scorer=scorer, page=None).save(path)
    return str(path)


def judge_spec(name, shared_encoder):
    """A judge by its name and settings, with files of what it has to be trained on."""
    files = {
        "classifier": lambda: f"classifier:{trained_judge(shared_encoder)}",
        "taught": lambda: f"taught:{taught_judge(shared_encoder)}",
        "event_source": lambda: f"event_source:model={trained_scorer()}",
    }
    return files[name]() if name in files else SPECS.get(("judge", name), name)


def agent(name, shared_encoder, truth=None, seed=0):
    goal = Goal(TOPIC, shared_encoder, truth)
    return make(
        "agent", SPECS.get(("agent", name), name), goal=goal, rng=np.random.default_rng(seed)
    )
