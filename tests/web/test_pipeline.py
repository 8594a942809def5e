"""Every request and every hop of a redirect passes all stages of the pipeline."""

import asyncio
from itertools import pairwise

import pytest

from honeyguide.contracts import Link, OfHost, Response
from honeyguide.urls.patterns import ANOTHER_HOST, DENIED, OUTSIDE, Scope
from honeyguide.web import pipeline as module
from honeyguide.web.archive import ArchiveFetcher
from honeyguide.web.host_schedule import HostSchedule
from honeyguide.web.http import Redirects
from honeyguide.web.pipeline import Admission, FetchSettings, Pipeline, fetch_pipeline
from tests.web.servers import Server, fetcher, page, redirect

ELSEWHERE = {"/": redirect("http://other.test/secret"), "/secret": page(b"secret")}


def asked(scope, answers=ELSEWHERE, urls=("http://site.test/",)):
    """What came of URLs one after another, and what the server was asked for."""

    async def run() -> tuple[list[Response], list[str]]:
        async with Server(answers) as server:
            http = fetcher(server, "site.test", "other.test", "third.test")
            web = Redirects(Admission(http, scope, HostSchedule(delay=0.0)))
            found = [await web.fetch(Link(url)) for url in urls]
            await web.close()
            return found, server.asked

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("allow", "deny", "failure"),
    [
        ((), ("other.test",), DENIED),
        ((), ("http://other.test/sec",), DENIED),
        (("site.test",), (), OUTSIDE),
        ((), ("third.test",), ""),
    ],
)
def test_lists_hold_for_what_a_redirect_leads_to(allow, deny, failure):
    (response,), lines = asked(Scope(allow, deny))
    assert response.failure == failure
    assert ("other.test /secret" in lines) == (not failure)


@pytest.mark.parametrize(
    "location", ["http://u@other.test/secret", "http://other.test./secret", "//OTHER.test/secret"]
)
def test_no_spelling_of_an_address_gets_round_a_list(location):
    (response,), lines = asked(Scope(deny=["other.test"]), {"/": redirect(location)})
    assert response.failure == DENIED
    assert lines == ["site.test /"]


@pytest.mark.parametrize("host", ["a.test", "127.0.0.1", "2001:db8::1", "[2001:db8::1]"])
def test_hosts_that_were_asked_before_count_among_the_few_whatever_their_form(host):
    scope = Scope(most_hosts=1)
    Admission(None, scope, HostSchedule()).recall([OfHost(host, "failures", 0)])
    assert scope.refusal("http://other.test/") == ANOTHER_HOST


def test_a_crawl_of_few_hosts_asks_no_others_whatever_redirects_say():
    urls = ("ftp://x.test/", "http://site.test/", "http://third.test/x", "http://site.test/x")
    found, lines = asked(Scope(most_hosts=2), {**ELSEWHERE, "/x": page(b"x")}, urls)
    assert [response.failure for response in found] == ["scheme", "", ANOTHER_HOST, ""]
    assert not any(line.startswith("third.test") for line in lines)


def test_a_host_that_must_wait_for_long_is_not_asked():
    schedule = HostSchedule(clock=lambda: 0.0)
    schedule.hold("site.test", 3599.5)

    async def run() -> tuple[Response, list[str]]:
        async with Server(ELSEWHERE) as server:
            web = Admission(fetcher(server), Scope(), schedule)
            response = await web.fetch(Link("http://site.test/"))
            await web.close()
            return response, server.asked

    response, lines = asyncio.run(run())
    assert (response.failure, response.headers, lines) == (
        "resting",
        {"retry-after": "3600"},
        [],
    )


def test_every_request_passes_the_stages_in_the_order_that_the_module_lists():
    pipeline = fetch_pipeline(FetchSettings())
    listed = [line.split()[0] for line in module.__doc__.splitlines() if line.startswith("    ")]
    assert [type(stage).__name__ for stage in pipeline.stages] == listed
    for outer, inner in pairwise(pipeline.stages):
        assert outer._fetcher is inner


def live(server: Server, **settings: object) -> Pipeline:
    where = {"allow_private": True, "resolve": f"*=127.0.0.1:{server.port}", "delay": 0.0}
    return fetch_pipeline(FetchSettings(**where | settings))


def test_robots_txt_is_obeyed_on_every_hop_and_every_request_is_observed():
    answers = {
        "/robots.txt": page(b"User-agent: *\nDisallow: /secret", content_type="text/plain"),
        **ELSEWHERE,
    }

    async def run() -> tuple[Response, list[str], list[str]]:
        async with Server(answers) as server:
            pipeline, seen = live(server), []
            pipeline.observe(lambda request: seen.append(request.url))
            response = await pipeline.fetch(Link("http://site.test/"))
            await pipeline.close()
            return response, server.asked, seen

    response, asked, seen = asyncio.run(run())
    assert response.failure == "robots"
    assert asked == ["site.test /robots.txt", "site.test /", "other.test /robots.txt"]
    assert seen == [f"http://{line.replace(' ', '')}" for line in asked]


def test_what_a_visit_teaches_of_hosts_is_known_to_the_pipeline_of_a_resumed_crawl():
    answers = {
        "/robots.txt": page(b"User-agent: *\nCrawl-delay: 3", content_type="text/plain"),
        "/": page(b"", "503 Service Unavailable", retry_after="3600"),
    }
    link = Link("http://site.test/")

    async def run() -> tuple[float | None, list[str], str, list[str]]:
        async with Server(answers) as server:
            pipeline, again = live(server), live(server)
            response = await pipeline.fetch(link)
            wait, learnt = pipeline.after_visit(link, response, 0.1)
            again.recall(learnt)
            failure = (await again.fetch(Link("http://site.test/other"))).failure
            await pipeline.close()
            await again.close()
            return wait, [row.what for row in learnt], failure, server.asked

    wait, learnt, failure, asked = asyncio.run(run())
    assert wait == 3600.0
    assert sorted(learnt) == ["failures", "rests until", "robots.txt http://site.test"]
    assert failure == "resting"
    assert asked == ["site.test /robots.txt", "site.test /"]


def test_a_pipeline_without_a_schedule_spares_nobody_and_learns_nothing():
    link = Link("http://site.test/")
    pipeline = Pipeline([Redirects(ArchiveFetcher([]))])
    assert not pipeline.live
    assert pipeline.after_visit(link, Response(link, link.url, 503), 1.0) == (None, ())
