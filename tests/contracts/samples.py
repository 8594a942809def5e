"""How to make one of each registered part; a new part needs a line only if it needs arguments."""

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

TOPIC = "geology"
SPELLING = {"ngrams"}  # encoders that know how words are written, not what they mean
LIVE = {"web"}  # worlds that cannot be visited in these checks
SEERS = {"oracle", "url_bag_classifier", "url_classifier"}  # they may know the truth
SPECS = {
    ("agent", "dqn_outputs"): "dqn_outputs:pages=200",
    ("agent", "source_finder"): "source_finder:threshold=-1,batch=2",  # it must not stop
    ("judge", "label"): "label:geology",
    ("judge", "label_and_cosine"): "label_and_cosine:geology",
    ("judge", "targets"): "targets:geology.example",
    ("world", "organisations"): "organisations:set=rww,sites=2",
    ("world", "readable"): "readable:pages=600",
    ("world", "synthetic"): "synthetic:pages=2000",
}
MORE = {
    ("judge", "like"): {"examples": ["volcanoes and rocks", "minerals in the rocks of a mountain"]},
}


def names(kind):
    return sorted(parts(kind))


def encoder():
    return make("encoder", "wordllama")


def examples():
    """A few pages on geology, and others."""
    rocks = "rocks minerals volcanoes mountains crystals lava strata fossils quartz basalt".split()
    pages = [Page("", "Geology", f"On {a}, {b} and geology.") for a in rocks for b in rocks[:3]]
    return pages, [Page("", topic, text) for topic, text in YARDSTICK]


def temporary_folder():
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    return folder


@functools.cache
def trained_judge(shared_encoder):
    """A file of a classifier that knows a little about geology."""
    path = temporary_folder() / "geology"
    train_judge(*examples(), shared_encoder).model.save(path)
    return str(path)


@functools.cache
def trained_scorer():
    """A file of a source finder whose page scorer knows a little about geology."""
    from honeyguide.source_finder.training.page_scorer import ScorerTraining

    path = temporary_folder() / "geology.model"
    known, (pages, others) = read_model(), examples()
    truth = np.array([True] * len(pages) + [False] * len(others))
    scorer = ScorerTraining().run(pages + others, truth, shared_encoder(known.encoder))
    dataclasses.replace(known, kind="rocks", scorer=scorer).save(path)
    return str(path)


def judge(name, shared_encoder):
    more = MORE.get(("judge", name), {})
    if name == "classifier":
        more = {"file": trained_judge(shared_encoder)}
    if name == "event_source":
        more = {"model": trained_scorer()}
    spec = SPECS.get(("judge", name), name)
    return make("judge", spec, topic=TOPIC, encoder=shared_encoder, **more)


def agent(name, shared_encoder, truth=None, seed=0):
    goal = Goal(TOPIC, shared_encoder, truth)
    return make(
        "agent", SPECS.get(("agent", name), name), goal=goal, rng=np.random.default_rng(seed)
    )


def frontier(name, width, seed=0, **settings):
    return make("frontier", name, width=width, rng=np.random.default_rng(seed), **settings)
