"""Feedback: the result of a click changes the scores of similar links and of no others."""

import asyncio

import numpy as np
import pytest

from honeyguide.contracts import Link, Page, Verdict, Visit
from honeyguide.encoders.ngrams import NgramEncoder
from honeyguide.source_finder.learning import PolicyGradient
from honeyguide.source_finder.similar_links import MOST, SimilarLinks
from honeyguide.source_finder.training.sources import EpisodeSettings, Sites, collect

HOME = "http://a.example/"
PEOPLE = [f"http://a.example/people/p{n}.html" for n in range(4)]
OTHERS = [f"http://b.example/x/y/news{n}/" for n in range(4)]
PROBABILITIES = np.full(8, 0.4, np.float32)


def filled():
    """Return similar links of one page with two lists: four links to its host, four to another."""
    similar = SimilarLinks()
    similar.add_page(HOME, [*PEOPLE, *OTHERS], ["ul/li/a"] * 4 + ["p/a"] * 4, PROBABILITIES)
    return similar


def corrections(similar, probabilities=PROBABILITIES):
    return similar.corrections(np.arange(len(probabilities)), probabilities)


def test_before_any_click_nothing_changes():
    assert corrections(filled()).tolist() == [0.0] * 8


def test_a_source_page_raises_the_links_of_its_list_more_than_others_of_its_page():
    similar = filled()
    similar.observe_click(PEOPLE[0], PEOPLE[0], 0.4, 0.9)
    more = corrections(similar)
    assert more[1] == pytest.approx(more[3])
    assert more[1] > more[4] > 0
    assert more[4] == pytest.approx(more[7])


def test_a_page_that_is_no_source_lowers_the_links_of_its_list():
    similar = filled()
    similar.observe_click(PEOPLE[0], PEOPLE[0], 0.4, 0.05)
    assert corrections(similar)[1] < corrections(similar)[4] < 0


def test_more_source_pages_raise_a_link_more_and_an_unrelated_link_stays():
    similar = filled()
    similar.observe_click(PEOPLE[0], PEOPLE[0], 0.4, 0.9)
    once = corrections(similar)[3]
    similar.observe_click(PEOPLE[1], PEOPLE[1], 0.4, 0.9)
    assert corrections(similar)[3] > once
    similar.add_page(
        "http://c.example/z.html", ["http://d.example/q/r/s.txt"], ["a"], PROBABILITIES[:1]
    )
    assert corrections(similar, np.append(PROBABILITIES, PROBABILITIES[:1]))[8] == 0.0


def test_links_beside_a_known_source_page_are_raised_on_a_new_page_too():
    similar = filled()
    similar.observe_click(PEOPLE[0], PEOPLE[0], 0.4, 0.9)
    before = corrections(similar)[4]
    targets = [PEOPLE[0], "http://d.example/q/r/s.txt"]
    similar.add_page("http://c.example/list.html", targets, ["li/a", "li/a"], PROBABILITIES[:2])
    more = corrections(similar, np.append(PROBABILITIES, PROBABILITIES[:2]))
    assert more[9] > before, "it shares a list with a source page, the others only a page"


def test_a_page_is_worth_the_new_links_it_shows_but_not_those_known_before():
    new, known = filled(), filled()
    fresh = [f"http://a.example/staff/s{n}.html" for n in range(5)]
    probabilities = np.full(5, 0.9, np.float32)
    for similar, targets in ((new, fresh), (known, [*PEOPLE, OTHERS[0]])):
        similar.add_page(PEOPLE[0], targets, ["li/a"] * 5, probabilities)
        similar.observe_click(PEOPLE[0], PEOPLE[0], 0.4, 0.1)
    first = [
        corrections(similar, np.append(PROBABILITIES, probabilities))[1] for similar in (new, known)
    ]
    assert first[0] > 0 > first[1]


def test_a_page_reached_by_another_address_is_the_same_page():
    similar = filled()
    similar.observe_click("http://a.example/old", PEOPLE[0], 0.4, 0.9)
    assert corrections(similar)[1] > 0


def test_it_goes_on_from_a_saved_state_and_forgets_the_oldest():
    one, other = filled(), SimilarLinks()
    one.observe_click(PEOPLE[0], PEOPLE[0], 0.4, 0.9)
    other.load(one.state())
    assert corrections(other).tolist() == corrections(one).tolist()
    one.add_page(
        "http://c.example/",
        [PEOPLE[0]] * (MOST + 50),
        ["a"] * (MOST + 50),
        PROBABILITIES[:1].repeat(MOST + 50),
    )
    assert len(one.state()["observed"]) == MOST


class ListSite:
    """A home page with two lists of links with equal texts; the pages of one are relevant."""

    live = False

    async def visit(self, link):
        page = Page(link.url, "page", "", ())
        if link.url == HOME:
            links = [Link(url, "item", tag_path=f"ul/li/{'a' * (n % 2 + 1)}") for n, url in FOLDERS]
            page = Page(HOME, "home", "", tuple(links))
        good = "/good/" in link.url
        return Visit(link, page, Verdict(0.9 if good else 0.1, good))


FOLDERS = list(enumerate(f"{HOME}{kind}/{n}.html" for n in range(6) for kind in ("bad", "good")))


def test_an_episode_with_feedback_stays_on_the_list_that_pays():
    sites = Sites(ListSite(), [HOME], NgramEncoder(16))
    found = []
    for feedback in (False, True):
        settings = EpisodeSettings(steps=7, threshold=-1.0, feedback=feedback)
        policy = PolicyGradient(16, 0, nets=("anchor",)).policy()  # which cannot tell them apart
        walk = asyncio.run(collect(sites, HOME, policy, settings, np.random.default_rng(0)))
        found.append(sum(walk.found))
    assert found == [3, 6]
