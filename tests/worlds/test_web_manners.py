"""The live web as a crawl meets it: every wish of a site is heard, every list holds."""

import asyncio

import pytest

from honeyguide.assemble import MOST_HOSTS, scope
from honeyguide.contracts import UNWANTED, Link, Verdict
from honeyguide.plan import Plan
from honeyguide.registry import make
from honeyguide.urls.patterns import DENIED, Scope
from honeyguide.web.pipeline import FetchSettings, fetch_pipeline
from tests.web.servers import Server, page, redirect

LEADS = b"<title>T</title><p>words <a href='/on'>on</a>"


def visit(answers, **settings):
    """What came of a visit to a site's first page, and what the site was asked for."""

    async def run():
        async with Server(answers) as server:
            where = {"resolve": f"*=127.0.0.1:{server.port}", "allow_private": True, "delay": 0.0}
            world = make("world", "web", judge=lambda page: Verdict(1.0, True), **where | settings)
            visit = await world.visit(Link("http://a.test/"))
            await world.close()
            return visit, server.asked

    return asyncio.run(run())


def rules(text):
    return page(text.encode(), content_type="text/plain")


@pytest.mark.parametrize(
    "answer",
    [page(LEADS, x_robots_tag="noindex"), page(b"<meta name=robots content=noindex>" + LEADS)],
)
def test_a_page_that_asks_not_to_be_indexed_is_followed_but_neither_judged_nor_kept(answer):
    came, _ = visit({"/": answer})
    assert came.verdict == UNWANTED
    assert (came.page.title, came.page.text, came.response.body) == ("", "", b"")
    assert [link.url for link in came.page.links] == ["http://a.test/on"]


@pytest.mark.parametrize(
    "answer",
    [page(LEADS, x_robots_tag="nofollow"), page(b"<meta name=robots content=nofollow>" + LEADS)],
)
def test_a_page_that_asks_not_to_be_followed_is_judged_without_its_links(answer):
    came, _ = visit({"/": answer})
    assert (came.verdict.relevant, came.page.links) == (True, ())
    assert "words" in came.page.text


def test_a_site_is_left_alone_for_the_delay_or_for_what_it_wishes():
    assert visit({"/": page()}, delay=30.0)[0].host_delay == 30.0
    slow = rules("User-agent: *\nCrawl-delay: 50")
    assert visit({"/": page(), "/robots.txt": slow}, delay=30.0)[0].host_delay == 50.0


def test_what_is_denied_is_asked_for_by_no_redirect():
    came, asked = visit({"/": redirect("http://b.test/")}, scope=Scope(deny=["b.test"]))
    assert came.failure == DENIED
    assert asked == ["a.test /robots.txt", "a.test /"]


def test_the_sitemaps_that_robots_txt_names_are_read_at_the_sites_pace(monkeypatch):
    real, slept = asyncio.sleep, []

    async def sleep(seconds):
        slept.append(seconds)
        await real(seconds / 10)

    monkeypatch.setattr("honeyguide.web.sitemaps.asyncio.sleep", sleep)
    named = rules("User-agent: *\nCrawl-delay: 0.5\nSitemap: http://a.test/s.txt")
    lines = rules("http://a.test/1\nhttp://b.test/2")
    _, asked = visit({"/": page(), "/robots.txt": named, "/s.txt": lines}, sitemaps=True)
    assert asked == ["a.test /robots.txt", "a.test /", "a.test /s.txt"]
    assert slept[0] == 0.5


def test_a_crawl_without_a_contact_asks_few_hosts_and_what_is_denied_never():
    said = {"topic": "rocks", "seeds": ("http://h0.test/",), "world": "web"}
    hosts = [f"http://h{number}.test/" for number in range(MOST_HOSTS + 1)]
    nameless = scope(Plan(**said, deny=("no.test",)))
    refused = [bool(nameless.refusal(url)) for url in hosts]
    assert refused == [False] * MOST_HOSTS + [True]
    named = scope(Plan(**said, deny=("no.test",), contact="https://a.example/bot"))
    assert [url for url in [*hosts, "http://no.test/"] if named.refusal(url)] == ["http://no.test/"]


@pytest.mark.parametrize(("resolve", "limit"), [("", 2), ("*=127.0.0.1:1", None)])
def test_an_address_is_limited_unless_hosts_are_said_to_be_there(resolve, limit):
    pipeline = fetch_pipeline(FetchSettings(resolve=resolve))
    assert pipeline.schedule._limits.per_address == limit


def test_a_redirect_keeps_the_delay_from_a_request_that_is_still_in_flight():
    async def run():
        begun, done = asyncio.Event(), asyncio.Event()

        async def slow(writer):
            begun.set()
            await done.wait()
            writer.write(page())

        answers = {"/slow": slow, "/go": redirect("http://b.test/on"), "/on": page()}
        async with Server(answers) as server:
            where = {"resolve": f"*=127.0.0.1:{server.port}", "allow_private": True}
            world = make("world", "web", judge=lambda page: Verdict(0, False), delay=99.0, **where)
            first = asyncio.create_task(world.visit(Link("http://b.test/slow")))
            await begun.wait()
            second = await world.visit(Link("http://a.test/go"))
            done.set()
            return (await first).failure, second.failure, await world.close()

    assert asyncio.run(run())[:2] == ("", "resting")
