"""RFC 9309, sections 2.1, 2.2 and 2.3.1.5: what a robots.txt file says, case by case.

The cases are written for this suite, from the text of the RFC. A line of a table is
"rules; path; yes or no", where the rules are those of the group for this crawler.
"""

import pytest

from honeyguide.web.http import user_agent
from honeyguide.web.robots_txt import RobotsTxt

AGENT = "honeyguide/9.9 (+https://example.org/bot)"


def allows(body: str | bytes, path: str, agent: str = AGENT) -> bool:
    raw = body if isinstance(body, bytes) else body.encode()
    return RobotsTxt(raw, agent).decide(f"http://example.org{path}").allowed


def table(text: str) -> list:
    """Cases of "first; second; yes or no" lines."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    cases = [[piece.strip() for piece in line.split(";")] for line in lines]
    return [
        pytest.param(first, second, answer == "yes", id=line)
        for (first, second, answer), line in zip(cases, lines, strict=True)
    ]


def group(rules: str) -> str:
    """A file with one group for everyone; rules are parted by commas."""
    lines = (rule.strip().replace(" ", ": ", 1) for rule in rules.split(",") if rule.strip())
    return "\n".join(["User-agent: *", *lines])


# --------------------------------------------------------------------------- 2.1, 2.2.1

MEANT = "User-agent: {}\nDisallow: /\n"


@pytest.mark.parametrize(
    "name",
    ["honeyguide", "Honeyguide", "HONEYGUIDE", "honeyGuide", "HoneyGuide", "hONEYGUIDE"],
)
def test_2_2_1_a_product_token_is_found_whatever_the_case_of_its_letters(name):
    assert not allows(MEANT.format(name), "/a")
    assert not allows(MEANT.format("honeyguide"), "/a", f"{name}/1.0")


@pytest.mark.parametrize(
    "name",
    ["honey", "guide", "honeyguid", "honeyguides", "honeyguide-images", "honeyguide_news",
     "xhoneyguide", "-honeyguide", "bot", "googlebot", "Mozilla", "h", ""],
)  # fmt: skip
def test_2_2_1_a_group_for_another_product_token_is_not_for_this_crawler(name):
    assert allows(MEANT.format(name), "/a")


@pytest.mark.parametrize("rest", ["/1.0", "/2", " (+https://example.org)", " bot", "*", "/*"])
def test_2_2_1_what_follows_a_product_token_does_not_count(rest):
    assert not allows(MEANT.format("honeyguide" + rest), "/a")
    assert not allows(MEANT.format("honeyguide"), "/a", "honeyguide" + rest)


@pytest.mark.parametrize(
    "agent", ["foo-bot", "foo_bot", "FooBot", "Foo-Bot_x", "a", "-", "_", "foo-bot/1.0 (x)"]
)
def test_2_2_1_letters_underscores_and_hyphens_make_a_product_token(agent):
    token = agent.partition("/")[0]
    assert not allows(MEANT.format(token), "/a", agent)
    assert allows(MEANT.format(token + "x"), "/a", agent)


def test_2_2_1_the_product_token_is_part_of_what_the_crawler_calls_itself():
    assert user_agent("https://example.org/bot").startswith("honeyguide/")


@pytest.mark.parametrize("contact", ["https://example.org/bot", "me@example.org"])
def test_2_2_1_the_crawler_says_where_to_learn_what_it_is_for(contact):
    assert f"(+{contact})" in user_agent(contact)


MERGED = {
    "twice": ["honeyguide /a", "honeyguide /b"],
    "in another case": ["honeyguide /a", "HoneyGuide /b"],
    "with another's group between": ["honeyguide /a", "other /c", "honeyguide /b"],
    "with everyone's group between": ["honeyguide /a", "* /c", "honeyguide /b"],
    "after everyone's": ["* /c", "honeyguide /a", "honeyguide /b"],
    "with a version": ["honeyguide/1 /a", "honeyguide/2 /b"],
    "three times": ["honeyguide /a", "honeyguide /x", "honeyguide /b"],
}


def groups(*said: str, between: str = "\n") -> str:
    pairs = (each.rsplit(" ", 1) for each in said)
    return between.join(f"User-agent: {name}\nDisallow: {path}\n" for name, path in pairs)


@pytest.mark.parametrize("between", ["\n", "", "# a comment\n", "\n\n\n"], ids=repr)
@pytest.mark.parametrize("said", MERGED.values(), ids=MERGED)
def test_2_2_1_all_groups_of_a_product_token_are_one(said, between):
    text = groups(*said, between=between)
    assert [allows(text, path) for path in ("/a", "/b", "/c", "/d")] == [False, False, True, True]


@pytest.mark.parametrize(
    ("names", "is_meant"),
    [
        (["a", "honeyguide"], True), (["honeyguide", "a"], True), (["a", "b", "honeyguide"], True),
        (["*", "a"], True), (["a", "*"], True), (["a", "b", "c"], False),
        (["honeyguide", "honeyguide"], True), (["*", "honeyguide"], True),
    ],
)  # fmt: skip
def test_2_1_a_group_may_name_several_crawlers(names, is_meant):
    text = "".join(f"User-agent: {name}\n" for name in names) + "Disallow: /a\nAllow: /a/b\n"
    assert [allows(text, path) for path in ("/a", "/a/b", "/c")] == [not is_meant, True, True]


def test_2_1_rules_end_a_list_of_crawlers():
    text = "User-agent: honeyguide\nDisallow: /a\nUser-agent: other\nDisallow: /b\n"
    assert [allows(text, path) for path in ("/a", "/b")] == [False, True]


@pytest.mark.parametrize(
    "own", ["Disallow:", "Allow: /", "Disallow: /own", "", "Crawl-delay: 1"], ids=repr
)
@pytest.mark.parametrize("order", ["first", "last"])
def test_2_2_1_a_group_of_its_own_takes_the_place_of_everyones(own, order):
    mine, all_ = f"User-agent: honeyguide\n{own}\n", "User-agent: *\nDisallow: /all\n"
    text = f"{mine}\n{all_}" if order == "first" else f"{all_}\n{mine}"
    # without a rule between them, two names are one list of crawlers (the grammar of 2.2)
    is_one_list = order == "first" and own in ("", "Crawl-delay: 1")
    assert allows(text, "/all") is not is_one_list
    assert allows(text, "/own") is (own != "Disallow: /own")


@pytest.mark.parametrize(
    "text", [MEANT.format("*"), groups("other /b", "* /"), groups("* /", "other /b")], ids=repr
)
def test_2_2_1_everyones_group_is_for_whoever_is_not_named(text):
    assert not allows(text, "/a")


@pytest.mark.parametrize(
    "text",
    ["", "\n", "# nothing\n", MEANT.format("other"), groups("other /", "another /"), "Sitemap: x",
     "User-agent: honeyguide", "User-agent: *", "Crawl-delay: 3", "hello", "<html></html>"],
    ids=repr,
)  # fmt: skip
def test_2_2_1_without_a_group_that_fits_no_rule_holds(text):
    assert allows(text, "/")
    assert allows(text, "/a")


# --------------------------------------------------------------------------- 2.2.2


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    table("""
    disallow /a; /a; no
    disallow /a; /ab; no
    disallow /a; /a/b; no
    disallow /a; /a.html; no
    disallow /a; /a?b; no
    disallow /a; /; yes
    disallow /a; /b; yes
    disallow /a; /b/a; yes
    disallow /a; /ba; yes
    disallow /a/; /a; yes
    disallow /a/; /a/; no
    disallow /a/; /a/b; no
    disallow /a/; /ab; yes
    disallow /; /; no
    disallow /; /any/thing?at=all; no
    disallow /a/b/c; /a/b; yes
    disallow /a/b/c; /a/b/c/d; no
    disallow /a.html; /a.html; no
    disallow /a.html; /axhtml; yes
    disallow /a?b=1; /a?b=1; no
    disallow /a?b=1; /a?b=12; no
    disallow /a?b=1; /a?b=2; yes
    disallow /a?b=1; /a; yes
    disallow /a?; /a?; no
    disallow /a?; /a; yes
    disallow /a//b; /a//b; no
    disallow /a//b; /a/b; yes
    disallow /a=b; /a=b; no
    disallow /~me; /~me/x; no
    disallow /a:b; /a:b; no
    disallow /a@b; /a@b; no
    disallow /a+b; /a+b; no
    disallow /a&b; /a&b; no
    disallow /(a); /(a); no
    disallow /a.b+c(d)[e]; /aXb+c(d)[e]; yes
    disallow /.; /.well-known/x; no
    disallow /a b; /a%20b; no
    """),
)
def test_2_2_2_a_rule_fits_paths_that_begin_with_it(rules, path, expected):
    assert allows(group(rules), path) is expected


@pytest.mark.parametrize(
    ("rule", "path", "expected"),
    table("""
    disallow /a; /A; yes
    disallow /A; /a; yes
    disallow /A; /A; no
    disallow /Private; /private; yes
    disallow /x/Y; /x/y; yes
    disallow /?Q=1; /?q=1; yes
    disallow /*.GIF$; /a.gif; yes
    """),
)
def test_2_2_2_paths_are_compared_with_regard_to_case(rule, path, expected):
    assert allows(group(rule), path) is expected


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    table("""
    allow /a, disallow /a/b; /a; yes
    allow /a, disallow /a/b; /a/b; no
    allow /a, disallow /a/b; /a/c; yes
    disallow /a, allow /a/b; /a/b; yes
    disallow /a, allow /a/b; /a/c; no
    disallow /a, allow /a/b, disallow /a/b/c; /a/b/c; no
    disallow /a, allow /a/b, disallow /a/b/c; /a/b/d; yes
    disallow /a, allow /a/b, disallow /a/b/c, allow /a/b/c/d; /a/b/c/d; yes
    disallow /, allow /a; /a; yes
    disallow /, allow /a; /b; no
    disallow /, allow /$; /; yes
    disallow /, allow /$; /a; no
    allow /, disallow /a; /a; no
    allow /, disallow /a; /b; yes
    disallow /*.html, allow /a; /a.html; no
    disallow /*.html, allow /abcdefg; /abcdefg.html; yes
    disallow /a, allow /*; /a; yes
    disallow /ab, allow /*; /ab; no
    disallow /a*b, allow /a; /axb; no
    disallow /a, allow /a$; /a; yes
    disallow /a, allow /a$; /ab; no
    disallow /fish, allow /fish/salmon; /fish/salmon.html; yes
    disallow /fish, allow /fish/salmon; /fish/trout; no
    allow /p, disallow /; /page; yes
    allow /page, disallow /*.htm; /page.htm; no
    allow /page, disallow /*.ht; /page.htm; yes
    disallow /%61%62%63, allow /ab; /abc; no
    disallow /ab, allow /%61%62%63; /abc; yes
    """),
)
@pytest.mark.parametrize("turned", [False, True], ids=["as listed", "turned round"])
def test_2_2_2_the_longest_rule_that_fits_decides_in_any_order(rules, path, expected, turned):
    listed = rules.split(",")
    assert allows(group(",".join(listed[::-1] if turned else listed)), path) is expected


@pytest.mark.parametrize("turned", [False, True], ids=["disallow first", "allow first"])
@pytest.mark.parametrize(
    ("rule", "path"),
    [("/a", "/a"), ("/", "/x"), ("/a*", "/ab"), ("/a$", "/a"), ("/%61", "/a"), ("/a?b", "/a?b")],
)
def test_2_2_2_allow_decides_between_two_rules_that_are_equal(rule, path, turned):
    lines = [f"disallow {rule}", f"allow {rule}"]
    assert allows(group(",".join(lines[::-1] if turned else lines)), path)


@pytest.mark.parametrize("count", [2, 3, 100])
def test_2_2_2_a_rule_written_twice_is_one_rule(count):
    text = group(",".join(["disallow /a"] * count + ["allow /a/b"] * count))
    assert [allows(text, path) for path in ("/a", "/a/b", "/c")] == [False, True, True]


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        ("disallow /a", "/b"), ("disallow /a, allow /a/b", "/c"), ("disallow", "/a"),
        ("allow /a", "/b"), ("disallow /a$", "/ab"), ("", "/a"),
    ],
)  # fmt: skip
def test_2_2_2_what_no_rule_fits_is_allowed(rules, path):
    assert allows(group(rules), path)


@pytest.mark.parametrize("empty", ["Disallow:", "Disallow: ", "Disallow:\t", "Disallow: # none"])
def test_2_2_2_an_empty_rule_forbids_nothing(empty):
    assert allows(f"User-agent: *\n{empty}\n", "/a")
    assert not allows(f"User-agent: *\n{empty}\nDisallow: /a\n", "/a")


@pytest.mark.parametrize("empty", ["Allow:", "Allow: ", "Allow: # all"])
def test_2_2_2_an_empty_allow_allows_nothing_more(empty):
    assert not allows(f"User-agent: *\n{empty}\nDisallow: /\n", "/a")


@pytest.mark.parametrize("rule", ["/", "/robots.txt", "*", "/robots", "/*.txt$", "/robots.txt$"])
def test_2_2_2_robots_txt_itself_is_always_allowed(rule):
    assert allows(group(f"disallow {rule}"), "/robots.txt")


@pytest.mark.parametrize(
    ("rule", "path", "expected"),
    table("""
    /é; /%C3%A9; no
    /%C3%A9; /é; no
    /%c3%a9; /%C3%A9; no
    /%C3%A9; /%c3%a9; no
    /é; /é; no
    /é; /e; yes
    /é; /%C3%A8; yes
    /日本; /%E6%97%A5%E6%9C%AC/x; no
    /%E6%97%A5; /日本; no
    /😀; /%F0%9F%98%80; no
    /%61; /a; no
    /a; /%61; no
    /%41; /A; no
    /%41; /a; yes
    /%7E; /~; no
    /~; /%7e; no
    /%2D; /-; no
    /%2d; /-; no
    /%5F; /_; no
    /a%2Eb; /a.b; no
    /%30; /0; no
    /%7A%39; /z9; no
    /a%2Fb; /a/b; yes
    /a/b; /a%2Fb; yes
    /a%2Fb; /a%2fb; no
    /a%2fb; /a%2Fb; no
    /%25; /%25; no
    /a%25b; /a%25b; no
    /a%2561; /aa; yes
    /%20; /%20; no
    /a%3Fb; /a?b; yes
    /a?b; /a%3Fb; yes
    /a%3Fb; /a%3fb; no
    /%00; /%00; no
    /%FF; /%ff; no
    /a?q=%C3%A9; /a?q=é; no
    /a?q=é; /a?q=%C3%A9; no
    /a?u=http://b; /a?u=http%3A%2F%2Fb; no
    /a?u=http%3A%2F%2Fb; /a?u=http://b; no
    /a?u=%41; /a?u=A; no
    /a%zz; /a%zz; no
    """),
)
def test_2_2_2_an_octet_is_the_same_however_it_is_encoded(rule, path, expected):
    assert allows(f"User-agent: *\nDisallow: {rule}\n", path) is expected


@pytest.mark.parametrize(
    "text",
    ["Disallow: /\n", "Disallow: /\nUser-agent: *\n", "Allow: /x\nDisallow: /\n",
     "Disallow: /\nUser-agent: *\nDisallow: /b", "# x\nDisallow: /\n\nUser-agent: other\n"],
    ids=repr,
)  # fmt: skip
def test_2_2_2_rules_before_any_crawler_is_named_are_ignored(text):
    assert allows(text, "/a")


def test_2_2_2_a_rule_that_is_not_utf_8_fits_its_own_octets():
    assert not allows(b"User-agent: *\nDisallow: /caf\xe9\n", "/caf%E9")
    assert allows(b"User-agent: *\nDisallow: /caf\xe9\n", "/caf%C3%A9")


# --------------------------------------------------------------------------- 2.2.3


@pytest.mark.parametrize(
    "line",
    ["Disallow: /a # why", "Disallow: /a# why", "Disallow: /a #", "Disallow: /a\t# why",
     "# before\nDisallow: /a", "Disallow: /a\n# after", "#Disallow: /b\nDisallow: /a",
     "Disallow: /a # Allow: /a", "   # indented\nDisallow: /a"],
    ids=repr,
)  # fmt: skip
def test_2_2_3_a_number_sign_begins_a_comment(line):
    text = f"User-agent: * # all\n{line}\n"
    assert [allows(text, path) for path in ("/a", "/b")] == [False, True]


@pytest.mark.parametrize(
    ("rule", "path", "expected"),
    table("""
    /a$; /a; no
    /a$; /ab; yes
    /a$; /a/; yes
    /a$; /a?b; yes
    /a?b$; /a?b; no
    /a?b$; /a?bc; yes
    /$; /; no
    /$; /a; yes
    /$; /?; yes
    /*$; /any; no
    *$; /any; no
    /*.gif$; /a.gif; no
    /*.gif$; /a.gif.gif; no
    /*.gif$; /a.gifs; yes
    /*.gif$; /a.gif?x; yes
    /a$b; /a$b; no
    /a$b; /a; yes
    /a$b; /a$bc; no
    /a$$; /a$; no
    /a$$; /a; yes
    """),
)
def test_2_2_3_a_dollar_sign_at_the_end_is_the_end_of_the_path(rule, path, expected):
    assert allows(f"User-agent: *\nDisallow: {rule}\n", path) is expected


@pytest.mark.parametrize(
    ("rule", "path", "expected"),
    table("""
    *; /; no
    *; /a; no
    /*; /a; no
    /a*; /a; no
    /a*; /abc; no
    /a*c; /ac; no
    /a*c; /abc; no
    /a*c; /abbbcd; no
    /a*c; /ab; yes
    /a*b*c; /axbyc; no
    /a*b*c; /abc; no
    /a*b*c; /acb; yes
    /a**c; /abc; no
    /a***; /a; no
    /*/b; /a/b; no
    /*/b; /a/x/b; no
    /*/b; /b; yes
    */b; /b; no
    /*.php; /a.php; no
    /*.php; /a.php?x; no
    /*.php; /a.ph; yes
    /*?; /a?b; no
    /*?; /a; yes
    /*?*x=; /a?y=1&x=2; no
    /*?*x=; /a?y=1; yes
    /a/*/c; /a/b/c; no
    /a/*/c; /a//c; no
    /a/*/c; /a/c; yes
    *.pdf$; /x/y.pdf; no
    *.pdf$; /x/y.pdf/; yes
    /*aab$; /aaab; no
    /*ab*ab$; /abab; no
    /*ab*ab$; /ab; yes
    /*abc*bc$; /abc; yes
    """),
)
def test_2_2_3_an_asterisk_is_any_number_of_characters(rule, path, expected):
    assert allows(f"User-agent: *\nDisallow: {rule}\n", path) is expected


@pytest.mark.parametrize(
    ("rule", "path", "expected"),
    table("""
    /a%2Ab; /a*b; no
    /a%2ab; /a*b; no
    /a%2Ab; /a%2Ab; no
    /a%2Ab; /axb; yes
    /a%24; /a$; no
    /a%24; /a%24b; no
    /a%24; /a; yes
    /a%23; /a%23b; no
    /a%23; /a; yes
    """),
)
def test_2_2_3_special_characters_that_are_encoded_stand_for_themselves(rule, path, expected):
    assert allows(f"User-agent: *\nDisallow: {rule}\n", path) is expected


# --------------------------------------------------------------------------- 2.2.4

OTHERS = ["Sitemap: https://example.org/s.xml", "Crawl-delay: 5", "Host: example.org",
          "Clean-param: ref /", "Noindex: /x", "Request-rate: 1/5", "unknown: x", "unknown",
          "Visit-time: 0600-0845", ":", "a: b: c"]  # fmt: skip


@pytest.mark.parametrize("other", OTHERS)
def test_2_2_4_other_records_end_no_group(other):
    text = f"User-agent: honeyguide\nDisallow: /a\n{other}\nDisallow: /b\n"
    assert [allows(text, path) for path in ("/a", "/b", "/c")] == [False, False, True]


@pytest.mark.parametrize("other", OTHERS)
def test_2_2_4_other_records_part_no_list_of_crawlers(other):
    text = f"User-agent: honeyguide\n{other}\nUser-agent: other\nDisallow: /a\n"
    assert [allows(text, path) for path in ("/a", "/b")] == [False, True]


@pytest.mark.parametrize("other", OTHERS)
def test_2_2_4_other_records_before_all_groups_change_nothing(other):
    text = f"{other}\nUser-agent: honeyguide\nDisallow: /a\n"
    assert [allows(text, path) for path in ("/a", "/b")] == [False, True]


@pytest.mark.parametrize("place", ["before", "within", "after"])
def test_2_2_4_sitemaps_are_read_wherever_they_stand(place):
    sitemap = "Sitemap: https://example.org/s.xml\n"
    text = {
        "before": f"{sitemap}User-agent: *\nDisallow: /a\n",
        "within": f"User-agent: other\n{sitemap}Disallow: /a\n",
        "after": f"User-agent: *\nDisallow: /a\n\n{sitemap}",
    }[place]
    assert RobotsTxt(text.encode(), AGENT).sitemaps == ("https://example.org/s.xml",)


# --------------------------------------------------------------------------- 2.2, 2.3.1.5


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=repr)
@pytest.mark.parametrize("last", ["", "end"], ids=["last line unended", "last line ended"])
@pytest.mark.parametrize("blank", [0, 1, 3])
def test_2_2_lines_end_in_each_of_three_ways(end, last, blank):
    lines = ["User-agent: honeyguide", "Disallow: /a", *[""] * blank, "Allow: /a/b"]
    text = end.join(lines) + (end if last else "")
    assert [allows(text, path) for path in ("/a", "/a/b", "/b")] == [False, True, True]


@pytest.mark.parametrize(
    "line",
    ["Disallow:/a", "Disallow: /a", "Disallow:   /a", "Disallow :/a", "Disallow : /a",
     "Disallow:\t/a", " Disallow: /a", "\tDisallow: /a", "Disallow: /a ", "Disallow: /a\t ",
     "disallow: /a", "DISALLOW: /a", "DisAllow: /a"],
    ids=repr,
)  # fmt: skip
def test_2_2_white_space_and_the_case_of_names_do_not_count(line):
    assert [allows(f"User-agent: *\n{line}\n", path) for path in ("/a", "/b")] == [False, True]


@pytest.mark.parametrize("name", ["User-agent", "user-agent", "USER-AGENT", "User-Agent"])
@pytest.mark.parametrize("colon", [":", ": ", " : ", ":\t"], ids=repr)
def test_2_2_a_crawler_is_named_in_any_spelling_of_the_line(name, colon):
    assert not allows(f"{name}{colon}honeyguide\nDisallow: /a\n", "/a")


def test_2_2_a_byte_order_mark_before_the_first_line_is_no_part_of_it():
    assert not allows(b"\xef\xbb\xbfUser-agent: *\nDisallow: /a\n", "/a")


BAD = [b"\x00\x01\x02", b"\xfd\xfc\xfb", b"<html><body>", b"Disallow", b"Disallow /x /y",
       b"::::", b"User-agent", b"\xc3\x28: \xa0", b"=====", b"Allow Disallow: ", b"a" * 5000,
       b"%", b"{\"json\": [1]}"]  # fmt: skip


@pytest.mark.parametrize("bad", BAD, ids=repr)
@pytest.mark.parametrize("place", range(3))
def test_2_3_1_5_lines_that_cannot_be_read_hide_no_others(bad, place):
    lines = [b"User-agent: honeyguide", b"Disallow: /a", b"Allow: /a/b"]
    text = b"\n".join([*lines[:place], bad, *lines[place:]])
    assert [allows(text, path) for path in ("/a", "/a/b", "/b")] == [False, True, True]
