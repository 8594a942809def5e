"""What every registered world promises."""

import pytest

from honeyguide.errors import HoneyguideError
from honeyguide.registry import make
from honeyguide.testing import check_world

from . import samples

SEEDS = {
    "archive": "http://rocks.example/0",
    "graph": "page 0",
    "readable": "geology",
    "synthetic": "geology",
}


def spec_of(name, small_graph, small_archive):
    paths = {"graph": f"graph:{small_graph}", "archive": f"archive:{small_archive}"}
    return paths.get(name) or samples.SPECS.get(("world", name), name)


@pytest.mark.parametrize("name", [n for n in samples.names("world") if n not in samples.LIVE])
def test_every_world_keeps_its_promises(name, small_graph, small_archive):
    check_world(spec_of(name, small_graph, small_archive), SEEDS.get(name, "0"))


@pytest.mark.parametrize("name", [n for n in samples.names("world") if n not in samples.LIVE])
def test_an_unknown_name_gets_a_clear_sentence(name, small_graph, small_archive):
    world = make("world", spec_of(name, small_graph, small_archive), judge=lambda page: None)
    with pytest.raises(HoneyguideError, match="no "):
        world.find("no such page anywhere")


def test_the_truth_of_an_archive_is_not_known(small_archive):
    with pytest.raises(HoneyguideError, match="is not known"):
        make("world", f"archive:{small_archive}", judge=lambda page: None).truth()
