"""When the crawler's own network is away, nothing is taken for dead and nothing is lost."""

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest

from honeyguide.contracts import Link, OfHost, Response
from honeyguide.web import connections, network
from honeyguide.web.fetch_limits import Terms
from honeyguide.web.host_schedule import FAILURES, HostSchedule
from honeyguide.web.network import OutageRetry, ProbeSites
from tests.web.servers import Server, fetcher, page

HOSTS = [f"h{i}.test" for i in range(20)]
DEAD = [f"dead{i}.test" for i in range(20)]
REFUSED = "connection refused"


class Waiting(HostSchedule):
    """A schedule whose waits are given, and which notes the probes."""

    def __init__(self, waits: Callable[[str], float], probed: list[str]) -> None:
        super().__init__()
        self.waits, self.probed = waits, probed

    def wait(self, host: str) -> float:
        return self.waits(host)

    def probe(self, origin: str) -> None:
        self.probed.append(origin)


class Web:
    """Hosts on a server that can be shut down, dead hosts, and a clock that jumps."""

    def __init__(self, wait: Callable[[str], float] = lambda host: 0.0, **settings):
        self.server = Server({"/": page(b"home")})
        self.now, self.pauses, self.asked, self.settings = 0.0, [], [], settings
        self.wait, self.doubted = wait, asyncio.Event()
        self.then = {}  # by number of pauses: what happens after them

    async def __aenter__(self):
        await self.server.__aenter__()
        self.nobody = socket.socket()  # bound, so that nobody else listens there
        self.nobody.bind(("127.0.0.1", 0))
        dead = dict.fromkeys(DEAD, self.nobody.getsockname())
        self.http = fetcher(
            self.server, **{"hosts": self.server.hosts(*HOSTS) | dead, **self.settings}
        )
        self.sites = ProbeSites(self.http, Waiting(self.wait, self.asked), self.sleep)
        self.fetcher = OutageRetry(self.http, self.sites, clock=lambda: self.now, sleep=self.sleep)
        return self

    async def __aexit__(self, *_):
        await self.fetcher.close()
        await self.server.__aexit__()
        self.nobody.close()

    async def sleep(self, seconds):
        self.now += seconds
        self.doubted.set()
        await asyncio.sleep(0.001)
        if seconds >= 1.0:  # less is no pause, but the time in which others may answer
            self.pauses.append(seconds)
            if happens := self.then.pop(len(self.pauses), None):
                await happens()

    async def ask(self, *hosts):
        """What becomes of the pages of hosts, asked for at once."""
        found = await asyncio.gather(*(self.fetcher.fetch(Link(f"http://{h}/")) for h in hosts))
        return [each.failure or each.body.decode() for each in found]

    def robots_asked(self):
        return [line.split()[0] for line in self.server.asked if line.endswith("robots.txt")]

    async def answer_in_doubt(self, writer):
        await self.doubted.wait()
        writer.write(page(b"late"))
        await writer.drain()

    async def go(self):
        await self.server.__aexit__()

    def back_after(self, pauses):
        self.then[pauses] = self.server.__aenter__


def test_what_fails_in_an_outage_is_repeated_when_it_is_over():
    async def run():
        async with Web() as web:
            await web.ask(*HOSTS[:3])
            await web.go()
            web.back_after(3)
            return await web.ask(*HOSTS)

    assert asyncio.run(run()) == ["home"] * 20


def test_a_crawl_of_one_visit_at_a_time_loses_nothing_either():
    async def run():
        async with Web() as web:
            await web.ask(*HOSTS[:3])
            await web.go()
            web.back_after(2)
            return [await web.ask(host) for host in HOSTS[3:12]]

    assert asyncio.run(run()) == [["home"]] * 9


def test_the_network_is_asked_for_after_growing_pauses():
    async def run():
        async with Web() as web:
            await web.ask(*HOSTS[:3])
            await web.go()
            web.back_after(9)
            await web.ask(HOSTS[4])
            return web.pauses

    assert asyncio.run(run()) == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


def test_whoever_waits_for_the_network_is_told_that_and_why(monkeypatch, caplog):
    monkeypatch.setattr(network, "_SILENCE", 0.0)

    async def run():
        async with Web() as web:
            await web.ask(*HOSTS[:3])
            await web.go()
            web.back_after(1)
            await web.ask(*HOSTS)

    asyncio.run(run())
    checking, waiting, back = (record.getMessage() for record in caplog.records)
    assert checking.startswith("no host has answered for a while (h")
    assert checking.endswith("checking whether this machine's network is down")
    assert waiting.startswith("no host answers any more (h")
    assert f": {REFUSED}" in waiting and " more): this machine's network seems" in waiting
    assert back.startswith("the network is back after")


def test_dead_hosts_fail_as_ever_while_the_network_is_there():
    async def run():
        async with Web() as web:
            await web.ask(*HOSTS[:3])
            return await web.ask(*DEAD), web.pauses, web.robots_asked()

    failures, pauses, asked = asyncio.run(run())
    assert failures == [REFUSED] * 20
    assert pauses == []
    assert len(asked) == 1


def test_one_answer_clears_the_network_and_nobody_is_asked_on_top():
    async def run():
        async with Web() as web:
            await web.ask(*HOSTS[:3])
            web.server.answers["/"] = web.answer_in_doubt
            return await web.ask(HOSTS[3], *DEAD[:3]), web.robots_asked()

    assert asyncio.run(run()) == (["late", REFUSED, REFUSED, REFUSED], [])


def test_dead_hosts_one_after_another_cost_a_question_a_minute_and_no_more():
    async def run():
        async with Web() as web:
            await web.ask(*HOSTS[:3])
            first = [await web.ask(host) for host in DEAD[:5]]
            once = len(web.robots_asked())
            web.now += 61.0
            await web.ask(DEAD[5])
            return first, once, len(web.robots_asked()), web.pauses

    assert asyncio.run(run()) == ([[REFUSED]] * 5, 1, 2, [])


def test_many_failures_in_a_row_are_doubted_at_once_all_the_same():
    async def run():
        async with Web() as web:
            await web.ask(*HOSTS[:3])
            await web.ask(DEAD[0])  # asks, and finds the network well
            await web.go()
            web.back_after(1)
            return [(await web.ask(host))[0] for host in HOSTS[3:12]]

    assert asyncio.run(run()) == [REFUSED] * 7 + ["home"] * 2


def test_where_nobody_ever_answered_nothing_is_waited_for():
    async def run():
        async with Web() as web:
            return await web.ask(*DEAD), web.pauses, web.server.asked

    assert asyncio.run(run()) == ([REFUSED] * 20, [], [])


def test_one_server_that_goes_away_is_no_outage():
    async def run():
        async with Web() as web:
            await web.ask(*HOSTS[:2])
            await web.go()
            return await web.ask(*HOSTS[:2]), web.pauses, web.asked

    assert asyncio.run(run()) == ([REFUSED] * 2, [], [])


async def begun_in_an_outage(web):
    """Fetches that wait for the network."""
    await web.ask(*HOSTS[:3])
    await web.go()
    waits = asyncio.Event()

    async def tell():
        waits.set()

    web.then[2] = tell
    asking = asyncio.create_task(web.ask(*HOSTS))
    await waits.wait()
    return asking


def test_whoever_waits_for_the_network_can_be_stopped():
    async def run():
        async with Web() as web:
            asking = await begun_in_an_outage(web)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await web.fetcher.close()
            return asking.cancelled(), asyncio.all_tasks() - {asyncio.current_task()}

    cancelled, left = asyncio.run(run())
    assert cancelled
    assert not left


def test_nobody_waits_for_a_network_that_was_closed():
    async def run():
        async with Web() as web:
            asking = await begun_in_an_outage(web)
            await web.fetcher.close()
            await asyncio.wait([asking], timeout=5.0)
            return asking.cancelled()

    assert asyncio.run(run())


def test_time_stands_still_for_whoever_measures_by_its_clock():
    async def run():
        async with Web() as web:
            await web.ask(*HOSTS[:3])
            before = web.fetcher.clock()
            await web.go()
            web.back_after(6)
            found = await web.fetcher.fetch(Link("http://h4.test/"))
            return web.now, web.fetcher.clock() - before, found.seconds

    now, measured, took = asyncio.run(run())
    assert now == 63.0
    assert measured == 0.0
    assert took < 10.0  # by the real clock, in which nothing was waited for


def test_sites_are_probed_when_they_may_be_asked_and_the_delay_follows():
    rests = {"h0.test": 30.0, "h1.test": 0.0, "h2.test": 3600.0}

    async def run():
        async with Web(lambda host: rests.get(host, 0.0)) as web:
            await web.ask(*HOSTS[:3])
            await web.ask(DEAD[0])
            rests["h1.test"] = 20.0
            web.now += 61.0
            await web.ask(DEAD[1])
            return web.robots_asked(), web.asked, web.pauses

    asked, told, pauses = asyncio.run(run())
    assert asked == ["h1.test", "h0.test"]
    assert told == ["http://h1.test", "http://h0.test"]
    assert pauses == [30.0]


def test_an_overloaded_site_is_not_probed():
    async def run():
        async with Web() as web:
            web.server.answers["/"] = page(b"", "503 Service Unavailable")
            await web.ask(*HOSTS)
            return web.sites.hosts()

    assert asyncio.run(run()) == set()


def test_a_probed_site_that_is_overloaded_is_probed_no_more():
    async def run():
        async with Web() as web:
            web.server.answers["/robots.txt"] = page(b"", "429 Too Many Requests")
            await web.ask(*HOSTS[:3])
            await web.ask(DEAD[0])
            return web.robots_asked(), web.sites.hosts()

    assert asyncio.run(run()) == (["h0.test"], {"h1.test", "h2.test"})


def test_few_sites_are_remembered():
    async def run():
        async with Web() as web:
            for number in range(1000):
                web.sites.note(f"http://{number}.test", 200)
            return len(web.sites.hosts())

    assert asyncio.run(run()) == 64


def test_where_all_known_sites_are_gone_for_good_another_host_ends_the_waiting():
    async def run():
        async with Server({"/": page(b"elsewhere")}) as other, Web() as web:
            web.http._resolver._hosts |= other.hosts("new.test")
            await web.ask(*HOSTS[:3])
            await web.go()
            later = []

            async def come():
                later.append(asyncio.create_task(web.ask("new.test")))

            web.then[1] = come
            first = await web.ask(*HOSTS[3:8])
            return first, await later[0]

    assert asyncio.run(run()) == ([REFUSED] * 5, ["elsewhere"])


class Names:
    """A resolver of names that can be out of order."""

    def __init__(self, monkeypatch):
        self.works = True
        monkeypatch.setattr(connections, "_ask_system", self.ask)

    def ask(self, host):
        if not self.works or host.startswith("dead"):
            raise socket.gaierror(socket.EAI_AGAIN, host)
        return ["127.0.0.1"]


def test_while_names_cannot_be_looked_up_those_known_already_prove_nothing(monkeypatch):
    names = Names(monkeypatch)

    async def run():
        async with Web(hosts={}) as web:
            at = f":{web.server.port}"
            await web.ask(*(host + at for host in HOSTS[:3]))
            names.works = False

            async def repair():
                names.works = True

            web.then[2] = repair
            web.server.answers["/"] = web.answer_in_doubt
            asked = [HOSTS[0] + at, *(host + at for host in HOSTS[3:8])]
            return await web.ask(*asked), web.pauses

    found, pauses = asyncio.run(run())
    assert found == ["late"] * 6
    assert pauses == [1.0, 2.0]


def test_a_name_that_is_missing_fails_as_ever(monkeypatch):
    Names(monkeypatch)

    async def run():
        async with Web(hosts={}) as web:
            at = f":{web.server.port}"
            await web.ask(*(host + at for host in HOSTS[:3]))
            return await web.ask(HOSTS[0] + at, *DEAD[:12]), web.pauses

    found, pauses = asyncio.run(run())
    assert found == ["home"] + ["dns"] * 12
    assert pauses == []


class Other:
    """A fetcher whose every answer is made up."""

    names = 0

    def __init__(self, answer: Callable[[str], Awaitable[tuple[int, str]]]) -> None:
        self.answer = answer

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        status, failure = await self.answer(link.url)
        return Response(link, link.url, status, failure=failure)

    def forget(self, host: str) -> None:
        pass

    async def close(self) -> None:
        pass


def with_sites(other, **settings):
    outage = OutageRetry(other, ProbeSites(other, HostSchedule()), **settings)
    outage.recall([OfHost(host, FAILURES, 0) for host in HOSTS])
    return outage


def test_what_began_in_an_outage_and_fails_after_its_end_is_repeated():
    is_over, fails, asked = asyncio.Event(), asyncio.Event(), []

    async def answer(url):
        if url == "http://slow.test/":
            asked.append(url)
            await fails.wait()
            return (0, "timeout") if len(asked) == 1 else (200, "")
        return (200, "") if is_over.is_set() else (0, "unreachable")

    async def sleep(seconds):
        await asyncio.sleep(0)
        if seconds >= 1.0:
            is_over.set()

    async def run():
        outage = with_sites(Other(answer), sleep=sleep)
        slow = asyncio.create_task(outage.fetch(Link("http://slow.test/")))
        other = await outage.fetch(Link("http://other.test/"))
        fails.set()
        statuses = other.status, (await slow).status
        await outage.close()
        return statuses

    assert asyncio.run(run()) == (200, 200)


def test_a_bug_is_raised_and_not_waited_for():
    async def answer(url):
        if url.endswith("robots.txt"):
            raise RuntimeError("a bug")
        return 0, "timeout"

    with pytest.raises(RuntimeError, match="a bug"):
        asyncio.run(with_sites(Other(answer)).fetch(Link("http://other.test/")))


@pytest.mark.parametrize("failure", ["robots", "private address", "too large", "tls", "busy"])
def test_what_says_nothing_of_the_network_is_handed_out_at_once(failure: str):
    async def answer(url):
        return 0, failure

    async def run():
        outage = with_sites(Other(answer))
        return [(await outage.fetch(Link(f"http://{h}/"))).failure for h in HOSTS]

    assert asyncio.run(run()) == [failure] * 20
