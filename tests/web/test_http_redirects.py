"""A redirect that asks to wait (RFC 9110, 10.2.3) is not followed before."""

import asyncio
from itertools import pairwise

import pytest

from honeyguide.contracts import Link, Response, Verdict, Visit
from honeyguide.web.host_schedule import RESTS_UNTIL, HostSchedule, Limits, may_pass
from honeyguide.web.http import Redirects
from honeyguide.worlds.web import live_web
from tests.web.servers import Server, fetcher, page

TARGETS = ["/new", "http://other.test/new"]


def later(location: str, retry_after: str, status: str = "302 Found") -> bytes:
    return page(b"", status, location=location, retry_after=retry_after)


class Noting(HostSchedule):
    """A schedule that notes which hosts it holds, and for how long."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[tuple[str, float]] = []

    def hold(self, host: str, seconds: float) -> None:
        self.held.append((host, seconds))


def followed(answers: dict[str, bytes]) -> tuple[Response, Server, list[tuple[str, float]]]:
    """What /old leads to, what the server was asked, and which hosts are held meanwhile."""
    schedule = Noting()

    async def run() -> tuple[Response, Server]:
        async with Server({"/new": page(b"new"), **answers}) as server:
            http = fetcher(server, "site.test", "other.test")
            redirects = Redirects(http, schedule=schedule)
            response = await redirects.fetch(Link("http://site.test/old"))
            await redirects.close()
            return response, server

    return *asyncio.run(run()), schedule.held


@pytest.mark.parametrize("target", TARGETS)
def test_a_redirect_that_asks_to_wait_is_followed_when_that_time_is_over(target):
    response, server, left = followed({"/old": later(target, "1")})
    assert (response.status, response.body) == (200, b"new")
    [waited] = [after - before for before, after in pairwise(server.times)]
    assert waited >= 0.99
    assert left == [("site.test", 1.0)]  # whoever else comes to the host waits as well


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("wish", ["61", "99999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_redirect_that_asks_to_wait_for_long_is_not_followed_but_tried_again(target, wish):
    response, server, _ = followed({"/old": later(target, wish, "301 Moved")})
    assert (response.status, response.failure, response.link.url) == (
        301,
        "",
        "http://site.test/old",
    )
    assert may_pass(response)
    assert server.asked == ["site.test /old"]


@pytest.mark.parametrize("wish", ["", "soon", "0", "-5", "Mon, 01 Jan 2001 00:00:00 GMT"])
def test_a_wish_that_is_none_or_is_over_holds_up_no_redirect(wish):
    response, _, left = followed({"/old": later("/new", wish)})
    assert (response.body, left) == (b"new", [])


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
def test_a_host_rests_for_what_a_redirect_asks_for_within_the_bounds_of_other_answers(status):
    link, polite = (
        Link("http://a.test/"),
        HostSchedule(1.0, Limits(longest_retry_after=3600.0, failures=1)),
    )
    for wish, rest in (("120", 120.0), ("9" * 9, 3600.0), ("x", 1.0)):
        headers = {"retry-after": wish, "location": "/"}
        assert polite.after(link.url, Response(link, link.url, status, headers), 0.1) == rest
    assert polite.given_up() == []  # it answers


def test_nothing_is_asked_of_a_host_whose_robots_txt_redirects_later():
    async def run() -> tuple[Visit, list[str]]:
        answers = {"/robots.txt": later("/rules", "3600"), "/": page(b"home")}
        async with Server(answers) as server:
            visit = await visited(server, "http://site.test/")
            return visit, server.asked

    visit, asked = asyncio.run(run())
    assert asked == ["site.test /robots.txt"]
    assert visit.failure == "robots unreachable" and visit.again
    assert visit.host_delay is not None and 3590 < visit.host_delay <= 3600


def test_a_page_that_redirects_later_is_visited_again_and_its_host_is_left_alone_till_then():
    async def run() -> Visit:
        async with Server({"/old": later("/new", "3600"), "/new": page(b"new")}) as server:
            return await visited(server, "http://site.test/old")

    visit = asyncio.run(run())
    assert (visit.failure, visit.again, visit.host_delay) == ("status 302", True, 3600.0)
    assert RESTS_UNTIL in [learnt.what for learnt in visit.learnt]


async def visited(server: Server, url: str) -> Visit:
    world = live_web(
        lambda page: Verdict(0.0, False),
        delay=0.0,
        allow_private=True,
        resolve=f"*=127.0.0.1:{server.port}",
    )
    try:
        return await world.visit(Link(url))
    finally:
        await world.close()
