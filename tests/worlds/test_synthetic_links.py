"""Webs with as many links a page as document 004's, and with many words."""

from collections import Counter

import numpy as np
import pytest

from honeyguide.bench.webs import Webs
from honeyguide.graphs import Graph
from honeyguide.urls import host
from honeyguide.worlds.synthetic.degrees import FAILED, MOST, links
from honeyguide.worlds.synthetic.kin import Kin
from honeyguide.worlds.synthetic.links import Recording, record_links, specialist_hosts
from honeyguide.worlds.synthetic.words import vocabulary

PAGES = 5000
OWN, MANY = (
    f"{what} of synthetic:pages={PAGES},seed=1" for what in ("links", "many links and words")
)


@pytest.fixture(scope="module")
def webs(tmp_path_factory):
    return Webs(None, tmp_path_factory.mktemp("webs"))


def recorded(webs, web):
    return Graph.open(webs.world(web).removeprefix("graph:"))


def test_counts_of_links_have_the_quartiles_and_the_mean_of_the_document():
    """Table B.1; pages that fail have no links."""
    fetched = [links(place / 20_000) for place in range(20_000)]
    counts = [0] * round(20_000 * FAILED / (1 - FAILED)) + fetched
    assert np.percentile(counts, [0, 25, 50, 75]) == pytest.approx([0, 6, 22, 67], abs=0.5)
    assert np.mean(counts) == pytest.approx(53.9, rel=0.03)
    assert max(counts) == MOST
    assert fetched == sorted(fetched)


def test_a_web_can_be_recorded_with_as_many_links(webs):
    offsets, _ = recorded(webs, MANY).inside()
    counts = np.diff(offsets)
    assert np.percentile(counts, [0, 25, 50, 75]) == pytest.approx([0, 6, 22, 66], rel=0.1, abs=1)
    assert np.mean(counts == 0) == pytest.approx(0.18, abs=0.02)


def links_of(graph, page):
    offsets, targets = graph.inside()
    return targets[offsets[page] : offsets[page + 1]].tolist()


def test_a_page_has_some_of_its_own_links_or_all_of_them_and_more(webs):
    own, many = recorded(webs, OWN), recorded(webs, MANY)
    kinds = set()
    for page in range(0, PAGES, 37):
        before, now = set(links_of(own, page)), set(links_of(many, page))
        assert now <= before or now >= before - {page}
        kinds.add(len(now) > len(before))
    assert kinds == {True, False}


def test_a_web_written_by_several_processes_is_the_same(webs, tmp_path, monkeypatch):
    monkeypatch.setattr("honeyguide.worlds.synthetic.links.CHUNK", 1500)
    record_links(Recording(PAGES, 1, many=True), tmp_path / "apart")
    one, apart = recorded(webs, MANY), Graph.open(tmp_path / "apart")
    assert [one.url(page) for page in range(PAGES)] == [apart.url(page) for page in range(PAGES)]
    for ours, theirs in zip(one.inside(), apart.inside(), strict=True):
        assert np.array_equal(ours, theirs)


def test_no_page_links_to_itself_or_twice_to_another(webs):
    many = recorded(webs, MANY)
    for page in range(1, PAGES, 53):
        to = links_of(many, page)
        assert len(set(to)) == len(to)
        assert page not in to


def test_a_topic_has_many_times_as_many_words_in_urls(webs):
    own, kin = vocabulary().words[0], Kin(1)
    said = {
        kin.url(f"http://b{n}-{word}.example/").split("-")[1] for word in own for n in range(40)
    }
    assert len(said) > 5 * len(own)
    many = recorded(webs, MANY)
    assert len({many.url(page) for page in range(PAGES)}) == PAGES


def test_targets_go_by_the_names_that_hosts_have(webs):
    many = recorded(webs, MANY)
    hosts = {host(many.url(page)) for page in range(PAGES)}
    named = [specialist_hosts(Recording(PAGES, 1, many=flag), "geology") for flag in (True, False)]
    assert set(named[0]) <= hosts
    assert [name.partition("-")[0] for name in named[0]] == [
        name.partition("-")[0] for name in named[1]
    ]
    assert named[0] != named[1]


def test_a_word_is_the_same_in_all_urls_of_a_host_and_another_elsewhere():
    kin = Kin(1)
    said = [kin.url(f"http://abc-lava.example/lava/crater-{n}.html") for n in (1, 2)]
    assert said[0].replace("-1.html", "-2.html") == said[1]
    word = said[0].removeprefix("http://abc-").partition(".")[0]
    assert said[0].startswith(f"http://abc-{word}.example/{word}/")
    names = {kin.url(f"http://{brand}-lava.example/") for brand in ("abc", "abd", "abe", "abf")}
    assert len({name.partition("-")[2] for name in names}) > 1


def test_words_that_say_how_a_host_is_built_stay():
    url = "http://lava-network.test/archive/2001/page-7.html?id=index"
    assert Kin(1).url(url) == url


def test_a_word_stands_for_itself_more_often_than_for_any_other():
    kin = Kin(1)
    said = [kin.url(f"http://b{n}-lava.example/").split("-")[1] for n in range(2000)]
    counts = Counter(said).most_common()
    assert counts[0][0] == "lava.example/"
    assert counts[0][1] / len(said) == pytest.approx(0.25, abs=0.03)  # 1 of 1 + 1/2 ... + 1/31
    assert len(counts) == 31
