"""Which URLs a crawl may request is one rule, for links and for the hops of redirects."""

import pytest

from honeyguide.urls.patterns import ANOTHER_HOST, DENIED, OUTSIDE, HostLimit, Scope


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
