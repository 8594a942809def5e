"""Each host is asked as often as the delay, its answers and its failures allow, and no oftener."""

import asyncio
import math
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.contracts import Link, OfHost, Response
from honeyguide.web.host_schedule import (
    FAILURES,
    RESTS_UNTIL,
    HostSchedule,
    Limits,
    may_pass,
    retry_after,
)

NOW = 1_700_000_000.0  # 14 November 2023, 22:13:20 GMT
LINK = Link("http://site.test/")


def answer(status: int = 200, failure: str = "", **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(LINK, LINK.url, status, named, failure=failure)


def schedule(delay: float = 1.0, **limits: Any) -> HostSchedule:
    return HostSchedule(delay, Limits(**limits), wall_clock=lambda: NOW)


def test_a_quick_host_rests_for_the_base_delay():
    assert schedule(delay=1.0).after("http://a/", answer(), 0.1) == 1.0


def test_a_slow_host_rests_longer():
    polite = schedule(delay=1.0, slowness=2.0)
    assert polite.after("http://a/", answer(), 3.0) == 6.0
    assert polite.after("http://b/", answer(), 0.1) == 1.0


def test_without_a_delay_a_slow_host_is_not_waited_for():
    assert schedule(delay=0.0).after("http://a/", answer(), 3.0) == 0.0


def test_one_slow_answer_is_soon_forgotten():
    polite = schedule(delay=1.0, slowness=2.0)
    rests = [polite.after("http://a/", answer(), seconds) for seconds in [4.0] + [0.1] * 9]
    assert rests[0] == 8.0
    assert rests == sorted(rests, reverse=True)
    assert rests[-1] == 1.0


def test_a_crawl_delay_is_honoured_up_to_a_limit():
    polite = schedule(delay=1.0, longest=60.0)
    for wish, delay in ((10.0, 10.0), (0.1, 1.0), (86_400.0, 60.0), (None, 1.0)):
        polite.set_crawl_delay("http://a", wish)
        assert polite.after("http://a/", answer(), 0.1) == delay


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_obeyed(status: int):
    polite = schedule()
    assert polite.after("http://a/", answer(status, retry_after="120"), 0.1) == 120.0
    date = "Tue, 14 Nov 2023 22:15:00 GMT"
    assert polite.after("http://b/", answer(status, retry_after=date), 0.1) == 100.0


def test_retry_after_has_a_limit():
    polite = schedule(longest_retry_after=3600.0)
    assert polite.after("http://a/", answer(429, retry_after="999999999"), 0.1) == 3600.0


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
    polite = schedule(delay=1.0, failures=5, pause=3600.0)
    rests = [polite.after("http://a/", bad, 0.1) for _ in range(6)]
    assert rests == [2.0, 4.0, 8.0, 16.0, 3600.0, 3600.0]
    assert polite.given_up() == ["a"]


def test_a_host_that_answers_again_is_trusted_again():
    polite = schedule(failures=2)
    for _ in range(3):
        polite.after("http://a/", answer(0, "timeout"), 0.1)
    assert polite.after("http://a/", answer(), 0.1) == 1.0
    assert polite.given_up() == []
    assert polite.after("http://a/", answer(0, "timeout"), 0.1) == 2.0


@pytest.mark.parametrize("failure", ["robots", "scheme", "private address"])
def test_a_host_that_was_not_asked_need_not_rest(failure: str):
    polite = schedule()
    assert polite.after("http://a/", answer(0, failure), 0.0) == 0.0


@pytest.mark.parametrize(
    "fine", [answer(404), answer(200, "too large"), answer(200, "content type")]
)
def test_a_page_that_fails_says_nothing_against_its_host(fine: Response):
    polite = schedule(failures=1)
    assert polite.after("http://a/", fine, 0.1) == 1.0
    assert polite.given_up() == []


@pytest.mark.parametrize("failure", ["resting", "too many open files"])
def test_what_is_no_fault_of_the_host_is_tried_again_and_not_held_against_it(failure: str):
    polite, ours = schedule(failures=2), answer(0, failure, retry_after="7")
    assert [polite.after("http://a/", ours, 0.0) for _ in range(5)] == [7.0] * 5
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
    assert schedule(longest_retry_after=3600.0).after("http://a/", endless, 0.1) == 3600.0


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
    polite = schedule(delay=1.0, longest=60.0, pause=3600.0, longest_retry_after=7200.0)
    for status, seconds, crawl_delay in answers:
        polite.set_crawl_delay("http://a", crawl_delay)
        rest = polite.after("http://a/", answer(status, retry_after="99999"), seconds)
        assert 1.0 <= rest <= 7200.0


def test_hosts_that_answer_take_no_room_of_those_that_fail(monkeypatch):
    monkeypatch.setattr("honeyguide.web.host_schedule._CAPACITY", 2)
    polite = schedule(failures=5)
    for host, failures in (("a", 5), ("b", 0), ("c", 0), ("d", 0)):
        polite.recall([OfHost(host, FAILURES, failures)])
    assert polite.given_up() == ["a"]
    assert polite.news() == ()


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0

    async def sleep(self, seconds: float) -> None:
        self.now += seconds

    def schedule(self, delay: float = 0.0) -> HostSchedule:
        return HostSchedule(delay, clock=lambda: self.now, sleep=self.sleep)

    def ready(self, schedule: HostSchedule, host: str = "site.test") -> float:
        """Seconds left, in a task of its own."""
        return asyncio.run(schedule.ready(host))


def test_requests_of_different_visits_to_a_host_are_a_delay_apart():
    time = Time()
    polite, asked = time.schedule(delay=2.0), []
    for _ in range(3):
        assert time.ready(polite) == 0.0
        asked.append(time.now)
    assert asked == [0.0, 2.0, 4.0]


def test_a_redirect_within_a_host_need_not_wait():
    time = Time()
    polite, asked = time.schedule(delay=2.0), []

    async def visit() -> None:
        for _ in range(2):
            await polite.ready("site.test")
            asked.append(time.now)

    asyncio.run(visit())
    asyncio.run(visit())
    assert asked == [0.0, 0.0, 2.0, 2.0]


def test_a_host_that_must_wait_for_long_is_not_waited_for():
    time = Time()
    polite = time.schedule()
    polite.hold("site.test", 3600.0)
    assert time.ready(polite) == 3600.0
    time.now = 3590.0
    assert time.ready(polite) == 0.0
    assert time.now == 3600.0


def test_the_longest_delay_of_a_slow_host_is_waited_for():
    time = Time()
    polite = time.schedule(delay=1.0)
    polite.set_crawl_delay("http://site.test", 999.0)
    assert polite.after(LINK.url, answer(), 99.0) == 60.0
    assert time.ready(polite) == 0.0
    assert time.now == 60.0


def test_a_shorter_delay_does_not_end_a_longer_one():
    time = Time()
    polite = time.schedule()
    polite.hold("site.test", 3600.0)
    polite.hold("site.test", 1.0)
    assert time.ready(polite) == 3600.0


def test_hosts_that_must_wait_are_remembered_within_bounds(monkeypatch):
    monkeypatch.setattr("honeyguide.web.host_schedule._CAPACITY", 10)
    polite = HostSchedule(clock=lambda: 0.0)
    for number in range(100):
        polite.hold(f"h{number}", 1.0 + number)
        assert len(polite._until) <= 10
    assert {1.0 + number for number in range(95, 100)} <= set(polite._until.values())


def test_what_was_learnt_of_a_host_is_known_again_after_a_resume():
    before, again = schedule(), HostSchedule(clock=lambda: 0.0, wall_clock=lambda: NOW + 20.0)
    before.after(LINK.url, answer(503, retry_after="120"), 0.1)
    news = before.news()
    assert set(news) == {
        OfHost("site.test", FAILURES, 1),
        OfHost("site.test", RESTS_UNTIL, NOW + 120.0),
    }
    again.recall(news)
    assert again.wait("site.test") == 100.0
    assert again.after(LINK.url, answer(503), 0.1) == 4.0  # the second failure in a row


def test_a_probe_keeps_the_delay_and_the_crawl_delay():
    time = Time()
    polite = time.schedule(delay=1.0)
    polite.set_crawl_delay("http://slow.test", 7.0)
    for origin in ("http://site.test", "http://slow.test"):
        polite.probe(origin)
    assert (polite.wait("site.test"), polite.wait("slow.test")) == (1.0, 7.0)
