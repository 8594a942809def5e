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


def test_the_words_of_a_host_are_not_in_the_text_of_links_within_it(page):
    assert LinkText()([ROCK], page) == ["igneous rock magma cooled magma makes it"]


def test_the_words_of_a_host_are_in_the_text_of_links_that_lead_to_it_from_elsewhere(page):
    assert LinkText()([AWAY], page) == ["geology example slate more read more"]


def test_a_seed_has_all_the_words_of_its_url():
    assert LinkText()([Link(AWAY.url)], None) == ["geology example slate  "]


def test_with_host_words_all_texts_have_them(page):
    texts = LinkText(host_words=True)([ROCK, AWAY], page)
    assert texts[0] == "simple wikipedia org wiki igneous rock magma cooled magma makes it"
    assert texts[1] == LinkText()([AWAY], page)[0]


def test_joined_mentions_are_all_those_on_the_page_each_once(page):
    joined = LinkText(join_mentions=True)
    assert joined([ROCK, AWAY], page) == [
        "igneous rock magma cooled magma makes it lava as lava does",
        "geology example slate more read more",
    ]


@pytest.mark.parametrize("name", ["best_first", "linear_async", "linear_sync"])
def test_agents_of_the_papers_read_links_as_their_settings_say(name, encoder, page):
    def text(spec):
        agent = make("agent", spec, goal=Goal("geology", encoder), rng=np.random.default_rng(0))
        return agent.features._text([ROCK], page)

    assert text(name) == LinkText()([ROCK], page)
    assert text(f"{name}:host_words=true") == LinkText(host_words=True)([ROCK], page)
    assert text(f"{name}:join_mentions=true") == LinkText(join_mentions=True)([ROCK], page)
