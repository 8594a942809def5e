"""What every registered world promises."""

import asyncio

import pytest

from honeyguide.contracts import Link, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make

from . import samples

every_world = pytest.mark.parametrize(
    "name", [name for name in samples.names("world") if name not in samples.LIVE]
)


def judge(page):
    return Verdict(0.5, "geology" in page.text)


@pytest.fixture
def world(name, small_graph, small_archive):
    paths = {"graph": f"graph:{small_graph}", "archive": f"archive:{small_archive}"}
    spec = paths.get(name) or samples.SPECS.get(("world", name), name)
    return make("world", spec, judge=judge)


def start(world, name):
    seeds = {"graph": "page 0", "synthetic": "geology", "archive": "http://rocks.example/0"}
    seeds |= {"organisations": "0", "readable": "geology"}
    return world.find(seeds[name])


@every_world
def test_a_seed_can_be_found_and_leads_to_more_pages(world, name):
    visit = asyncio.run(world.visit(start(world, name)))
    assert visit.page is not None
    assert visit.page.links
    assert visit.page.text
    assert visit.verdict.relevance == 0.5


@every_world
def test_a_page_is_the_same_each_time_and_in_any_order(world, name):
    first = asyncio.run(world.visit(start(world, name)))
    for link in first.page.links[:5]:
        asyncio.run(world.visit(link))
    again = asyncio.run(world.visit(start(world, name)))
    assert again.page == first.page


@every_world
def test_an_unknown_address_is_a_failed_visit_and_an_unknown_name_a_clear_sentence(world, name):
    visit = asyncio.run(world.visit(Link("http://nowhere.example/at/all")))
    assert visit.page is None
    assert visit.failure
    assert not visit.verdict.relevant
    with pytest.raises(HoneyguideError, match="no "):
        world.find("no such page anywhere")


@every_world
def test_the_truth_agrees_with_what_visits_show_where_it_is_known(world, name):
    if name == "archive":
        with pytest.raises(HoneyguideError, match="is not known"):
            world.truth()
        return
    truth = world.truth()
    assert truth.offsets[-1] == len(truth.targets)
    visit = asyncio.run(world.visit(start(world, name)))
    number = truth.index(visit.page.url)
    shown = {truth.index(link.url) for link in visit.page.links} - {-1}
    links = truth.targets[truth.offsets[number] : truth.offsets[number + 1]]
    assert set(links.tolist()) - {-1} == shown
    assert truth.relevant[number] == visit.verdict.relevant
    assert truth.index("http://nowhere.example/at/all") == -1
