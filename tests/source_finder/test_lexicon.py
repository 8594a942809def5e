"""Words of menus in many languages, and the signs of links that they give."""

import pytest

from honeyguide.contracts import Link, Page
from honeyguide.source_finder.lexicon import CONCEPTS, shares
from honeyguide.source_finder.link_signs import SIGNS, link_signs
from honeyguide.source_finder.organisations.tongues import LANGUAGES, tongue


def share(text, concept):
    return shares(text)[CONCEPTS.index(concept)]


@pytest.mark.parametrize(
    "text",
    [
        "What’s On", "Diary", "Seminars", "Fixtures", "Veranstaltungskalender", "Évènements",
        "Próximos eventos", "Appuntamenti", "Activiteiten", "Programação", "Kalendarz wydarzeń",
        "Arrangementer", "Evenemang", "Esdeveniments", "イベント", "행사 일정",
        "活動行事曆", "活动日历",
    ],
)  # fmt: skip
def test_lists_of_events_are_known_in_many_languages(text):
    assert share(text, "events") > 0.5


def test_a_word_inside_a_longer_text_counts_by_its_share():
    assert share("Hygienevorschriften für Veranstaltungen", "events") < 0.5
    assert share("Hygienevorschriften für Veranstaltungen", "decoy") > 0
    assert share("Event hire", "decoy") > 0
    assert share("Événements passés", "past") > 0
    assert share("About us", "hub") == 1
    assert share("Prevention", "events") == 0


def test_the_signs_of_a_link_are_numbers_between_0_and_1():
    links = (
        Link("http://a.example/events/", "Events", "Home Events", "html/body/nav/ul/li/a"),
        Link("http://a.example/2024/05/talk.pdf?x=1", "", "on 5 May 2024", "html/body/p/a"),
    )
    rows = link_signs(Page("http://a.example/", "Home", links=links), links)
    assert rows.shape == (2, len(SIGNS))
    assert rows.min() >= 0
    assert rows.max() <= 1
    named = {name: number for number, name in enumerate(SIGNS)}
    assert rows[0, named["whole anchor events"]] == rows[0, named["in nav"]] == 1
    assert rows[1, named["file"]] == rows[1, named["context date"]] == 1
    assert rows[1, named["empty anchor"]] == rows[1, named["address query"]] == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_wordings_of_test_sites_are_never_learnt_from(language):
    train, test = tongue(language, False), tongue(language, True)
    for purpose in ("events", "special", "hubs", "news", "venue", "things"):
        assert train[purpose]
        assert test[purpose]
        assert not set(train[purpose]) & set(test[purpose])
