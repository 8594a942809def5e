"""The text of a link: the words of its URL, its anchor and the words around it."""

import numpy as np
import pytest

from honeyguide.contracts import Goal, Link, Page
from honeyguide.features.link_text import LinkText
from honeyguide.registry import make

WIKI = "https://simple.wikipedia.org/wiki/"
ROCK = Link(f"{WIKI}Igneous_rock", "magma", "cooled magma makes it")
AWAY = Link("https://geology.example/slate", "more", "read more")


@pytest.fixture
def page():
    again = Link(ROCK.url, "lava", "as lava does")
    return Page(f"{WIKI}Earth", links=(ROCK, AWAY, again, ROCK))


def test_the_words_of_the_only_host_are_not_in_the_text_of_links(page):
    assert LinkText()([ROCK], page, 1) == ["igneous rock magma cooled magma makes it"]


def test_where_several_hosts_are_known_their_words_count(page):
    assert LinkText()([ROCK], page, 2) == LinkText(host_words=True)([ROCK], page, 2)


def test_without_host_words_they_are_left_out_however_many_hosts_there_are(page):
    assert LinkText(host_words=False)([ROCK], page, 2) == LinkText()([ROCK], page, 1)


def test_the_words_of_a_host_are_in_the_text_of_links_that_lead_to_it_from_elsewhere(page):
    assert LinkText(host_words=False)([AWAY], page, 2) == ["geology example slate more read more"]


def test_a_seed_has_all_the_words_of_its_url():
    assert LinkText()([Link(AWAY.url)], None, 1) == ["geology example slate  "]


def test_with_host_words_all_texts_have_them(page):
    texts = LinkText(host_words=True)([ROCK, AWAY], page, 1)
    assert texts[0] == "simple wikipedia org wiki igneous rock magma cooled magma makes it"
    assert texts[1] == LinkText()([AWAY], page, 2)[0]


def test_joined_mentions_are_all_those_on_the_page_each_once(page):
    joined = LinkText(join_mentions=True)
    assert joined([ROCK, AWAY], page, 1) == [
        "igneous rock magma cooled magma makes it lava as lava does",
        "geology example slate more read more",
    ]


@pytest.mark.parametrize("name", ["best_first", "linear_async", "linear_sync"])
def test_agents_of_the_papers_read_links_as_their_settings_say(name, encoder, page):
    def text(spec):
        agent = make("agent", spec, goal=Goal("geology", encoder), rng=np.random.default_rng(0))
        return agent.features._text([ROCK], page, 1)

    assert text(name) == LinkText()([ROCK], page, 1)
    assert text(f"{name}:host_words=true") == LinkText(host_words=True)([ROCK], page, 1)
    assert text(f"{name}:join_mentions=true") == LinkText(join_mentions=True)([ROCK], page, 1)
