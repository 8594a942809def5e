"""Webs with as many links per page as those of Friar (2017)."""

import numpy as np
import pytest

from experiments.friar2017_degrees import FAILED, MOST, links
from experiments.friar2017_web import Recording, record_links
from experiments.harness.webs import Webs
from honeyguide.recorded.graph import Graph

PAGES = 5000
OWN, MANY = (f"{many}links of synthetic:pages={PAGES},seed=1" for many in ("", "many "))


@pytest.fixture(scope="module")
def webs(tmp_path_factory):
    return Webs(None, tmp_path_factory.mktemp("webs"))


def recorded(webs, web):
    return Graph.open(webs.world(web).removeprefix("graph:"))


def test_counts_of_links_have_the_quartiles_and_the_mean_of_the_paper():
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


def test_a_page_has_some_of_its_own_links_or_all_of_them_and_more(webs):
    own, many = recorded(webs, OWN), recorded(webs, MANY)
    kinds = set()
    for page in range(0, PAGES, 37):
        before = {link.url for link in own.page(page).links}
        now = {link.url for link in many.page(page).links}
        assert own.url(page) == many.url(page)
        assert now <= before or now >= before - {own.url(page)}
        kinds.add(len(now) > len(before))
    assert kinds == {True, False}


def test_a_web_written_by_several_processes_is_the_same(webs, tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.friar2017_web.CHUNK", 1500)
    record_links(Recording(PAGES, 1, many=True), tmp_path / "apart")
    one, apart = recorded(webs, MANY), Graph.open(tmp_path / "apart")
    assert [one.url(page) for page in range(PAGES)] == [apart.url(page) for page in range(PAGES)]
    for ours, theirs in zip(one.inside(), apart.inside(), strict=True):
        assert np.array_equal(ours, theirs)


def test_no_page_links_to_itself_or_twice_to_another(webs):
    many = recorded(webs, MANY)
    for page in range(1, PAGES, 53):
        to = [link.url for link in many.page(page).links]
        assert len(set(to)) == len(to)
        assert many.url(page) not in to
