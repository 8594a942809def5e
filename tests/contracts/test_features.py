"""What the features of every registered agent promise."""

import pytest

from honeyguide.integrations.link_rows import LinkRows
from honeyguide.registry import make
from honeyguide.testing import check_features

from . import samples

# its tables grow with the pages read, and a crawl's limit of memory does not count them
UNMEASURED = {"source_finder"}


def features_of(name):
    def make_features(goal, rng):
        return make("agent", samples.SPECS.get(("agent", name), name), goal=goal, rng=rng).features

    return make_features


@pytest.mark.parametrize(
    "name", [n for n in samples.names("agent") if n not in samples.SEERS | UNMEASURED]
)
def test_the_features_of_every_agent_keep_their_promises(name, encoder):
    check_features(features_of(name), encoder=encoder)


def test_the_features_offered_to_others_keep_their_promises(encoder):
    check_features(LinkRows, encoder=encoder)
