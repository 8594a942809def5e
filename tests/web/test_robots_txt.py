"""robots.txt says what RFC 9309 says it says."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.web.robots_txt import RobotsTxt, robots_directives

AGENT = "honeyguide/1.0 (+me@example.org)"


def allowed(text: str | bytes, path: str, agent: str = AGENT) -> bool:
    body = text if isinstance(text, bytes) else text.encode()
    return RobotsTxt(body, agent).decide("http://example.org" + path).allowed


def one(pattern: str, path: str) -> bool:
    """Whether a pattern fits a path."""
    return not allowed(f"User-agent: *\nDisallow: {pattern}", path)


RFC_EXAMPLE = """
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""


@pytest.mark.parametrize(
    ("agent", "path", "expected"),
    [
        ("anybot", "/", True),
        ("anybot", "/example/page.html", False),
        ("anybot", "/publications/a.gif", True),
        ("anybot", "/a.gif", False),
        ("anybot", "/a.gif?size=1", True),
        ("foobot", "/", False),
        ("foobot", "/example/page.html", True),
        ("foobot", "/example/allowed.gif", True),
        ("foobot", "/example/other.gif", False),
        ("barbot", "/example/page.html", False),
        ("barbot", "/example/other", True),
        ("bazbot", "/example/page.html", False),
        ("bazbot", "/a.gif", True),
        ("quxbot", "/a.gif", True),
        ("quxbot", "/example/", True),
    ],
)
def test_the_example_of_the_rfc_is_read_as_it_explains_it(agent: str, path: str, expected: bool):
    assert allowed(RFC_EXAMPLE, path, agent) is expected


def test_the_longest_match_wins():
    text = "User-agent: *\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif"
    assert allowed(text, "/example/page/allowed.gif")
    assert not allowed(text, "/example/page/disallowed.gif")


def test_the_order_of_lines_means_nothing():
    lines = ["Disallow: /", "Allow: /p", "Disallow: /page", "Allow: /page/one$"]
    for shown in (lines, lines[::-1], lines[2:] + lines[:2]):
        text = "User-agent: *\n" + "\n".join(shown)
        paths = ("/", "/p", "/pa", "/page", "/page/one", "/page/one/two")
        assert [allowed(text, path) for path in paths] == [False, True, True, False, True, False]


def test_allow_wins_where_two_are_equally_long():
    assert allowed("User-agent: *\nDisallow: /page\nAllow: /page", "/page")
    assert allowed("User-agent: *\nAllow: /page\nDisallow: /page", "/page")


@pytest.mark.parametrize(
    ("pattern", "fits", "fails"),
    [
        ("/", "/ /a /a?b", ""),
        ("/fish", "/fish /fish.html /fish/salmon /fishheads /fish?id=1", "/Fish.asp /catfish /f"),
        ("/fish/", "/fish/ /fish/salmon /fish/?id=1", "/fish /fish.html"),
        ("/fish*", "/fish /fish.html /fishheads/yummy", "/Fish /catfish"),
        ("/*.php", "/a.php /a/b.php?c /a.php5 /.php", "/a /windows.PHP"),
        ("/*.php$", "/a.php /a/b.php /a.php.php", "/a.php?c /a.php/ /a.php5 /php"),
        ("/fish*.php", "/fish.php /fishheads/catfish.php?a=b", "/Fish.PHP /fish.ph"),
        ("/$", "/", "/a /?a"),
        ("*", "/ /a", ""),
        ("*/a*/b$", "/a/b /x/ax/b /a/c/b /a/b/b", "/ab /a/bc /b"),
        ("/a**b", "/ab /axb", "/a"),
        ("/a$b", "/a$b /a%24b /a$bc", "/a /ab"),
        ("/*aa$", "/aa /aaa /baaa", "/a /aab"),
        ("/a*$", "/a /abc /a?b", "/b"),
        ("/*?", "/? /a?b", "/a /"),
        ("/a?b=", "/a?b=c", "/a?c /a"),
    ],
)
def test_patterns_fit_what_they_should(pattern: str, fits: str, fails: str):
    assert [path for path in fits.split() if not one(pattern, path)] == []
    assert [path for path in fails.split() if one(pattern, path)] == []


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        # the table of RFC 9309, 2.2.2
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/ツ"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        # and its kin
        ("/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar"),
        ("/*=https%3A%2F%2Ffoo", "/foo?baz=https%3A%2F%2Ffoo.bar"),
        ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84"),
        ("/foo/baz", "/foo/%62az"),
        ("/a%7eb", "/a~b"),
        ("/file-with-a-%2A.html", "/file-with-a-*.html"),
        ("/file-with-a-%2A.html", "/file-with-a-%2a.html"),
        ("/path/foo-%24", "/path/foo-$"),
        ("/a b", "/a%20b"),
        ("/grün", "/gr%C3%BCn"),
    ],
)
def test_one_octet_is_one_octet_however_it_is_written(pattern: str, path: str):
    assert one(pattern, path)


def test_an_encoded_slash_in_a_path_is_no_slash():
    assert not one("/a/b", "/a%2Fb")
    assert not one("/a%2Fb", "/a/b")
    assert not one("/file-with-a-%2A.html", "/file-with-a-star.html")


def test_a_rule_in_another_encoding_fits_its_own_bytes():
    assert not allowed(b"User-agent: *\nDisallow: /gr\xfcn", "/gr%FCn")


def test_groups_of_the_same_crawler_are_one():
    text = """User-agent: honeyguide
Disallow: /a
User-agent: other
Disallow: /b
User-agent: HoneyGuide
Disallow: /c
User-agent: *
Disallow: /d"""
    assert [allowed(text, path) for path in ("/a", "/b", "/c", "/d")] == [False, True, False, True]


def test_groups_for_everyone_are_one():
    text = (
        "User-agent: *\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\nUser-agent: *\nDisallow: /c"
    )
    assert [allowed(text, path) for path in ("/a", "/b", "/c")] == [False, True, False]


@pytest.mark.parametrize(
    ("name", "is_meant"),
    [
        ("honeyguide", True),
        ("HONEYGUIDE", True),
        ("honeyguide/2.1", True),
        ("honeyguide bot", True),
        ("honey", False),
        ("honeyguides", False),
        ("honeyguide-images", False),
        ("*", True),
        ("* # all", True),
        ("*bot", False),
        ("", False),
        ("1", False),
    ],
)
def test_a_crawler_goes_by_its_product_token(name: str, is_meant: bool):
    assert allowed(f"User-agent: {name}\nDisallow: /", "/a") is not is_meant


def test_an_empty_group_of_its_own_frees_a_crawler_from_that_for_everyone():
    assert allowed("User-agent: honeyguide\nDisallow:\n\nUser-agent: *\nDisallow: /", "/a")


def test_rules_without_a_crawler_are_not_rules():
    assert allowed("Disallow: /\nUser-agent: other\nDisallow: /", "/a")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n\r\n"])
def test_lines_end_in_any_way(end: str):
    text = end.join(["User-agent: a", "User-agent: *", "Allow: /a/b", "Disallow: /a"])
    assert [allowed(text, path) for path in ("/a", "/a/b", "/b")] == [False, True, True]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffUser-agent: *\nDisallow: /a",
        "user-AGENT :*\n\tDISALLOW\t:\t/a\t",
        "User-agent: * # all\nDisallow: /a # a",
        "User-agent *\nDisallow /a",
        "Useragent: *\nDissallow: /a",
        "User-agent: *\nSitemap: http://example.org/s\nUnknown: x\n\nDisallow: /a",
        "User-agent: *\nCrawl-delay: 5\nUser-agent: other\nDisallow: /a",
        "User-agent: *\nDisallow: a",
        "<html>\nUser-agent: *\n\0Disallow: /a",
    ],
)
def test_what_people_write_is_understood(text: str):
    assert not allowed(text, "/a")
    assert allowed(text, "/b")


def test_an_empty_disallow_forbids_nothing():
    assert allowed("User-agent: *\nDisallow:", "/a")
    assert not allowed("User-agent: *\nDisallow:\nDisallow: /a", "/a")


def test_robots_txt_itself_may_always_be_fetched():
    assert allowed("User-agent: *\nDisallow: /", "/robots.txt")


def test_the_path_is_judged_as_it_will_be_asked_for():
    text = "User-agent: *\nDisallow: /private/"
    for path in ("/a/../private/x", "/%2e%2e/private/x", "/./private/", "\\private\\x"):
        assert not allowed(text, path)


def test_the_deciding_line_is_named():
    text = """# hello\r
User-agent: *\r
Disallow: /grün/ # no\r
Allow: /\r
Crawl-delay: 2.5\r
Sitemap: https://example.org/map.xml"""
    rules = RobotsTxt(text.encode(), AGENT)
    assert rules.decide("http://example.org/grün/1") == (
        False,
        "Disallow: /grün/",
        3,
        2.5,
        ("https://example.org/map.xml",),
    )
    assert rules.decide("http://example.org/").line == 4
    assert RobotsTxt(b"", AGENT).decide("http://example.org/").rule == "no rule matches"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("10", 10.0),
        ("0.5", 0.5),
        ("x", None),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("", None),
    ],
)
def test_a_crawl_delay_is_a_number_of_seconds(value: str, seconds: float | None):
    rules = RobotsTxt(f"User-agent: *\nCrawl-delay: {value}\nDisallow: /a".encode(), AGENT)
    assert rules.crawl_delay == seconds
    other = RobotsTxt(b"User-agent: other\nCrawl-delay: 9\nDisallow: /a", AGENT)
    assert other.crawl_delay is None


def test_all_of_half_a_megabyte_is_read():
    lines = b"User-agent: *\n" + b"Disallow: /x/y/z/and/so/on/and/so/on/a\n" * 13_500
    assert len(lines) > 500 * 1024
    assert not allowed(lines + b"Disallow: /last", "/last")


def test_a_pattern_of_many_asterisks_costs_little():
    rules = RobotsTxt(b"User-agent: *\nDisallow: /" + b"*a" * 100_000 + b"$", AGENT)
    assert rules.allows("/" + "a" * 2000 + "b")


HOSTILE = {
    "wildcards": lambda n: b"Disallow: /*a*a*a*a*b%d$" % n,
    "one wildcard": lambda n: b"Allow:*%x" % n,
    "prefixes": lambda n: b"Disallow: /%x" % n,
    "every length": lambda n: b"Allow: /" + b"a" * n,
    "long pieces": lambda n: b"Disallow: /*" + b"a" * (400 + n % 300) + b"b%da" % (n % 10),
    "many pieces": lambda n: b"Disallow: /" + b"*aaaaaaab%da" % (n % 10) * 100,
}
LONG_PATHS = ("/" + "a" * 2040, "/" + "ab" * 1000 + "?" + "%2F" * 10, "/" + "$" * 2040)


def hostile(line: Callable[[int], bytes]) -> bytes:
    """As many lines as a crawler reads."""
    lines, size = [b"User-agent: *"], 0
    while size < 600 * 1024:
        lines.append(line(len(lines)))
        size += len(lines[-1]) + 1
    return b"\n".join(lines)


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_file_makes_a_decision_slow(kind: str):
    rules = RobotsTxt(hostile(HOSTILE[kind]), AGENT)
    before = time.thread_time()
    for path in LONG_PATHS * 10:
        rules.allows(path)
    assert time.thread_time() - before < 30 * 0.005  # about 0.001 each


def test_what_takes_too_long_to_decide_is_forbidden_and_says_so():
    rules = RobotsTxt(hostile(HOSTILE["wildcards"]) + b"\nAllow: /open\n", AGENT)
    decision = rules.decide("http://example.org/open")
    assert not decision.allowed
    assert "too many wildcard patterns" in decision.rule


def test_a_longer_rule_decides_however_many_shorter_ones_there_are():
    allow = b"Allow: /" + b"open" * 10
    rules = RobotsTxt(hostile(HOSTILE["wildcards"]) + b"\n" + allow + b"\n", AGENT)
    assert rules.allows("/" + "open" * 10)


def test_the_wildcards_of_a_large_shop_are_all_compared():
    lines = [b"Disallow: /*/filter-%d=*&sort=" % n for n in range(400)]
    text = b"User-agent: *\n" + b"\n".join(lines)
    path = "/shoes/brown/" + "x" * 150
    assert allowed(text, path + "?filter-9=1")
    assert not allowed(text, path + "/filter-9=1&sort=price")


def test_an_endless_line_forbids_more_and_allows_nothing():
    endless = b"/a" + b"*" * 20_000 + b"b"
    assert not allowed(b"User-agent: *\nDisallow: " + endless, "/a")
    assert not allowed(b"User-agent: *\nDisallow: /\nAllow: " + endless, "/ab")


@pytest.mark.parametrize(
    "mark",
    [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef", b"\xef\xbb\xbf" * 2],
    ids=["whole", "two thirds", "a third", "twice"],
)
def test_a_byte_order_mark_or_part_of_one_hides_no_group(mark: bytes):
    assert not allowed(mark + b"User-agent: *\nDisallow: /a", "/a")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8", "utf-8-sig"])
def test_a_file_in_any_unicode_encoding_is_read(encoding: str):
    text = "User-agent: *\r\nDisallow: /gr\u00fcn\r\nDisallow: /last".encode(encoding)
    assert not allowed(text, "/last")
    if encoding in ("utf-16", "utf-8", "utf-8-sig"):  # others have no mark to know them by
        assert not allowed(text, "/gr%C3%BCn")


def test_byte_order_marks_inside_lines_hide_nothing():
    text = "User\ufeff-agent: \ufeff*\n\ufeffDisallow: /a\n"
    assert not allowed(text, "/a")


@settings(deadline=None)
@given(st.binary(max_size=300), st.text(max_size=60))
def test_no_file_and_no_url_is_too_strange(body: bytes, path: str):
    RobotsTxt(b"User-agent: *\n" + body, AGENT).decide("http://example.org/" + path)


fragments = st.lists(st.sampled_from(["/", "a", "b", "*", "$", "?"]), max_size=8).map("".join)


def fits_by_definition(pattern: str, path: str) -> bool:
    """The meaning of a pattern, written as a search through all ways to read it."""
    if not pattern:
        return True
    if pattern == "$":
        return not path
    if pattern[0] == "*":
        return any(fits_by_definition(pattern[1:], path[i:]) for i in range(len(path) + 1))
    return path[:1] == pattern[0] and fits_by_definition(pattern[1:], path[1:])


@settings(deadline=None)
@given(fragments.map("/".__add__), fragments.map("/".__add__))
def test_matching_is_what_the_definition_says(pattern: str, path: str):
    if "?" not in pattern + path:  # normal forms of queries are tested above
        path = path.replace("//", "/").replace("*", "a")
        expected = fits_by_definition(pattern, path)
        assert one(pattern, path) is expected


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("", set()),
        ("noindex", {"noindex"}),
        ("NoIndex, nofollow", {"noindex", "nofollow"}),
        ("none", {"noindex", "nofollow"}),
        ("otherbot: noindex, nofollow", set()),
        ("otherbot: noindex, , nofollow", {"nofollow"}),
        ("honeyguide: nofollow, otherbot: noindex", {"nofollow"}),
        ("unavailable_after: Wed, 25 Jun 2025 15:00:00 GMT, nofollow", {"nofollow"}),
        ("max-snippet: 20, noindex", {"noindex"}),
    ],
)
def test_header_directives_are_read_for_this_crawler(header: str, found: set[str]):
    assert robots_directives({"x-robots-tag": header} if header else {}) == found
