"""The seed "hubs": pages with many links (Lim 2016, §7.2.1)."""

import pytest

from honeyguide.assemble import with_hubs
from honeyguide.cli.seed_names import read_names
from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan
from honeyguide.recorded.writer import GraphWriter
from honeyguide.worlds.hubs import PAGES, hub_pages
from honeyguide.worlds.synthetic.world import SyntheticWorld

LINKS = {"few": "a", "many": "abcd", "some": "ab", "a": "", "b": "", "c": "", "d": ""}


@pytest.fixture
def recorded(tmp_path):
    """A recorded web of seven pages of which three have links."""
    folder = tmp_path / "web"
    with GraphWriter(folder) as writer:
        for name, targets in LINKS.items():
            links = [(to, to) for to in targets]
            writer.add(name, f"http://x.example/{name}", name, "text", links, [])
    return f"graph:{folder}"


def seeds(world, *names):
    return [link.url for link in Plan(topic="rocks", world=world, seeds=names).open().seeds]


def test_a_crawl_without_seeds_is_refused_and_told_of_hubs():
    with pytest.raises(HoneyguideError, match="say --seed hubs for well-known pages"):
        Plan(topic="rocks", world="web")


def test_on_the_live_web_hubs_are_the_papers_two_seeds_or_a_list():
    assert seeds("web", "hubs") == list(PAGES)
    listed = "hubs:https://a.example/|b.example/list"
    assert seeds("web", listed, "c.example") == [
        "https://a.example/",
        "https://b.example/list",
        "https://c.example/",
    ]


def test_in_a_recorded_web_hubs_are_the_listed_pages_that_it_has(recorded):
    listed = "hubs:https://a.example/|http://x.example/some"
    assert seeds(recorded, listed) == ["http://x.example/some"]


def test_in_a_recorded_web_without_the_listed_pages_hubs_are_those_with_most_links(recorded):
    found = [url.rpartition("/")[2] for url in seeds(recorded, "hubs")]
    assert found[:3] == ["many", "some", "few"]
    assert len(found) == len(LINKS), "ten at most"


def test_in_a_generated_web_hubs_have_more_links_than_other_pages():
    urls = seeds("synthetic:pages=300", "hubs")
    world = SyntheticWorld(lambda page: None, 300)
    assert len(urls) == 10
    counts = [len(set(world.wiring.targets(world.spot(url)))) for url in urls]
    assert counts == sorted(counts, reverse=True)
    others = (world.layout.spot(page) for page in range(300))
    assert counts[-1] >= sorted(len(set(world.wiring.targets(o))) for o in others)[150]


def test_a_plan_can_name_the_pages_that_hubs_stand_for(recorded):
    plan = Plan(topic="rocks", world=recorded, seeds=("hubs", "a"))
    named = with_hubs(plan)
    assert named.seeds[0] == "http://x.example/many"
    assert named.seeds[-1] == "a"
    assert with_hubs(named) is named


@pytest.mark.parametrize("world", ["web", "graph:somewhere"])
def test_hubs_can_be_listed_in_a_file_or_with_commas(world, tmp_path):
    file = tmp_path / "hubs.txt"
    file.write_text("# mine\nhttps://a.example/\nb.example  # second\n")
    assert read_names([f"hubs:{file}"], world) == ("hubs:https://a.example/|b.example",)
    assert read_names(["hubs:a.example,https://b.example/", "x"], world) == (
        "hubs:a.example|https://b.example/",
        "x",
    )
    with pytest.raises(HoneyguideError, match="there is no file none"):
        read_names(["hubs:none.txt"], world)


def test_an_empty_list_of_hubs_is_refused():
    with pytest.raises(HoneyguideError, match="'hubs:' lists no page"):
        hub_pages("hubs:")
