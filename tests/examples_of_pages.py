"""Random pages of two classes with overlapping vocabularies, to train judges on."""

import numpy as np

from honeyguide.contracts import Page

ROCKS = "rock mineral lava crystal basalt granite quartz fossil strata magma volcano crust".split()
SHIPS = "ship harbour sail anchor captain voyage deck mast cargo sailor crew port".split()
BOTH = "the of and in a is was by with for on from as at old new great small".split()


def write(kind, rng, clear=0.3, length=60):
    """Return a page whose words are from its class with probability `clear`, else from both."""
    words = [rng.choice(kind if rng.random() < clear else BOTH) for _ in range(length)]
    return Page("http://any.example/", " ".join(words[:3]), " ".join(words))


def two_kinds(seed, positives=40, negatives=80, clear=0.3):
    rng = np.random.default_rng(seed)
    return (
        [write(ROCKS, rng, clear) for _ in range(positives)],
        [write(SHIPS, rng, clear) for _ in range(negatives)],
    )
