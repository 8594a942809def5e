r"""The WHATWG URL Standard: one address, one spelling, as browsers have it.

The cases are written for this suite, from the rules of the standard. A line of a table is
"address  ->  its spelling", or "->  none" for what no browser would fetch over HTTP. "\t" and
their like are written as escapes.
"""

import pytest

from honeyguide import urls

BASE = "http://example.org/a/b/c?q#f"


def table(text: str) -> list:
    cases = []
    for line in text.strip().splitlines():
        address, _, spelling = line.strip().partition("  ->  ")
        known = None if spelling.strip() == "none" else spelling.strip()
        plain = address.strip("|").encode("latin-1", "backslashreplace").decode("unicode_escape")
        cases.append(pytest.param(plain, known, id=line.strip()))
    return cases


def same(address: str, spelling: str | None, base: str = "") -> bool:
    found = urls.canonical(address, base)
    return found == spelling and (found is None or urls.canonical(found) == found)


@pytest.mark.parametrize(
    ("address", "spelling"),
    table(r"""
    http://example.org/  ->  http://example.org/
    HTTP://example.org/  ->  http://example.org/
    HtTpS://example.org/  ->  https://example.org/
    http:example.org  ->  http://example.org/
    http:/example.org  ->  http://example.org/
    http:///example.org  ->  http://example.org/
    http:////example.org/x  ->  http://example.org/x
    http:\\\\example.org\\x  ->  http://example.org/x
    http:/\\example.org  ->  http://example.org/
    ftp://example.org/  ->  none
    file:///etc/passwd  ->  none
    mailto:a@example.org  ->  none
    javascript:alert(1)  ->  none
    data:text/html,x  ->  none
    about:blank  ->  none
    blob:http://example.org/x  ->  none
    ws://example.org/  ->  none
    httpx://example.org/  ->  none
    http//example.org/  ->  none
    example.org  ->  none
    //example.org/  ->  none
    /a  ->  none
    """),
)
def test_schemes_are_read_in_any_case_and_only_http_is_followed(address, spelling):
    assert same(address, spelling)


@pytest.mark.parametrize(
    ("address", "spelling"),
    table(r"""
    | http://example.org/ |  ->  http://example.org/
    \thttp://example.org/\n  ->  http://example.org/
    \x00http://example.org/\x1f  ->  http://example.org/
    ht\ntp://example.org/  ->  http://example.org/
    http://exam\tple.org/  ->  http://example.org/
    http://example.org/a\r\nb  ->  http://example.org/ab
    http://example.org/?a\nb  ->  http://example.org/?ab
    http://example.org/a b  ->  http://example.org/a%20b
    """),
)
def test_tabs_and_line_ends_are_taken_out_and_white_space_around(address, spelling):
    assert same(address, spelling)


@pytest.mark.parametrize(
    ("address", "spelling"),
    table(r"""
    http://EXAMPLE.org/  ->  http://example.org/
    http://ex%61mple.org/  ->  http://example.org/
    http://example%2Eorg/  ->  http://example.org/
    http://b\xfccher.example/  ->  http://xn--bcher-kva.example/
    http://B\xdcCHER.example/  ->  http://xn--bcher-kva.example/
    http://b%C3%BCcher.example/  ->  http://xn--bcher-kva.example/
    http://xn--bcher-kva.example/  ->  http://xn--bcher-kva.example/
    http://\u65e5\u672c.example/  ->  http://xn--wgv71a.example/
    http://\uff45xample.org/  ->  http://example.org/
    http://example\u3002org/  ->  http://example.org/
    http://a_b.example/  ->  http://a_b.example/
    http://a-.example/  ->  http://a-.example/
    http://exa mple.org/  ->  none
    http://exa%20mple.org/  ->  none
    http://exa<mple.org/  ->  none
    http://exa>mple.org/  ->  none
    http://exa^mple.org/  ->  none
    http://exa|mple.org/  ->  none
    http://exa%mple.org/  ->  none
    http://exa%00mple.org/  ->  none
    http://[example.org]/  ->  none
    http://exa]mple.org/  ->  none
    http://  ->  none
    http://?a  ->  none
    http://#a  ->  none
    http://:80/  ->  none
    http://@/  ->  none
    """),
)
def test_host_names_are_decoded_and_in_ascii(address, spelling):
    assert same(address, spelling)


@pytest.mark.xfail(strict=True, reason="ada-url takes any host name in ASCII as it is")
@pytest.mark.parametrize(
    "address", ["http://xn--a/", "http://xn--/", "http://xn--zn7c.com/", "http://xn--a.example/"]
)
def test_host_names_that_are_no_punycode_are_refused(address):
    assert same(address, None)


@pytest.mark.parametrize(
    ("address", "spelling"),
    table(r"""
    http://127.0.0.1/  ->  http://127.0.0.1/
    http://127.1/  ->  http://127.0.0.1/
    http://127.0.1/  ->  http://127.0.0.1/
    http://2130706433/  ->  http://127.0.0.1/
    http://0x7f.1/  ->  http://127.0.0.1/
    http://0x7F000001/  ->  http://127.0.0.1/
    http://0177.0.0.1/  ->  http://127.0.0.1/
    http://017700000001/  ->  http://127.0.0.1/
    http://0/  ->  http://0.0.0.0/
    http://0x/  ->  http://0.0.0.0/
    http://1.2.3/  ->  http://1.2.0.3/
    http://1.256/  ->  http://1.0.1.0/
    http://4294967295/  ->  http://255.255.255.255/
    http://4294967296/  ->  none
    http://256.1.1.1/  ->  none
    http://1.2.3.256/  ->  none
    http://1.2.3.4.5/  ->  none
    http://0x1.2.3.09/  ->  none
    http://1..2/  ->  none
    http://a.1/  ->  none
    http://1.2.3.4a/  ->  http://1.2.3.4a/
    http://1.2.3.a/  ->  http://1.2.3.a/
    """),
)
def test_ipv4_addresses_have_four_numbers_however_they_are_written(address, spelling):
    assert same(address, spelling)


@pytest.mark.parametrize(
    ("address", "spelling"),
    table(r"""
    http://[::1]/  ->  http://[::1]/
    http://[0:0:0:0:0:0:0:1]/  ->  http://[::1]/
    http://[2001:DB8::A]/  ->  http://[2001:db8::a]/
    http://[2001:0db8:0000:0000:0001:0000:0000:0001]/  ->  http://[2001:db8::1:0:0:1]/
    http://[1:0:0:2:0:0:0:3]/  ->  http://[1:0:0:2::3]/
    http://[1:0:2:3:4:5:6:7]/  ->  http://[1:0:2:3:4:5:6:7]/
    http://[::]/  ->  http://[::]/
    http://[::127.0.0.1]/  ->  http://[::7f00:1]/
    http://[::ffff:1.2.3.4]/  ->  http://[::ffff:102:304]/
    http://[1::]:8080/  ->  http://[1::]:8080/
    http://[::1/  ->  none
    http://::1/  ->  none
    http://[::1::]/  ->  none
    http://[1:2:3]/  ->  none
    http://[1:2:3:4:5:6:7:8:9]/  ->  none
    http://[12345::]/  ->  none
    http://[g::]/  ->  none
    http://[::1.2.3]/  ->  none
    http://[::1.2.3.256]/  ->  none
    http://[fe80::1%25eth0]/  ->  none
    http://[]/  ->  none
    """),
)
def test_ipv6_addresses_are_as_short_as_they_can_be(address, spelling):
    assert same(address, spelling)


@pytest.mark.parametrize(
    ("address", "spelling"),
    table(r"""
    http://example.org:80/  ->  http://example.org/
    https://example.org:443/  ->  https://example.org/
    http://example.org:443/  ->  http://example.org:443/
    https://example.org:80/  ->  https://example.org:80/
    http://example.org:/  ->  http://example.org/
    http://example.org:0080/  ->  http://example.org/
    http://example.org:08080/  ->  http://example.org:8080/
    http://example.org:0/  ->  http://example.org:0/
    http://example.org:65535/  ->  http://example.org:65535/
    http://example.org:65536/  ->  none
    http://example.org:8a/  ->  none
    http://example.org:-1/  ->  none
    http://example.org: 80/  ->  none
    http://example.org:80\\x  ->  http://example.org/x
    """),
)
def test_ports_are_numbers_and_the_usual_one_is_left_out(address, spelling):
    assert same(address, spelling)


@pytest.mark.parametrize(
    ("address", "spelling"),
    table(r"""
    http://example.org  ->  http://example.org/
    http://example.org/.  ->  http://example.org/
    http://example.org/./a  ->  http://example.org/a
    http://example.org/a/.  ->  http://example.org/a/
    http://example.org/..  ->  http://example.org/
    http://example.org/../a  ->  http://example.org/a
    http://example.org/a/..  ->  http://example.org/
    http://example.org/a/../b  ->  http://example.org/b
    http://example.org/a/b/../../c  ->  http://example.org/c
    http://example.org/a/%2e%2e/b  ->  http://example.org/b
    http://example.org/a/%2E./b  ->  http://example.org/b
    http://example.org/a/.%2e/b  ->  http://example.org/b
    http://example.org/%2e/b  ->  http://example.org/b
    http://example.org/a/...  ->  http://example.org/a/...
    http://example.org/a/..b  ->  http://example.org/a/..b
    http://example.org/a//b  ->  http://example.org/a//b
    http://example.org//a  ->  http://example.org//a
    http://example.org/a//../b  ->  http://example.org/a/b
    http://example.org\\a\\b  ->  http://example.org/a/b
    http://example.org/a\\..\\b  ->  http://example.org/b
    http://example.org/a/?..  ->  http://example.org/a/?..
    """),
)
def test_dot_segments_are_resolved_in_every_spelling(address, spelling):
    assert same(address, spelling)


@pytest.mark.parametrize(
    ("address", "spelling"),
    table(r"""
    http://example.org/\xfc  ->  http://example.org/%C3%BC
    http://example.org/\u65e5  ->  http://example.org/%E6%97%A5
    http://example.org/"<>  ->  http://example.org/%22%3C%3E
    http://example.org/`{}  ->  http://example.org/%60%7B%7D
    http://example.org/^  ->  http://example.org/%5E
    http://example.org/|x  ->  http://example.org/|x
    http://example.org/[]'()*+,;=:@!$&~_-.  ->  http://example.org/[]'()*+,;=:@!$&~_-.
    http://example.org/%41  ->  http://example.org/%41
    http://example.org/%c3%bc  ->  http://example.org/%c3%bc
    http://example.org/%zz%  ->  http://example.org/%zz%
    http://example.org/\x7f  ->  http://example.org/%7F
    http://example.org/a\x01b  ->  http://example.org/a%01b
    http://example.org/\ufffd  ->  http://example.org/%EF%BF%BD
    http://example.org/\ud83d\ude00x  ->  http://example.org/%F0%9F%98%80x
    """),
)
def test_paths_are_percent_encoded_where_they_must_be_and_only_there(address, spelling):
    address = address.encode("utf-16", "surrogatepass").decode("utf-16")
    assert same(address, spelling)


@pytest.mark.parametrize(
    ("address", "spelling"),
    table(r"""
    http://example.org/?a=b&c  ->  http://example.org/?a=b&c
    http://example.org?a  ->  http://example.org/?a
    http://example.org/?\xfc  ->  http://example.org/?%C3%BC
    http://example.org/?"<>'  ->  http://example.org/?%22%3C%3E%27
    http://example.org/?a b  ->  http://example.org/?a%20b
    http://example.org/?`{}|^  ->  http://example.org/?`{}|^
    http://example.org/?a/../b  ->  http://example.org/?a/../b
    http://example.org/?a\\b  ->  http://example.org/?a\b
    http://example.org/?a?b  ->  http://example.org/?a?b
    http://example.org/?%41  ->  http://example.org/?%41
    http://example.org/?a+b  ->  http://example.org/?a+b
    """),
)
def test_queries_are_percent_encoded_by_their_own_rule(address, spelling):
    assert same(address, spelling)


@pytest.mark.parametrize(
    ("address", "spelling"),
    table(r"""
    |  ->  http://example.org/a/b/c?q
    d  ->  http://example.org/a/b/d
    d/e  ->  http://example.org/a/b/d/e
    ./d  ->  http://example.org/a/b/d
    ../d  ->  http://example.org/a/d
    ../../d  ->  http://example.org/d
    ../../../d  ->  http://example.org/d
    ..  ->  http://example.org/a/
    .  ->  http://example.org/a/b/
    /d  ->  http://example.org/d
    \\d  ->  http://example.org/d
    //b.example/d  ->  http://b.example/d
    \\\\b.example\\d  ->  http://b.example/d
    ///b.example/d  ->  http://b.example/d
    ?p  ->  http://example.org/a/b/c?p
    #g  ->  http://example.org/a/b/c?q
    d?p#g  ->  http://example.org/a/b/d?p
    http:d  ->  http://example.org/a/b/d
    http:/d  ->  http://example.org/d
    https:d  ->  https://d/
    https://b.example  ->  https://b.example/
    mailto:d  ->  none
    d:e  ->  none
    :d  ->  http://example.org/a/b/:d
    1:d  ->  http://example.org/a/b/1:d
    ;d  ->  http://example.org/a/b/;d
    %2e%2e/d  ->  http://example.org/a/d
    //  ->  none
    //[::1  ->  none
    """),
)
def test_relative_addresses_are_joined_with_the_page_they_are_on(address, spelling):
    assert same(address, spelling, BASE)


@pytest.mark.parametrize(
    ("address", "spelling"),
    table(r"""
    http://example.org/#a  ->  http://example.org/
    http://example.org/a#  ->  http://example.org/a
    http://example.org/?a#b?c  ->  http://example.org/?a
    http://example.org#/a  ->  http://example.org/
    http://example.org/a##b  ->  http://example.org/a
    """),
)
def test_fragments_are_left_out_since_servers_never_see_them(address, spelling):
    assert same(address, spelling)


@pytest.mark.parametrize(
    ("address", "spelling"),
    table(r"""
    http://me@example.org/  ->  http://example.org/
    http://me:secret@example.org/x  ->  http://example.org/x
    http://a@b@example.org/  ->  http://example.org/
    http://me:@example.org:8080/  ->  http://example.org:8080/
    http://:secret@example.org/  ->  http://example.org/
    http://example.org@evil.example/  ->  http://evil.example/
    http://example.org./  ->  http://example.org/
    http://example.org.:8080/a  ->  http://example.org:8080/a
    """),
)
def test_beyond_the_standard_credentials_and_a_last_dot_are_left_out(address, spelling):
    assert same(address, spelling)


@pytest.mark.parametrize(
    ("address", "spelling"),
    table(r"""
    http://example.org/?utm_source=a&b=1  ->  http://example.org/?b=1
    http://example.org/?b=1&gclid=2  ->  http://example.org/?b=1
    http://example.org/?fbclid=2  ->  http://example.org/
    http://example.org/a;jsessionid=0F?b=1  ->  http://example.org/a?b=1
    http://example.org/?PHPSESSID=123&b=1  ->  http://example.org/?b=1
    http://example.org/?b=2&a=1  ->  http://example.org/?b=2&a=1
    http://example.org/?a=1&&b=2  ->  http://example.org/?a=1&b=2
    http://example.org/?  ->  http://example.org/
    http://example.org/?sid=1  ->  http://example.org/?sid=1
    """),
)
def test_beyond_the_standard_marks_of_visits_and_campaigns_are_left_out(address, spelling):
    assert same(address, spelling)
