"""What every registered judge promises."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from honeyguide.contracts import Page

from . import samples

every_judge = pytest.mark.parametrize("name", samples.names("judge"))
RELEVANT = Page(
    "http://www.geology.example/rocks",
    "Geology: rocks and minerals",
    "Geology is the study of rocks, minerals, volcanoes and mountains. " * 10,
    labels=("topic:geology",),
)
IRRELEVANT = Page(
    "http://football.example/cup",
    "Cup final",
    "The striker scored twice and the football team won the cup in the stadium. " * 10,
    labels=("topic:football",),
)


@every_judge
def test_a_relevant_page_is_told_from_one_that_is_not(name, encoder):
    judge = samples.judge(name, encoder)
    good, bad = judge(RELEVANT), judge(IRRELEVANT)
    assert good.relevant
    assert not bad.relevant
    assert good.relevance > bad.relevance


@every_judge
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(title=st.text(max_size=40), text=st.text(max_size=400))
def test_text_in_any_language_gets_a_relevance_between_zero_and_one(name, encoder, title, text):
    judge = samples.judge(name, encoder)
    page = Page("http://any.example/", title, text)
    verdict = judge(page)
    assert 0.0 <= verdict.relevance <= 1.0
    assert isinstance(verdict.relevant, bool)
    assert judge(page) == verdict


@every_judge
def test_broken_text_and_no_text_are_judged_too(name, encoder):
    judge = samples.judge(name, encoder)
    for text in ("", "\x00\x00", "\ud800 lone", "地质学 岩石", "جيولوجيا", "a" * 100_000):
        assert 0.0 <= judge(Page("http://any.example/", text[:50], text)).relevance <= 1.0
