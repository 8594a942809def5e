import pytest
from ada_url import join_url
from hypothesis import given
from hypothesis import strategies as st

from honeyguide import urls

PIECES = (
    "http:// https:// HTTP: a.com B.org 1.2 x.0x1 / /../ /./ ../ /%2e %41 ? & a=1 utm_x=2 #f ; \\ @"
    " :80 :443 :8080 .. . ~ ' \" < | % [ ] ^ ` { ü xn--a xn--bcher-kva.de ;jsessionid=3 _ A 0 x y/"
    " sid=abcdef01234567890 \x00 \ud800"
).split(" ")
MESSY = st.lists(st.sampled_from([*PIECES, " ", "\t"]), max_size=8).map("".join) | st.text(
    max_size=40
)
BASES = st.sampled_from(
    ["", "http://a.com", "http://a.com/b/c", "http://a.com/b//c?x=/d/e", "https://b.org:8080/x/"]
)


@given(MESSY, BASES)
def test_a_canonical_url_is_its_own_canonical_form(url, base):
    once = urls.canonical(url, base)
    assert once is None or urls.canonical(once) == once


@given(MESSY, BASES)
def test_the_short_way_agrees_with_the_parser(url, base):
    found = urls.canonical(url, base)
    try:
        full = join_url(base, url) if base else join_url(url, "")
    except ValueError:
        assert found is None
        return
    if not full.startswith(("http://", "https://")):
        assert found is None
    elif "?" not in full and ";" not in full:
        assert found == full.partition("#")[0]


@given(MESSY, BASES)
def test_a_canonical_url_has_a_host_and_no_fragment(url, base):
    found = urls.canonical(url, base)
    if found is not None:
        assert urls.host(found)
        assert "#" not in found
        assert len(found) <= urls.MAX_LENGTH


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://Example.COM:80/A/../b#top", "http://example.com/b"),
        ("https://example.com:443", "https://example.com/"),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("http://x.com/?b=2&a=1", "http://x.com/?b=2&a=1"),
        ("http://x.com/?b=2&utm_source=n&fbclid=3&a=1", "http://x.com/?b=2&a=1"),
        ("http://x.com/?gclid=1", "http://x.com/"),
        ("http://x.com/a;jsessionid=1F2E?z=1", "http://x.com/a?z=1"),
        ("http://x.com/?PHPSESSID=1234", "http://x.com/"),
        ("http://x.com/?sid=0123456789abcdef0123", "http://x.com/"),
        ("http://x.com/?sid=5", "http://x.com/?sid=5"),
        ("http://x.com/..;jsessionid=3", "http://x.com/"),
        ("http://bücher.de/ü", "http://xn--bcher-kva.de/%C3%BC"),
    ],
)
def test_one_page_has_one_spelling(url, expected):
    assert urls.canonical(url) == expected


@pytest.mark.parametrize(
    "url",
    ["mailto:a@b.c", "javascript:void(0)", "ftp://x.com/", "file:///etc/passwd", "x", "", "http://",
     "http://a b/", "http://x.com/" + "a" * 3000, "http://x.com/" + "ü" * 1000, "http://\ud800/",
     "http://../x", "http://..//victim.example/x", "http://user@./x", "http://.:80/"],
)  # fmt: skip
def test_what_is_no_web_address_has_no_canonical_form(url):
    assert urls.canonical(url) is None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("c.html", "http://a.com/x/c.html"),
        ("/c", "http://a.com/c"),
        ("../../../c", "http://a.com/c"),
        ("../c?q=1", "http://a.com/c?q=1"),
        ("//b.org/c", "http://b.org/c"),
        ("?q=2", "http://a.com/x/y?q=2"),
        ("#part", "http://a.com/x/y?q=1"),
        ("", "http://a.com/x/y?q=1"),
        ("https://b.org/", "https://b.org/"),
    ],
)
def test_a_relative_url_is_joined_with_its_base(url, expected):
    assert urls.canonical(url, "http://a.com/x/y?q=1#z") == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://a.com/x", "a.com"),
        ("http://a.com:8080/x@y:1", "a.com"),
        ("http://u:p@a.com/", "a.com"),
        ("http://[::1]:80/", "[::1]"),
        ("http://[::1]/", "[::1]"),
    ],
)
def test_a_host_is_named_without_user_and_port(url, expected):
    assert urls.host(url) == expected


def test_the_words_of_a_path_are_those_after_the_host_and_after_wiki():
    assert urls.path_words("https://simple.wikipedia.org/wiki/Igneous_rock") == "igneous rock"
    assert urls.path_words("http://rocks.example/old/wiki/Slate.html?page=2") == "old wiki slate"
    assert urls.path_words("http://rocks.example/") == ""


def test_the_words_of_a_url_are_readable():
    url = "http://www.cs.example.edu:80/~bob/CS414HomePage/HTMLElement_v2/caf%C3%A9-menu.html?x=1#y"
    assert urls.words(url) == "cs example edu bob cs home page html element v café menu"


@given(st.text(max_size=60))
def test_any_text_has_words_or_none(url):
    assert urls.words(url) == urls.words(url).lower()


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("http://u:p@a.example/x", "http://a.example/x"),
        ("http://a.example./x", "http://a.example/x"),
        ("http://u@a.example.:8080/x", "http://a.example:8080/x"),
        ("http://a.example/u@b", "http://a.example/u@b"),
        ("http://[2001:db8::1]:81/x", "http://[2001:db8::1]:81/x"),
        ("http://u@[2001:db8::1]:81/x", "http://[2001:db8::1]:81/x"),
    ],
)
def test_credentials_and_a_last_dot_name_no_other_place(said, meant):
    assert urls.canonical(said) == meant
    assert urls.canonical(meant) == meant
