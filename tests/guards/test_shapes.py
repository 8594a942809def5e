import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.guards.traps import Kind, refusal, shape

HOST = "http://x.example"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/photo.jpg", "file type"),
        ("/a/paper.PDF", "file type"),
        ("/a/b.tar.gz?download=1", "file type"),
        ("/song.mp3?from=/home", "file type"),
        ("/a/b/a/b/a/b", "repeating path"),
        ("/x/a/a/a/y", "repeating path"),
        ("/en/a/en/b/en/c/en/d", "repeating path"),
        ("/blog/blog/blog/blog/how-to-start", "repeating path"),
        ("/" + "/".join(f"s{n}" for n in range(21)), "deep path"),
        ("/?" + "&".join(f"k{n}=1" for n in range(13)), "long query"),
        ("/?a=1&a=1&a=1", "long query"),
        ("/?back=%252525", "long query"),
        ("/?q=" + "x" * 1100, "long query"),
    ],
)
def test_a_trap_is_known_by_its_looks(path, reason):
    assert refusal(HOST + path) == reason


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/wiki/File:Honey.jpg",
        "/wiki/File%3AHoney.jpg",
        "/wiki/Node.js",
        "/wiki/Booking.com",
        "/page.html?image=honey.jpg",
        "/gif",
        "/2020/01/01/01",
        "/0/0/0",
        "/src/main/java/org/example/main/java",
        "/search?q=a&page=2&sort=date&lang=en&size=20",
        "/filter?f[]=1&f[]=2&f[]=3",
        "/en-US/docs/Web/API/Document/Document",
    ],
)
def test_a_page_is_not_taken_for_a_trap(path):
    assert refusal(HOST + path) == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/article/12345", "/article/7"),
        ("/a/12/b34.html", "/a/5/b6.html"),
        ("/list?page=2&sort=a", "/list?sort=b&page=17"),
        ("/calendar/2031/05", "/calendar/1999/12"),
        ("/events/2024-05-12", "/events/2031-01-01"),
        ("/events?date=2024-05-12", "/events?date=2031-01-01"),
        ("/plan?year=2024&month=5", "/plan?year=1980&month=12"),
        ("/s/9f8a7d6e5c4b3a21/home", "/s/0a1b2c3d4e5f6a7b/about"),
        ("/shop?visit=9f8a7d6e", "/shop?visit=b0eae64b"),
        ("/a/b?sid=1x", "/a/b?sid=77"),
    ],
)
def test_like_addresses_are_one_group(one, other):
    assert shape(HOST + one)[:3] == shape(HOST + other)[:3]
    assert shape(HOST + one).kind != Kind.SINGLE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/article/1", "/review/1"),
        ("/list?page=1", "/list?item=1"),
        ("/a1", "/b1"),
    ],
)
def test_unlike_addresses_are_groups_of_their_own(one, other):
    assert shape(HOST + one).narrow != shape(HOST + other).narrow


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/about", Kind.SINGLE),
        ("/article/12345", Kind.NUMBERED),
        ("/2012/04/wordless-wednesday.html", Kind.NUMBERED),
        ("/wiki/1848", Kind.NUMBERED),
        ("/product/123456/7", Kind.NUMBERED),
        ("/2012/04/", Kind.CALENDAR),
        ("/20310512", Kind.CALENDAR),
        ("/kalender/woche-12", Kind.CALENDAR),
        ("/how-to-make-10-things-for-the-garden-in-2024", Kind.NUMBERED),
        ("/Olympics2012OpeningCeremony", Kind.NUMBERED),
        ("/doc/123e4567-e89b-12d3-a456-426614174000", Kind.SESSION),
    ],
)
def test_kinds_of_addresses_are_told_apart(path, kind):
    assert shape(HOST + path).kind == kind


def test_calendars_and_sessions_are_known_on_other_sites_too():
    for path in ("/calendar/2031/05", "/shop/7?visit=9f8a7d6e"):
        here, there = shape(HOST + path), shape("http://y.example" + path)
        assert here.narrow != there.narrow
        assert here.wide == there.wide
    assert shape(HOST + "/a/1").wide != shape("http://y.example/a/1").wide


def test_a_calendar_tells_its_year():
    assert shape(HOST + "/calendar/2031/05").year == 2031
    assert shape(HOST + "/plan?year=2077&month=5").year == 2077
    assert shape(HOST + "/events?from=2055-01-02").year == 2055


@given(st.text(st.characters(exclude_categories=()), max_size=80))
def test_no_address_is_too_odd_to_be_looked_at(rest):
    assert isinstance(refusal(f"{HOST}/{rest}"), str)
    assert shape(f"{HOST}/{rest}") == shape(f"{HOST}/{rest}")


def test_hostile_addresses_are_read_in_bounded_time():
    start = time.process_time()
    for unit in ("/a", "a1", "/a/b", "-1", "1a/", "=&", "%25"):
        url = f"{HOST}/{unit * (2000 // len(unit))}!"
        for _ in range(20):
            refusal(url)
            shape(url)
    assert time.process_time() - start < 3  # a hundredth of a second each, on a busy machine
