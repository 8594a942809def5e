import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.guards.traps import REASONS, Traps, shape

HOST = "http://x.example"


class Site:
    """Links of one or more hosts, numbered as a memory would."""

    def __init__(self, traps):
        self.traps = traps
        self.ids = {}
        self.hosts = {}

    def judge(self, *urls):
        ids = [self.ids.setdefault(url, len(self.ids)) for url in urls]
        codes = self.traps.check(
            np.array(ids, np.int32), np.array([self.host(url) for url in urls], np.int32), urls
        )
        return [REASONS[code] for code in codes]

    def host(self, url):
        return self.hosts.setdefault(url.split("/")[2], len(self.hosts))

    def visit(self, url, new=True, relevant=False):
        self.traps.note(self.host(url), shape(url), new, relevant)


def open_after(site, urls, new=True, relevant=lambda number: False):
    """How many of these are visited before the first is refused."""
    for number, url in enumerate(urls):
        if site.judge(url) != [""]:
            return number
        site.visit(url, new, relevant(number))
    return len(urls)


def articles(count, host=HOST):
    return [f"{host}/article/{number}" for number in range(count)]


def test_links_are_refused_by_their_looks():
    site = Site(Traps())
    assert site.judge(f"{HOST}/a", f"{HOST}/a.jpg", f"{HOST}/a/a/a") == [
        "",
        "file type",
        "repeating path",
    ]


def test_a_pattern_that_brings_nothing_relevant_is_closed():
    site = Site(Traps(pattern_pages=100))
    assert open_after(site, articles(500)) == 100
    assert site.judge(f"{HOST}/article/9999") == ["URL pattern with nothing relevant"]
    assert site.judge(f"{HOST}/review/1", f"{HOST}/about", "http://y.example/article/1") == [""] * 3


def test_a_pattern_that_keeps_bringing_relevant_pages_stays_open():
    site = Site(Traps(pattern_pages=100, growth=50))
    assert open_after(site, articles(2000), relevant=lambda number: number % 40 == 0) == 2000


def test_a_pattern_of_copies_is_closed_soon():
    site = Site(Traps(patience=20))
    assert open_after(site, articles(500), new=False) == 20
    assert site.judge(f"{HOST}/article/9999") == ["URL pattern with nothing new"]


def test_a_good_pattern_is_forgiven_more_copies():
    site = Site(Traps(patience=20))
    assert open_after(site, articles(400)) == 400
    assert open_after(site, articles(1000)[400:], new=False) == 20 + 400 // 4


def test_a_copy_counts_for_nothing_even_when_it_is_relevant():
    site = Site(Traps(patience=20))
    assert open_after(site, articles(500), new=False, relevant=lambda number: True) == 20


def test_a_calendar_is_closed_after_fewer_pages():
    site = Site(Traps(calendar_pages=60))
    days = [
        f"{HOST}/calendar/{2000 + n // 336}/{1 + n // 28 % 12}/{1 + n % 28}" for n in range(500)
    ]
    assert open_after(site, days) == 60
    assert site.judge(days[400]) == ["calendar"]


def test_empty_calendars_everywhere_are_learnt_from_a_few():
    site = Site(Traps(patience=20))
    fetched = [
        open_after(site, [f"http://h{host}.example/calendar/2020/{m}" for m in range(1, 13)], False)
        for host in range(100)
    ]
    assert sum(fetched) == 40
    assert site.judge("http://new.example/calendar/2020/1") == ["calendar"]


def test_sessions_are_closed_wherever_in_the_site_they_lead():
    site = Site(Traps(patience=20))
    pages = [f"{HOST}/s/{number:04x}a1b2c3d4e5f6/page-{number}" for number in range(100)]
    assert open_after(site, pages, new=False) == 20
    assert site.judge(f"{HOST}/s/99a1b2c3d4e5f6aa/contact", f"{HOST}/contact") == [
        "session ids",
        "",
    ]


def test_dates_far_ahead_are_refused_when_the_year_is_known():
    urls = [f"{HOST}/calendar/{year}/01" for year in (1995, 2026, 2029, 2030, 9999)]
    assert Site(Traps(year=2026)).judge(*urls) == ["", "", "", "far date", "far date"]
    assert Site(Traps()).judge(*urls) == [""] * 5


def test_a_path_with_ever_more_parameters_is_closed():
    site = Site(Traps())
    forms = [f"{HOST}/find?" + "&".join(f"k{n + k}=1" for k in range(5)) for n in range(200)]
    assert open_after(site, forms) == 41
    assert site.judge(f"{HOST}/find?new=1", f"{HOST}/other?new=1") == ["growing query", ""]


def test_a_host_that_brings_nothing_new_is_closed():
    site = Site(Traps(patience=20))
    pages = [f"{HOST}/{'x' * number}" for number in range(1, 200)]
    assert open_after(site, pages, new=False) == 60
    assert site.judge(f"{HOST}/y", "http://y.example/y") == ["host with nothing new", ""]


def test_a_host_has_a_cap_that_grows_with_what_it_brings():
    pages = [f"{HOST}/{'x' * number}" for number in range(1, 400)]
    assert open_after(Site(Traps(host_pages=200)), pages) == 200
    site = Site(Traps(host_pages=200, growth=50))
    assert open_after(site, pages, relevant=lambda number: number < 2) == 300
    assert site.judge(f"{HOST}/y") == ["host with nothing relevant"]


VISITS = st.lists(
    st.tuples(
        st.sampled_from(["x", "y"]),
        st.sampled_from(["/a/1", "/calendar/2020/1", "/s?sid=1", "/find?a=1", "/about", "/a.jpg"]),
        st.booleans(),
        st.booleans(),
    ),
    max_size=60,
)


@settings(max_examples=30, deadline=None)
@given(VISITS, VISITS)
def test_saved_traps_go_on_as_the_others_do(before, after):
    whole = Site(Traps(pattern_pages=8, calendar_pages=4, host_pages=20, growth=2, patience=3))
    for host, path, new, relevant in before:
        whole.visit(f"http://{host}.example{path}", new, relevant)
    half = Site(Traps(pattern_pages=8, calendar_pages=4, host_pages=20, growth=2, patience=3))
    half.hosts = dict(whole.hosts)
    half.traps.load(whole.traps.state())
    for host, path, new, relevant in after:
        url = f"http://{host}.example{path}"
        assert whole.judge(url) == half.judge(url)
        whole.visit(url, new, relevant)
        half.visit(url, new, relevant)


@pytest.mark.parametrize("count", [0, 1, 30])
def test_as_many_answers_as_links(count):
    assert len(Site(Traps()).judge(*articles(count))) == count
