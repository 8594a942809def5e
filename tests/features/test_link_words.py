"""The words of links say the same wherever they are read."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide import urls
from honeyguide.contracts import Goal, Link, Page, Verdict, Visit
from honeyguide.engine.memory import Memory
from honeyguide.features.evidence import LinkEvidence
from honeyguide.features.link_words import LinkWordsSpec, WordsReader, unpacked
from honeyguide.registry import make

SPEC = LinkWordsSpec("geology", 16, 32)
ENCODER = make("encoder", "wordllama")
READER = WordsReader(SPEC, ENCODER)
texts = st.text("abcdefghij äß火山 ", max_size=40)
links = st.builds(
    Link,
    st.integers(0, 9).map("https://example.org/rocks_and_lava/{}".format),
    anchor=texts,
    context=texts,
    tag_path=st.sampled_from(["", "html/body/p/a"]),
)
pages = st.builds(
    Page, st.just("https://example.org/"), title=texts, text=texts, links=st.lists(links).map(tuple)
)


def is_same(one, other):
    return (
        np.array_equal(one.own, other.own)
        and np.array_equal(one.around, other.around)
        and np.array_equal(one.cosines, other.cosines)
        and list(map(list, one.buckets)) == list(map(list, other.buckets))
        and one.source == other.source
    )


@settings(max_examples=100, deadline=None)
@given(page=pages, data=st.data())
def test_links_say_the_same_whoever_reads_them_and_beside_whatever_others(page, data):
    sent = READER.of_page(page).packed()
    read_ahead = replace(page, link_words=unpacked(SPEC, sent))
    distinct = list({link.url: link for link in reversed(page.links) if link.anchor}.values())
    some = data.draw(st.lists(st.sampled_from(distinct))) if distinct else []
    assert is_same(READER(read_ahead, some), READER(page, some))


@pytest.mark.parametrize("name", ["wordllama", "ngrams"])
def test_what_links_say_is_what_the_encoder_says_of_their_texts(name):
    encoder = make("encoder", name)
    found = [
        Link("https://rocks.example/slate", "magma", "cooled magma makes it"),
        Link("https://rocks.example/slate"),
    ]
    said = WordsReader(SPEC, encoder)(Page("https://example.org/", "Rocks", "of the earth"), found)
    topic = encoder(["geology"])[0]
    own = [f"{urls.words(link.url)} {link.anchor}" for link in found]
    both = [f"{text} {link.context}" for text, link in zip(own, found, strict=True)]
    assert np.array_equal(said.own, encoder(own)[:, :16])
    assert np.array_equal(said.around, encoder([link.context for link in found])[:, :16])
    assert np.allclose(said.cosines[0], encoder(own) @ topic, atol=1e-6)
    assert np.allclose(said.cosines[2], encoder(both) @ topic, atol=1e-6)
    assert np.isclose(said.source, encoder(["Rocks of the earth"])[0] @ topic, atol=1e-6)


def test_links_that_were_not_read_ahead_are_read_when_they_are_needed():
    page = Page("https://example.org/", links=(Link("https://example.org/a", "lava"),))
    other = Link("https://example.org/b", "magma")
    ahead = Page(page.url, links=page.links, link_words=READER.of_page(page))
    assert is_same(READER(ahead, [other]), READER(None, [other]))


def test_what_was_read_ahead_for_another_topic_is_not_used():
    page = Page("https://example.org/", links=(Link("https://example.org/a", "lava"),))
    other = WordsReader(LinkWordsSpec("cooking", 16, 32), ENCODER)
    ahead = Page(page.url, links=page.links, link_words=other.of_page(page))
    assert is_same(READER(ahead, page.links), READER(page, page.links))


def test_features_are_the_same_from_a_page_that_was_read_ahead():
    page = Page(
        "https://example.org/",
        "Rocks",
        "of the earth",
        tuple(Link(f"https://example.org/{n}", f"lava {n}", "hot lava flows") for n in range(5)),
    )
    goal = Goal("geology", ENCODER)
    ahead = WordsReader(LinkEvidence(goal).link_words, ENCODER).of_page(page)
    assert np.array_equal(_features(goal, page), _features(goal, replace(page, link_words=ahead)))


def _features(goal, page):
    memory, features = Memory(), LinkEvidence(goal)
    features(memory, memory.seed([Link(page.url)]))
    memory.visit(0, Visit(Link(page.url), page, Verdict(1.0, True)))
    return features(memory, memory.link(0, page))
