"""How to make one of each registered part; a new part needs a line only if it needs arguments."""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

import numpy as np

from honeyguide.contracts import Goal, Page
from honeyguide.judges.closeness import YARDSTICK
from honeyguide.registry import make, parts
from honeyguide.training.judge import train_judge

TOPIC = "geology"
SPELLING = {"ngrams"}  # encoders that know how words are written, not what they mean
LIVE = {"web"}  # worlds that cannot be visited in these checks
SPECS = {
    ("judge", "label"): "label:geology",
    ("judge", "label_and_cosine"): "label_and_cosine:geology",
    ("judge", "targets"): "targets:geology.example",
    ("world", "organisations"): "organisations:set=rww,sites=2",
    ("world", "synthetic"): "synthetic:pages=2000",
}
MORE = {
    ("judge", "like"): {"examples": ["volcanoes and rocks", "minerals in the rocks of a mountain"]},
}


def names(kind):
    return sorted(parts(kind))


def encoder():
    return make("encoder", "wordllama")


@functools.cache
def trained_judge(shared_encoder):
    """A file of a classifier that knows a little about geology."""
    rocks = "rocks minerals volcanoes mountains crystals lava strata fossils quartz basalt".split()
    pages = [Page("", "Geology", f"On {a}, {b} and geology.") for a in rocks for b in rocks[:3]]
    others = [Page("", topic, text) for topic, text in YARDSTICK]
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    train_judge(pages, others, shared_encoder).model.save(folder / "geology")
    return str(folder / "geology")


def judge(name, shared_encoder):
    more = (
        {"file": trained_judge(shared_encoder)}
        if name == "classifier"
        else MORE.get(("judge", name), {})
    )
    spec = SPECS.get(("judge", name), name)
    return make("judge", spec, topic=TOPIC, encoder=shared_encoder, **more)


def agent(name, shared_encoder, truth=None, seed=0):
    goal = Goal(TOPIC, shared_encoder, truth)
    return make("agent", name, goal=goal, rng=np.random.default_rng(seed))


def frontier(name, width, seed=0, **settings):
    return make("frontier", name, width=width, rng=np.random.default_rng(seed), **settings)
