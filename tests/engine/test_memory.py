from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.contracts import Link, Page, Verdict, Visit
from honeyguide.engine.memory import Memory, UrlTable


def visited(memory, url, links, relevance, relevant, end=None):
    page = Page(end or url, links=tuple(Link(to) for to in links))
    (start,) = memory.urls.find([url])
    id = memory.visit(start, Visit(Link(url), page, Verdict(relevance, relevant)))
    return id, memory.link(id, page)


A, B, C, D = (f"http://x.example/{name}" for name in "abcd")


@pytest.fixture
def crawled():
    """a (relevant, 0.8) -> b, c; b (0.2) -> c, d."""
    memory = Memory(beta=0.4)
    memory.seed([Link(A)])
    visited(memory, A, [B, C], 0.8, True)
    visited(memory, B, [C, D], 0.2, False)
    return memory


def ids(memory, *urls):
    return memory.urls.find(urls)


def test_a_link_keeps_every_parent_that_showed_it(crawled):
    a, b, c, _ = ids(crawled, A, B, C, D)
    assert crawled.parents(c).tolist() == [a, b]
    assert crawled.parents(c, 1).tolist() == [b], "the latest"
    assert crawled.last_parent(c) == b
    assert crawled.last_parent(a) == -1


def test_a_page_knows_which_of_its_links_had_been_visited_when_it_was_read(crawled):
    a, c, _ = ids(crawled, A, C, D)
    visited(crawled, C, [A, B, D], 0.1, False)
    assert crawled.known_links(c) == (2, 1)
    assert crawled.known_links(a) == (0, 0)


def test_parents_are_averaged_over_all_and_over_the_relevant_ones(crawled):
    numbers = ids(crawled, B, C, D)
    assert crawled.parent_relevance(numbers) == pytest.approx([0.8, 0.5, 0.2])
    assert crawled.relevant_parent_relevance(numbers) == pytest.approx([0.8, 0.8, 0.0])
    assert crawled.parent_count(numbers).tolist() == [1, 2, 1]
    assert crawled.relevant_parent_count(numbers).tolist() == [1, 1, 0]


def test_ancestors_are_smoothed_along_the_best_parent_as_document_001_says(crawled):
    # w(a) = 0.8 (no parent); w(b) = 0.4 * 0.2 + 0.6 * 0.8 = 0.56; best parent of c is a
    numbers = ids(crawled, B, C, D)
    assert crawled.ancestor_relevance(numbers) == pytest.approx([0.8, 0.8, 0.56])


def test_distance_counts_hops_from_the_last_relevant_ancestor_up_to_nine():
    memory = Memory()
    chain = [f"http://x.example/{n}" for n in range(14)]
    memory.seed([Link(chain[0])])
    for here, there in pairwise(chain):
        visited(memory, here, [there], 0.5, here == chain[0])
    assert memory.distance(memory.urls.find(chain)).tolist() == [*range(10), 9, 9, 9, 9]


def test_a_seed_that_is_not_relevant_is_as_far_as_can_be():
    memory = Memory()
    memory.seed([Link(A)])
    visited(memory, A, [B], 0.1, False)
    assert memory.distance(ids(memory, A, B)).tolist() == [9, 9]


def test_a_page_that_moved_is_visited_at_both_addresses_and_counted_once():
    memory = Memory()
    memory.seed([Link(A), Link(B)])
    visited(memory, A, [], 1.0, True, end=C)
    visited(memory, B, [], 1.0, True, end=C)
    assert memory.visited(ids(memory, A, B, C)).all()
    assert (memory.visits, memory.relevant_found) == (2, 1)


def test_a_link_shown_twice_on_a_page_is_one_link_with_its_best_anchor():
    memory = Memory()
    memory.seed([Link(A)])
    page = Page(A, links=(Link(B), Link(A, "home"), Link(B, "rocks"), Link(B, "again")))
    found = memory.link(memory.visit(0, Visit(Link(A), page, Verdict(0, False))), page)
    assert [link.anchor for link in found.links] == ["rocks"]


def test_seeing_a_page_again_does_not_count_its_links_twice():
    memory = Memory()
    memory.seed([Link(A)])
    visited(memory, A, [B], 0.5, False)
    visited(memory, A, [B], 0.5, False)
    assert memory.parent_count(ids(memory, B)).tolist() == [1]


def test_memory_comes_back_as_it_was(crawled):
    again = Memory()
    again.load(crawled.state())
    numbers = ids(again, A, B, C, D)
    assert numbers.tolist() == ids(crawled, A, B, C, D).tolist()
    assert again.parents(numbers[2]).tolist() == crawled.parents(numbers[2]).tolist()
    assert [again.depth(id) for id in numbers] == [0, 1, 1, 2]
    for array in ("distance", "ancestor_relevance", "parent_relevance", "visited"):
        assert np.array_equal(getattr(again, array)(numbers), getattr(crawled, array)(numbers))
    assert again.urls.url(numbers[3]) == D


paths = st.text(st.characters(codec="utf-8"), max_size=12)
addresses = st.builds(
    "http{}://h{}.example{}".format,
    st.sampled_from(["", "s"]),
    st.integers(0, 3),
    paths.map("/".__add__),
)


@given(st.lists(st.lists(addresses, max_size=20), max_size=8))
def test_every_url_gets_one_number_and_gives_it_back(batches):
    table, expected = UrlTable(), {}
    for batch in batches:
        for url, id in zip(batch, table.add(batch).tolist(), strict=True):
            assert expected.setdefault(url, id) == id
    assert sorted(expected.values()) == list(range(len(expected)))
    assert all(table.url(id) == url for url, id in expected.items())
    assert table.find(["http://never.example/seen"]).tolist() == [-1]


def test_a_table_of_many_urls_still_finds_each():
    table = UrlTable()
    urls = [f"http://h{n % 97}.example/page/{n}" for n in range(20_000)]
    for start in range(0, len(urls), 500):
        table.add(urls[start : start + 500])
    assert table.find(urls).tolist() == list(range(20_000))
    again = UrlTable()
    again.load(table.state())
    assert again.find(urls).tolist() == list(range(20_000))
    assert again.host_count == 97
