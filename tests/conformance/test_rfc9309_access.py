"""RFC 9309, sections 2.3, 2.4 and 2.5: how robots.txt is fetched, kept and bounded.

A real server on loopback answers; the crawler's clock is handed in.
"""

import asyncio

import pytest

from honeyguide.contracts import Link
from honeyguide.web.http import Redirects
from honeyguide.web.robots import Robots
from tests.web.servers import Server, fetcher, page, redirect
from tests.web.test_robots import RULES, Site, responses, text

HOUR = 3600.0
CLOSED = text(b"User-agent: *\nDisallow: /")


def asked_after(answers, *moments):
    """At each moment: what came of /private, and how often robots.txt was asked for by then."""

    async def run():
        seen = []
        async with Site(answers[0]) as site:
            for number, site.now in enumerate(moments):
                site.server.answers |= answers[min(number, len(answers) - 1)]
                failure = (await site.ask("/private")).failure
                seen.append((failure, site.robots_asked()))
        return seen

    return asyncio.run(run())


# --------------------------------------------------------------------------- 2.3


@pytest.mark.parametrize("path", ["/private", "/private/deep/down/x.html", "/private?robots.txt"])
def test_2_3_the_file_is_robots_txt_at_the_top_of_the_service(path):
    found, asked = responses({"/robots.txt": text(RULES)}, path)
    assert found == ["robots"]
    assert asked == ["site.test /robots.txt"]


@pytest.mark.parametrize("origin", ["http://a.test", "http://b.test", "http://a.test:8080"])
def test_2_3_every_service_has_a_file_of_its_own(origin):
    async def run():
        hosts = {}
        async with (
            Server({"/robots.txt": CLOSED}) as closed,
            Server({"/robots.txt": text(b""), "/": page()}) as open_,
        ):
            hosts = closed.hosts("closed.test") | open_.hosts("a.test", "b.test")
            robots = Robots(fetcher(open_, hosts=hosts), "honeyguide")
            found = [
                (await robots.fetch(Link(url))).failure
                for url in ("http://closed.test/", f"{origin}/", "http://closed.test/x")
            ]
            await robots.close()
            return found, open_.asked

    found, asked = asyncio.run(run())
    assert found == ["robots", "", "robots"]
    assert asked[0].endswith("/robots.txt")


@pytest.mark.parametrize(
    "kind", ["text/plain", "text/plain; charset=utf-8", "text/html", "application/octet-stream", ""]
)
def test_2_3_rules_are_read_whatever_the_media_type_is_called(kind):
    answer = (
        page(RULES, content_type=kind)
        if kind
        else page(RULES).replace(b"content-type: text/html\r\n", b"")
    )
    assert responses({"/robots.txt": answer}, "/private", "/")[0] == ["robots", "home"]


# --------------------------------------------------------------------------- 2.3.1


@pytest.mark.parametrize("status", ["200 OK", "201 Created", "203 Other", "206 Partial"])
def test_2_3_1_1_rules_that_were_fetched_are_followed(status):
    found, asked = responses({"/robots.txt": text(RULES, status)}, "/private", "/")
    assert found == ["robots", "home"]
    assert "site.test /private" not in asked


CODES = ["301 Moved", "302 Found", "303 Other", "307 Temporary", "308 Permanent"]


@pytest.mark.parametrize("status", CODES)
@pytest.mark.parametrize("hops", [1, 2, 3, 4, 5])
def test_2_3_1_2_five_redirects_are_followed(hops, status):
    answers = {f"/{n}": redirect(f"/{n + 1}", status) for n in range(1, hops)}
    answers |= {"/robots.txt": redirect("/1", status), f"/{hops}": text(RULES)}
    assert responses(answers, "/private", "/")[0] == ["robots", "home"]


@pytest.mark.parametrize("hops", [1, 3, 5])
def test_2_3_1_2_redirects_are_followed_across_hosts_for_the_host_that_was_asked(hops):
    async def run():
        names = [f"h{n}.test" for n in range(hops + 1)]
        hops_ = {f"/{n}": redirect(f"http://h{n + 1}.test/{n + 1}") for n in range(1, hops)}
        answers = {"/robots.txt": redirect("http://h1.test/1"), **hops_, f"/{hops}": text(RULES)}
        async with Server(answers | {"/": page(b"home"), "/private": page()}) as server:
            stack = Redirects(Robots(fetcher(server, *names), "honeyguide"))
            found = [
                (await stack.fetch(Link(f"http://h0.test{path}"))).failure
                for path in ("/private", "/")
            ]
            await stack.close()
            return found, server.asked

    found, asked = asyncio.run(run())
    assert found == ["robots", ""]
    assert asked == [
        "h0.test /robots.txt", *(f"h{n}.test /{n}" for n in range(1, hops + 1)), "h0.test /",
    ]  # fmt: skip


@pytest.mark.parametrize("hops", [6, 7, 12])
def test_2_3_1_2_after_more_redirects_there_is_no_file(hops):
    answers = {f"/{n}": redirect(f"/{n + 1}") for n in range(1, hops)}
    answers |= {"/robots.txt": redirect("/1"), f"/{hops}": CLOSED}
    assert responses(answers, "/private")[0] == ["secret"]


@pytest.mark.parametrize(
    "status", [400, 401, 402, 403, 404, 405, 406, 410, 414, 418, 421, 422, 431, 451, 499]
)
def test_2_3_1_3_a_file_that_is_unavailable_forbids_nothing(status):
    found, _ = responses({"/robots.txt": text(RULES, f"{status} No")}, "/private", "/")
    assert found == ["secret", "home"]


@pytest.mark.parametrize("status", [500, 501, 502, 503, 504, 505, 507, 511, 520, 599])
def test_2_3_1_4_a_file_that_is_unreachable_forbids_everything(status):
    found, asked = responses({"/robots.txt": text(b"", f"{status} Oh")}, "/", "/private")
    assert found == ["robots unreachable"] * 2
    assert asked == ["site.test /robots.txt"]


def reset(writer):
    writer.transport.abort()
    return asyncio.sleep(0)


async def nonsense(writer):
    writer.write(b"this is not HTTP\r\n\r\n")
    await writer.drain()


@pytest.mark.parametrize("answer", [reset, nonsense])
def test_2_3_1_4_no_answer_at_all_forbids_everything(answer):
    found, asked = responses({"/robots.txt": answer}, "/", "/private")
    assert "home" not in found
    assert "secret" not in found
    assert {line for line in asked if "robots" not in line} == set()


def test_2_3_1_4_known_rules_hold_for_as_long_as_the_file_is_unreachable():
    days = [0.0, *(24.5 * HOUR * day for day in range(1, 41, 8))]
    answers = [{"/robots.txt": text(RULES)}, {"/robots.txt": text(b"", "503 Oh")}]
    assert {failure for failure, _ in asked_after(answers, *days)} == {"robots"}


# --------------------------------------------------------------------------- 2.4


@pytest.mark.parametrize("hours", [0.01, 1, 12, 23, 23.9])
def test_2_4_a_file_is_asked_for_once_a_day(hours):
    answers = [{"/robots.txt": text(RULES)}, {"/robots.txt": text(b"")}]
    assert asked_after(answers, 0.0, hours * HOUR) == [("robots", 1), ("robots", 1)]


@pytest.mark.parametrize("hours", [24.01, 25, 48, 24 * 365])
def test_2_4_a_file_is_not_used_for_more_than_a_day(hours):
    answers = [{"/robots.txt": text(RULES)}, {"/robots.txt": text(b"")}]
    assert asked_after(answers, 0.0, hours * HOUR) == [("robots", 1), ("", 2)]


@pytest.mark.parametrize("hours", [1, 23.9])
def test_2_4_that_there_is_no_file_is_known_for_a_day(hours):
    answers = [{"/robots.txt": text(b"", "404 No")}, {"/robots.txt": text(RULES)}]
    assert asked_after(answers, 0.0, hours * HOUR, 25 * HOUR) == [("", 1), ("", 1), ("robots", 2)]


# --------------------------------------------------------------------------- 2.5


@pytest.mark.parametrize("kib", [1, 100, 400, 499, 500])
def test_2_5_rules_in_the_first_500_kib_hold(kib):
    rule = b"Disallow: /private\n"
    head = b"User-agent: *\n"
    padding = b"#" * (kib * 1024 - len(head) - len(rule) - 1) + b"\n"
    body = head + padding + rule
    assert len(body) == kib * 1024
    assert responses({"/robots.txt": text(body)}, "/private")[0] == ["robots"]


@pytest.mark.parametrize("mib", [1, 3])
def test_2_5_there_is_an_end_to_what_is_read(mib):
    body = b"User-agent: *\nAllow: /a\n" + b"#" * (mib * 1024 * 1024) + b"\nDisallow: /private\n"
    assert responses({"/robots.txt": text(body)}, "/private")[0] == ["secret"]
