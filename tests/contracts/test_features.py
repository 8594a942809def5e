"""What the features of every registered agent promise."""

import pytest

from honeyguide.registry import make
from honeyguide.testing import check_features

from . import samples

# the source finder's grow with the pages of one site and are not measured
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


@pytest.mark.parametrize("name", ["LinkRows"])
def test_the_features_offered_to_others_keep_their_promises(name, encoder):
    from honeyguide.integrations import link_rows

    check_features(getattr(link_rows, name), encoder=encoder)
