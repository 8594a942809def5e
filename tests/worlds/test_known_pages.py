"""A page of this crawl is known: a walk that returns to it sends no request."""

import asyncio

import pytest

from honeyguide.contracts import UNASKED, Link, Page, Response, Verdict, Visit
from honeyguide.worlds.known_pages import KnownPages

HOME = "http://site.example/"
LINKS = (Link(HOME + "a", "a place", "near a place", "html/body/a", source=HOME),)
GOOD = Verdict(1.0, True, ("is good",))


class Web:
    """A live world of one page under two URLs, one failing URL and one that is busy."""

    live = True
    body = b"x"
    pause = 0.0  # seconds

    def __init__(self):
        self.asked = []
        self.closed = False

    async def visit(self, link):
        self.asked.append(link.url)
        await asyncio.sleep(self.pause)
        response = Response(link, link.url, 200, body=self.body)
        if link.url.endswith("gone"):
            return Visit(link, None, Verdict(0.0, False), response, "status 404", 0.5)
        if link.url.endswith("busy"):
            return Visit(link, None, Verdict(0.0, False), response, "status 503", 0.5, again=True)
        page = Page(HOME, "Home \ud83d", "text é", LINKS)
        return Visit(link, page, GOOD, response, seconds=0.5, host_delay=1.0)

    async def close(self):
        self.closed = True


def visits(world, *urls):
    async def run():
        try:
            return [await world.visit(Link(url, depth=n)) for n, url in enumerate(urls)]
        finally:
            await world.close()

    return asyncio.run(run())


def test_a_page_is_requested_once_and_is_the_same_page_again():
    web = Web()
    first, again = visits(KnownPages(web), HOME, HOME)
    assert web.asked == [HOME]
    assert web.closed
    assert (again.page, again.verdict, again.failure) == (first.page, first.verdict, "")
    assert again.page.links == LINKS
    assert again.link.depth == 1
    assert (again.response, again.seconds, again.host_delay) == (None, 0.0, UNASKED)
    assert first.host_delay == 1.0


def test_the_page_that_a_redirect_led_to_is_known_too():
    web = Web()
    _, led_to, again = visits(KnownPages(web), HOME + "old", HOME, HOME + "old")
    assert web.asked == [HOME + "old"]
    assert led_to.page.url == again.page.url == HOME


def test_two_walkers_that_reach_a_page_at_once_share_its_request():
    web = Web()
    web.pause = 0.01

    async def run(world):
        both = await asyncio.gather(world.visit(Link(HOME)), world.visit(Link(HOME, depth=3)))
        await world.close()
        return both

    first, second = asyncio.run(run(KnownPages(web)))
    assert web.asked == [HOME]
    assert first.page == second.page
    assert second.link.depth == 3


@pytest.mark.parametrize(("name", "requests"), [("gone", 1), ("busy", 3)])
def test_a_lasting_failure_is_known_and_a_passing_one_is_tried_again(name, requests):
    web = Web()
    found = visits(KnownPages(web), *[HOME + name] * 3)
    assert len(web.asked) == requests
    assert len({visit.failure for visit in found}) == 1


def test_pages_of_earlier_runs_are_known():
    web, earlier = Web(), Web()
    first, again = visits(KnownPages(web, earlier), HOME, HOME)
    assert (web.asked, earlier.asked) == ([], [HOME])
    assert first.page == again.page
    assert (first.response, first.host_delay) == (None, UNASKED)


def test_what_an_earlier_run_has_not_stored_is_asked_for():
    web, earlier = Web(), Web()
    gone, busy = visits(KnownPages(web, earlier), HOME + "gone", HOME + "busy")
    assert web.asked == [HOME + "busy"]
    assert (gone.failure, busy.failure) == ("status 404", "status 503")
    assert earlier.closed
    web, earlier = Web(), Web()
    earlier.body = b""  # noindex: the body is not stored
    visits(KnownPages(web, earlier), HOME)
    assert web.asked == [HOME]
