"""How to make one of each registered part; a new part needs a line only if it needs arguments."""

import numpy as np

from honeyguide.contracts import Goal
from honeyguide.registry import make, parts

TOPIC = "geology"
LIVE = {"web"}  # worlds that cannot be visited in these checks
SPECS = {
    ("judge", "label"): "label:geology",
    ("judge", "targets"): "targets:geology.example",
    ("world", "synthetic"): "synthetic:pages=2000",
}
MORE = {
    ("judge", "like"): {"examples": ["volcanoes and rocks", "minerals in the rocks of a mountain"]},
}


def names(kind):
    return sorted(parts(kind))


def encoder():
    return make("encoder", "wordllama")


def judge(name, shared_encoder):
    more = MORE.get(("judge", name), {})
    spec = SPECS.get(("judge", name), name)
    return make("judge", spec, topic=TOPIC, encoder=shared_encoder, **more)


def agent(name, shared_encoder, truth=None, seed=0):
    goal = Goal(TOPIC, shared_encoder, truth)
    return make("agent", name, goal=goal, rng=np.random.default_rng(seed))


def frontier(name, width, seed=0, **settings):
    return make("frontier", name, width=width, rng=np.random.default_rng(seed), **settings)
