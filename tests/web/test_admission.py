"""What a crawl must not ask for, no redirect leads it to."""

import asyncio

import pytest

from honeyguide.contracts import Link, Response
from honeyguide.urls.patterns import DENIED, OUTSIDE, listed
from honeyguide.web.admission import ANOTHER_HOST, Admitted, few_hosts
from honeyguide.web.politeness import Politeness
from honeyguide.web.redirects import Redirects
from tests.web.servers import Server, fetcher, page, redirect

ELSEWHERE = {"/": redirect("http://other.test/secret"), "/secret": page(b"secret")}


def asked(refusals, answers=ELSEWHERE, urls=("http://site.test/",)):
    """What came of URLs one after another, and what the server was asked for."""

    async def run() -> tuple[list[Response], list[str]]:
        async with Server(answers) as server:
            http = fetcher(server, "site.test", "other.test", "third.test")
            web = Redirects(Admitted(http, refusals))
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
    (response,), lines = asked([listed(allow, deny)])
    assert response.failure == failure
    assert ("other.test /secret" in lines) == (not failure)


@pytest.mark.parametrize(
    "location", ["http://u@other.test/secret", "http://other.test./secret", "//OTHER.test/secret"]
)
def test_no_spelling_of_an_address_gets_round_a_list(location):
    (response,), lines = asked([listed((), ("other.test",))], {"/": redirect(location)})
    assert response.failure == DENIED
    assert lines == ["site.test /"]


@pytest.mark.parametrize("host", ["a.test", "127.0.0.1", "2001:db8::1", "[2001:db8::1]"])
def test_hosts_that_were_asked_before_count_among_the_few_whatever_their_form(host):
    refusal = few_hosts(1)
    Admitted(None, [refusal]).met(host)
    assert refusal("http://other.test/") == ANOTHER_HOST


def test_a_crawl_of_few_hosts_asks_no_others_whatever_redirects_say():
    urls = ("ftp://x.test/", "http://site.test/", "http://third.test/x", "http://site.test/x")
    found, lines = asked([few_hosts(2)], {**ELSEWHERE, "/x": page(b"x")}, urls)
    assert [response.failure for response in found] == ["scheme", "", ANOTHER_HOST, ""]
    assert not any(line.startswith("third.test") for line in lines)


class Clock:
    """A fetcher that notes when it was asked, by a clock that only sleeping moves."""

    def __init__(self, monkeypatch) -> None:
        self.now, self.asked = 0.0, []
        monkeypatch.setattr("honeyguide.web.admission.asyncio.sleep", self.sleep)

    async def sleep(self, seconds):
        self.now += seconds

    async def fetch(self, link, terms=None):
        self.asked.append(self.now)
        return Response(link, link.url, 200)

    async def close(self):
        pass


def test_requests_to_a_host_are_apart_however_it_is_come_to(monkeypatch):
    clock = Clock(monkeypatch)
    web = Admitted(clock, delay=2.0, clock=lambda: clock.now)
    for _ in range(3):
        asyncio.run(web.fetch(Link("http://site.test/")))
    assert clock.asked == [0.0, 2.0, 4.0]


def test_who_is_led_on_within_a_host_need_not_wait(monkeypatch):
    clock = Clock(monkeypatch)
    web = Admitted(clock, delay=2.0, clock=lambda: clock.now)

    async def led_on():
        for path in ("a", "b"):
            await web.fetch(Link(f"http://site.test/{path}"))

    asyncio.run(led_on())
    asyncio.run(led_on())
    assert clock.asked == [0.0, 0.0, 2.0, 2.0]


def test_a_host_that_rests_for_long_is_not_waited_for(monkeypatch):
    clock = Clock(monkeypatch)
    web = Admitted(clock, clock=lambda: clock.now)
    web.rest("site.test", 3600.0)
    response = asyncio.run(web.fetch(Link("http://site.test/")))
    assert (response.failure, response.headers) == ("resting", {"retry-after": "3600"})
    clock.now = 3590.0
    assert asyncio.run(web.fetch(Link("http://site.test/"))).failure == ""
    assert clock.asked == [3600.0]


def test_the_longest_rest_that_a_slow_host_gets_is_waited_for(monkeypatch):
    clock, slow = Clock(monkeypatch), Response(Link("http://site.test/"), "http://site.test/", 200)
    web = Admitted(clock, clock=lambda: clock.now)
    web.rest("site.test", Politeness().rest("site.test", slow, 99.0, 0.0, crawl_delay=999.0))
    assert asyncio.run(web.fetch(Link("http://site.test/"))).failure == ""
    assert clock.asked == [60.0]


def test_a_shorter_rest_does_not_end_a_longer_one(monkeypatch):
    clock = Clock(monkeypatch)
    web = Admitted(clock, clock=lambda: clock.now)
    web.rest("site.test", 3600.0)
    web.rest("site.test", 1.0)
    assert asyncio.run(web.fetch(Link("http://site.test/"))).failure == "resting"


def test_hosts_at_rest_are_remembered_within_bounds(monkeypatch):
    monkeypatch.setattr("honeyguide.web.admission._CAPACITY", 10)
    web = Admitted(Clock(monkeypatch), clock=lambda: 0.0)
    for number in range(100):
        web.rest(f"h{number}", 1.0 + number)
        assert len(web._until) <= 10
    assert {1.0 + number for number in range(95, 100)} <= set(web._until.values())
