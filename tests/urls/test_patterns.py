"""Which URLs a crawl may request is one rule, for links and for the hops of redirects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.urls.patterns import ANOTHER_HOST, DENIED, OUTSIDE, HostLimit, Patterns, Scope

LABELS = st.sampled_from(["a", "b", "www", "example", "ab"])
HOSTS = st.lists(LABELS, min_size=1, max_size=4).map(lambda labels: ".".join([*labels, "org"]))
PLACES = st.sampled_from(["/", "/x", "/a.example.org", ":8080/x?u=http://b.example.org", "/*.org"])
URLS = st.builds("{}://{}{}".format, st.sampled_from(["http", "https"]), HOSTS, PLACES)
GLOBS = st.lists(
    st.sampled_from(["*", "a", ".", "example", "org", "/", "://", "http", "?u=", ":8080", "-"]),
    max_size=6,
).map("".join)


def test_the_first_hosts_are_admitted_and_stay_admitted():
    limit: HostLimit[str] = HostLimit(2)
    assert [limit.admits(host) for host in "abcab"] == [True, True, False, True, True]
    assert limit.is_full and limit.hosts == ["a", "b"]


def test_a_limit_goes_on_with_the_hosts_that_it_had():
    limit = HostLimit(2, [7])
    assert [limit.admits(host) for host in (8, 9, 7)] == [True, False, True]


@pytest.mark.parametrize(
    ("url", "refusal"),
    [
        ("http://a.test/good/1", ""),
        ("http://a.test/", OUTSIDE),
        ("http://a.test/good/bad", DENIED),
        ("mailto:a@a.test", OUTSIDE),
    ],
)
def test_a_refusal_says_which_list_refuses(url, refusal):
    assert Scope(["http://a.test/good/"], ["http://a.test/good/bad"]).refusal(url) == refusal


def test_what_a_list_refuses_takes_no_place_among_the_few_hosts():
    scope = Scope(deny=["no.test"], most_hosts=1)
    urls = ("http://no.test/", "http://a.test/", "http://b.test/", "http://a.test/2")
    assert [scope.refusal(url) for url in urls] == [DENIED, "", ANOTHER_HOST, ""]


def test_a_host_of_which_only_a_part_is_allowed_counts_after_a_resume():
    scope = Scope(["http://a.test/part/", "b.test"], most_hosts=1)
    scope.recall("a.test")
    assert scope.refusal("http://b.test/") == ANOTHER_HOST
    assert scope.refusal("http://a.test/part/1") == ""


@given(HOSTS, URLS)
def test_a_star_before_a_domain_is_its_subdomains_and_not_the_domain_itself(domain, url):
    host = url.split("/")[2].partition(":")[0]
    is_below = host.endswith(f".{domain}")
    ends_so = url.endswith(f".{domain}")  # as it always did
    assert Patterns([f"*.{domain}"]).match(url) == (is_below or ends_so)
    assert Patterns([f"*.{domain.upper()}"]).match(url) == (is_below or ends_so)
    assert Scope(allow=[f"*.{domain}"]).refusal(url) == ("" if is_below or ends_so else OUTSIDE)
    assert Scope(deny=[f"*.{domain}"]).refusal(url) == (DENIED if is_below or ends_so else "")


@given(GLOBS, URLS)
def test_a_pattern_that_is_no_host_means_what_it_always_did(pattern, url):
    before = Patterns([pattern], host_globs=False).match(url)
    after = Patterns([pattern]).match(url)
    assert after >= before
    if "*" not in pattern or set("/:?") & set(pattern):
        assert after == before


@pytest.mark.parametrize(
    ("pattern", "url", "fits"),
    [
        ("example.*", "https://example.co.uk/x", True),
        ("news*.example.org", "https://news2.example.org/", True),
        ("news*.example.org", "https://example.org/news.example.org/", False),
        ("*.gov", "https://www.nasa.gov/moon", True),
        ("*/*.pl", "https://www.gazeta.pl/", False),
        ("*/*.pl", "https://example.org/cgi/x.pl", True),
        ("*.", "https://example.org/", False),
        ("*rocks*", "Page about rocks", True),
        ("example.org", "Page about rocks", False),
    ],
)
def test_stars_stand_for_any_part_of_a_host(pattern, url, fits):
    assert Patterns([pattern]).match(url) == fits
