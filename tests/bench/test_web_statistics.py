import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.bench.web_statistics import (
    auc,
    link_arrays,
    near_duplicates,
    ring_locality,
    tail_exponent,
    topic_words,
    useless,
    walk_locality,
    web_statistics,
    words,
)
from honeyguide.contracts import Link, Page


def page(name, *targets, text="", labels=(), anchor="x"):
    return Page(name, "", text, tuple(Link(target, anchor) for target in targets), labels=labels)


def chain(length, relevant):
    """Pages in a row, each linking to the next."""
    return [
        page(f"http://h/{i}", f"http://h/{i + 1}", labels=("on",) if i in relevant else ())
        for i in range(length)
    ]


def flags(pages):
    return np.array(["on" in p.labels for p in pages])


def test_rings_and_walks_see_relevance_at_its_distance():
    pages = chain(8, {0, 2, 5})
    pages = [*pages[:3], page("http://h/3", labels=("on",))]  # 0 -> 1 -> 2 -> 3
    web, relevant = link_arrays(pages), flags(pages)
    generator = np.random.default_rng(0)
    alone = np.array([True, False, False, False])
    assert walk_locality(web, relevant)[0] == pytest.approx(1 / 2)  # from 0 to 1, from 2 to 3
    rings = ring_locality(web, relevant, generator)
    assert rings[0] == pytest.approx(1 / 2)
    assert rings[2] == pytest.approx(1.0)  # only page 0 reaches so far, and 3 is relevant
    assert ring_locality(web, alone, generator).tolist() == [0, 0, 0, 0, 0]


def test_links_are_counted_once_and_never_to_the_page_itself_or_outside():
    web = link_arrays([page("http://h/a", "http://h/b", "http://h/b", "http://h/a", "http://x/")])
    assert len(web.targets) == 0
    both = [page("http://h/a", "http://h/b", "http://h/b", "http://h/a"), page("http://h/b")]
    web = link_arrays(both)
    assert web.targets.tolist() == [1]
    assert web.offsets.tolist() == [0, 1, 1]


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30))
def test_auc_is_the_chance_that_a_relevant_one_scores_higher(rows):
    scores = np.array([float(score) for score, _ in rows])
    truth = np.array([relevant for _, relevant in rows])
    pairs = [(a > b) + (a == b) / 2 for a, on in rows if on for b, other in rows if not other]
    assert auc(scores, truth) == pytest.approx(np.mean(pairs) if pairs else 0.5)


def test_the_tail_exponent_of_a_power_law_is_found():
    generator = np.random.default_rng(3)
    values = (10 * generator.random(200_000) ** (-1 / 1.4)).astype(np.int64)
    assert tail_exponent(values) == pytest.approx(2.4, abs=0.1)
    assert tail_exponent(np.array([3, 4])) == 0.0


def test_only_pages_with_nearly_the_same_words_are_near_duplicates():
    generator = np.random.default_rng(1)
    vocabulary = [f"{a}{b}" for a in "abcdefghij" for b in "klmnopqrst"]
    texts = [" ".join(generator.choice(vocabulary, 200)) for _ in range(20)]
    assert near_duplicates(texts) == 0.0
    assert near_duplicates([*texts[:19], texts[0] + " one more word"]) == pytest.approx(0.1)


def test_topic_words_are_those_that_set_a_topic_apart():
    pages = [{"rock": 1, "the": 1, f"w{i}": 1} if i % 4 else {"the": 1} for i in range(40)]
    from collections import Counter

    found = topic_words([Counter(p) for p in pages], np.array(["rock" in p for p in pages]))
    assert "rock" in found


@pytest.mark.parametrize("anchor", ["", " ", "Click here", "more", "12", "[ next ]"])
def test_anchors_that_say_nothing_are_known(anchor):
    assert useless(anchor)


def test_anchors_that_say_something_are_not_called_useless():
    assert not useless("more rocks")
    assert words("http://rocks.example/old-Quartz_9.html") == [
        "http", "rocks", "example", "old", "quartz", "html",
    ]  # fmt: skip


def test_all_measures_of_a_small_web_come_out():
    pages = chain(30, {0, 1, 2, 3})
    measured = web_statistics(pages, ["on"], np.random.default_rng(0))
    assert measured["pages"] == 30
    assert measured["out_degree"]["mean"] == pytest.approx(29 / 30)
    assert measured["hosts"]["count"] == 1
    assert measured["topics"]["base_rate"] == pytest.approx(4 / 30)
    assert measured["topics"]["relevant_at_distance"][0] == pytest.approx(3 / 4)
    assert measured["topics"]["auc_source"] > 0.8
