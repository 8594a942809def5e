"""A host is left alone for as long as it asks, as it needs, and as it fails."""

import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.contracts import Link, Response
from honeyguide.web.politeness import Politeness, may_pass, retry_after

NOW = 1_700_000_000.0  # 14 November 2023, 22:13:20 GMT
LINK = Link("http://site.test/")


def answer(status: int = 200, failure: str = "", **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(LINK, LINK.url, status, named, failure=failure)


def test_a_quick_host_rests_for_the_base_delay():
    assert Politeness(delay=1.0).rest("a", answer(), 0.1, NOW) == 1.0


def test_a_slow_host_rests_longer():
    polite = Politeness(delay=1.0, slowness=2.0)
    assert polite.rest("a", answer(), 3.0, NOW) == 6.0
    assert polite.rest("b", answer(), 0.1, NOW) == 1.0


def test_without_a_delay_a_slow_host_is_not_waited_for():
    assert Politeness(delay=0.0).rest("a", answer(), 3.0, NOW) == 0.0


def test_one_slow_answer_is_soon_forgotten():
    polite = Politeness(delay=1.0, slowness=2.0)
    rests = [polite.rest("a", answer(), seconds, NOW) for seconds in [4.0] + [0.1] * 9]
    assert rests[0] == 8.0
    assert rests == sorted(rests, reverse=True)
    assert rests[-1] == 1.0


def test_a_crawl_delay_is_honoured_up_to_a_limit():
    polite = Politeness(delay=1.0, longest=60.0)
    assert polite.rest("a", answer(), 0.1, NOW, crawl_delay=10.0) == 10.0
    assert polite.rest("a", answer(), 0.1, NOW, crawl_delay=0.1) == 1.0
    assert polite.rest("a", answer(), 0.1, NOW, crawl_delay=86_400.0) == 60.0


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_obeyed(status: int):
    polite = Politeness()
    assert polite.rest("a", answer(status, retry_after="120"), 0.1, NOW) == 120.0
    date = "Tue, 14 Nov 2023 22:15:00 GMT"
    assert polite.rest("b", answer(status, retry_after=date), 0.1, NOW) == 100.0


def test_retry_after_has_a_limit():
    polite = Politeness(longest_retry_after=3600.0)
    assert polite.rest("a", answer(429, retry_after="999999999"), 0.1, NOW) == 3600.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("7", 7.0),
        ("Tue, 14 Nov 2023 22:13:00 GMT", 0.0),  # past
        ("Tue, 14 Nov 2023 22:14:20 GMT", 60.0),
        ("soon", None),
        ("", None),
        ("-5", None),
        ("1e999", math.inf),
        ("Tue, 99 Nov 99999 99:99:99 GMT", None),
    ],
)
def test_retry_after_is_a_number_or_a_date(value: str, seconds: float | None):
    assert retry_after({"retry-after": value}, NOW) == seconds


@settings(deadline=None)
@given(st.text(max_size=40))
def test_no_retry_after_is_too_strange(value: str):
    assert (retry_after({"retry-after": value}, NOW) or 0.0) >= 0.0


@pytest.mark.parametrize("bad", [answer(0, "timeout"), answer(503), answer(0, "connection reset")])
def test_a_failing_host_is_left_alone_longer_each_time_and_then_given_up(bad: Response):
    polite = Politeness(delay=1.0, failures=5, pause=3600.0)
    rests = [polite.rest("a", bad, 0.1, NOW) for _ in range(6)]
    assert rests == [2.0, 4.0, 8.0, 16.0, 3600.0, 3600.0]
    assert polite.given_up() == ["a"]


def test_a_host_that_answers_again_is_trusted_again():
    polite = Politeness(failures=2)
    for _ in range(3):
        polite.rest("a", answer(0, "timeout"), 0.1, NOW)
    assert polite.rest("a", answer(), 0.1, NOW) == 1.0
    assert polite.given_up() == []
    assert polite.rest("a", answer(0, "timeout"), 0.1, NOW) == 2.0


@pytest.mark.parametrize("failure", ["robots", "scheme", "private address"])
def test_a_host_that_was_not_asked_need_not_rest(failure: str):
    polite = Politeness()
    assert polite.rest("a", answer(0, failure), 0.0, NOW) == 0.0


@pytest.mark.parametrize(
    "fine", [answer(404), answer(200, "too large"), answer(200, "content type")]
)
def test_a_page_that_fails_says_nothing_against_its_host(fine: Response):
    polite = Politeness(failures=1)
    assert polite.rest("a", fine, 0.1, NOW) == 1.0
    assert polite.given_up() == []


@pytest.mark.parametrize("failure", ["resting", "too many open files"])
def test_what_is_no_fault_of_the_host_is_tried_again_and_not_held_against_it(failure: str):
    polite, ours = Politeness(failures=2), answer(0, failure, retry_after="7")
    assert [polite.rest("a", ours, 0.0, NOW) for _ in range(5)] == [7.0] * 5
    assert polite.given_up() == []
    assert may_pass(ours)


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize("date", ["Tue Nov 14 22:15:00 2023", "Tue, 14 Nov 2023 22:15:00 -0000"])
def test_a_date_without_a_zone_means_the_same_everywhere(monkeypatch, zone: str, date: str):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert retry_after({"retry-after": date}, NOW) == 100.0
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_retry_after_given_twice_or_far_too_large_still_counts():
    assert retry_after({"retry-after": "120, 120"}, NOW) == 120.0
    endless = answer(503, retry_after="9" * 400)
    assert Politeness(longest_retry_after=3600.0).rest("a", endless, 0.1, NOW) == 3600.0


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([200, 404, 429, 500, 503]),
            st.floats(0, 1e6),
            st.one_of(st.none(), st.floats(0, 1e9)),
        ),
        max_size=30,
    )
)
def test_a_rest_is_never_shorter_than_the_delay_nor_longer_than_the_limits(answers):
    polite = Politeness(delay=1.0, longest=60.0, pause=3600.0, longest_retry_after=7200.0)
    for status, seconds, crawl_delay in answers:
        rest = polite.rest("a", answer(status, retry_after="99999"), seconds, NOW, crawl_delay)
        assert 1.0 <= rest <= 7200.0


def test_hosts_that_answer_take_no_room_of_those_that_fail(monkeypatch):
    monkeypatch.setattr("honeyguide.web.politeness._CAPACITY", 2)
    polite = Politeness(failures=5)
    for host, failures in (("a", 5), ("b", 0), ("c", 0), ("d", 0)):
        polite.recall(host, failures)
    assert polite.given_up() == ["a"]
    assert polite.news() == ()
