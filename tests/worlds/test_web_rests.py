"""The host that answered is delayed for its answer, not the host that redirected there."""

import asyncio

import pytest

from honeyguide.contracts import Link, Response, Verdict
from honeyguide.registry import make
from honeyguide.web.host_schedule import HostSchedule, Limits
from honeyguide.web.pipeline import Pipeline
from honeyguide.worlds.web import WebWorld
from tests.web.servers import Server, page, redirect

ASKED = Link("http://asked.test/go")


def visits(*responses):
    """How long the asked host and others are left alone after each response."""
    waiting, left = iter(responses), []

    class Fetcher:
        async def fetch(self, link, terms=None):
            return next(waiting)

        async def close(self):
            pass

    class Noting(HostSchedule):
        def hold(self, host, seconds):
            if host != "asked.test":
                left.append((host, seconds))

    schedule = Noting(1.0, Limits(failures=3))
    schedule.set_crawl_delay("http://asked.test", 5.0)
    world = WebWorld(lambda page: Verdict(0.0, False), Pipeline([Fetcher()], schedule))

    async def run():
        return [(await world.visit(ASKED)).host_delay for _ in responses]

    return asyncio.run(run()), left


def reached(status=0, failure="", url="http://reached.test/", seconds=None, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(ASKED, url, status, named, b"<p>", failure, seconds)


def test_a_host_is_not_given_up_for_what_it_points_to():
    rests, left = visits(*[reached(failure="dns")] * 6)
    assert rests == [5.0] * 6  # its own Crawl-delay
    assert left[-1] == ("reached.test", 3600.0)


def test_the_host_that_asks_for_patience_is_the_one_that_gets_it():
    rests, left = visits(reached(429, retry_after="1800"))
    assert (rests, left) == ([5.0], [("reached.test", 1800.0)])


@pytest.mark.parametrize("url", ["http://reached.test/", "javascript:1", "http://asked.test:22/"])
@pytest.mark.parametrize("failure", ["robots", "private address", "scheme", "denied", "resting"])
def test_a_redirect_to_what_is_not_asked_for_is_still_an_answer(url, failure):
    rests, left = visits(reached(failure=failure, url=url))
    assert (rests, left) == ([5.0], [])


@pytest.mark.parametrize(("wait", "rest"), [("2", 5.0), ("40", 40.0), ("86400", 60.0)])
def test_a_redirect_to_a_host_at_rest_is_not_tried_again_at_once(wait, rest):
    rests, left = visits(reached(failure="resting", retry_after=wait))
    assert (rests, left) == ([rest], [])


def test_a_host_is_as_slow_as_its_own_answer_whatever_was_waited_for_before():
    rests, left = visits(reached(200, url=ASKED.url, seconds=10.0), reached(200, seconds=20.0))
    assert rests[0] == 20.0
    assert left == [("reached.test", 40.0)]


def test_a_link_that_is_not_asked_for_costs_no_rest():
    assert visits(reached(failure="robots", url=ASKED.url)) == ([0.0], [])


def test_no_redirect_leads_to_a_host_that_asked_for_patience():
    busy = page(b"", "429 Too Many Requests", retry_after="3600")
    answers = {"/busy": busy, "/go": redirect("http://b.test/page"), "/page": page()}

    async def run():
        async with Server(answers) as server:
            where = {"resolve": f"*=127.0.0.1:{server.port}", "allow_private": True, "delay": 0.0}
            world = make("world", "web", judge=lambda page: Verdict(0.0, False), **where)
            urls = ("http://b.test/busy", "http://a.test/go")
            visits = [await world.visit(Link(url)) for url in urls]
            await world.close()
            return [visit.failure for visit in visits], server.asked

    failures, asked = asyncio.run(run())
    assert failures == ["status 429", "resting"]
    assert "b.test /page" not in asked
