"""Nothing that a server sends holds up the event loop, and with it all other visits."""

import asyncio
import gc
import threading
import time
from asyncio.events import Handle
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from honeyguide.contracts import Link, Visit, World
from honeyguide.plan import Plan
from tests.web.servers import Server, page, served
from tests.worlds.hostile import pages, responses, robots_files, sitemaps

LONGEST = 0.05  # seconds of processor time for one callback of the loop
TRIES = 5  # a busy machine has slow moments; what is slow by itself is slow each time
ABSENT = page(b"", "404 Not Found")


class Watchdog:
    """Measures the longest time that a single callback of the loop took."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._run = Handle._run
        self._thread = threading.get_ident()  # servers run in others

    def run(self, handle: Handle) -> None:
        before = time.thread_time()
        self._run(handle)
        if threading.get_ident() == self._thread:
            self.longest = max(self.longest, time.thread_time() - before)


@pytest.fixture
def watchdog(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watchdog]:
    watchdog = Watchdog()
    monkeypatch.setattr(Handle, "_run", lambda handle: watchdog.run(handle))  # noqa: PLW0108 it is a method
    gc.collect()
    gc.freeze()  # what the tests before have left is not for this one to look through
    yield watchdog
    gc.unfreeze()


def open_world(server: Server) -> World:
    plan = Plan(
        topic="geology",
        judge="keywords:geology",
        encoder="ngrams",
        agent="breadth_first",
        seeds=("http://a.test/",),
        world="web",
        resolve=f"*=127.0.0.1:{server.port}",
        allow_private=True,
        sitemaps=True,
        delay=0.0,
    )
    return plan.open().world


def slowest(
    watchdog: Watchdog,
    names: list[str],
    serve: Callable[[Server, str, str], str],  # what a name stands for, to a host: its path
) -> tuple[dict[str, float], dict[str, Visit]]:
    """Seconds of the longest callback while each was visited, and what came of it."""
    seconds: dict[str, float] = {}
    visits: dict[str, Visit] = {}

    async def visit(world: World, server: Server, name: str) -> float:
        host = f"h{len(server.asked)}.test"
        path = serve(server, name, host)
        watchdog.longest = 0.0
        visits[name] = await world.visit(Link(f"http://{host}{path}"))
        return watchdog.longest

    async def run(server: Server) -> None:
        world = open_world(server)
        serve(server, names[0], "first.test")
        await world.visit(Link("http://first.test/warm"))  # what happens once is not measured
        for name in names:
            for _ in range(TRIES):
                took = await visit(world, server, name)
                seconds[name] = min(took, seconds.get(name, took))
                if took < LONGEST:
                    break
        await world.close()

    with served({}) as server:
        asyncio.run(run(server))
    return seconds, visits


def check(seconds: dict[str, float]) -> None:
    slow = {name: f"{took * 1000:.0f} ms" for name, took in seconds.items() if took >= LONGEST}
    assert not slow


def test_no_page_holds_up_the_loop(watchdog: Watchdog):
    sent = pages()

    def serve(server: Server, name: str, host: str) -> str:
        server.answers = {"/": page(sent[name])}
        return "/"

    seconds, visits = slowest(watchdog, list(sent), serve)
    check(seconds)
    assert all(visit.failure in ("", "too large") for visit in visits.values())
    assert len(visits["200,000 links"].page.links) == 5_000


def test_no_response_holds_up_the_loop(watchdog: Watchdog):
    sent = responses()

    def serve(server: Server, name: str, host: str) -> str:
        server.answers = {"/": sent[name]}
        return "/"

    seconds, visits = slowest(watchdog, list(sent), serve)
    check(seconds)
    assert visits["interim responses"].failure == "bad response"
    assert visits["gzip in gzip"].failure == "too large"
    assert visits["gzipped text"].failure == ""


def test_no_robots_txt_holds_up_the_loop(watchdog: Watchdog):
    sent, path = robots_files(), "/" + "a" * 2_000

    def serve(server: Server, name: str, host: str) -> str:
        server.answers = {"/robots.txt": page(sent[name], content_type="text/plain")}
        return path

    seconds, visits = slowest(watchdog, list(sent), serve)
    check(seconds)
    assert visits["wildcards"].failure == "robots"


def test_no_sitemap_holds_up_the_loop(watchdog: Watchdog):
    sent = sitemaps()

    def serve(server: Server, name: str, host: str) -> str:
        body = sent[name].replace(b"HOST", host.encode())
        server.answers = {
            "/": page(b"home"),
            "/sitemap.xml": page(body, content_type="application/xml"),
        }
        return "/"

    seconds, visits = slowest(watchdog, list(sent), serve)
    check(seconds)
    assert len(visits["of this site"].page.links) == 1_000


@pytest.mark.parametrize("agent", ["guide", "linear_sync"])
def test_absorbing_a_page_of_many_links_does_not_hold_up_the_loop(watchdog: Watchdog, agent: str):
    links = "".join(f'<a href="/{number}">rock {number} of 5000</a>' for number in range(5000))
    plan = Plan(
        topic="geology",
        agent=agent,
        seeds=("http://a.test/",),
        world="web",
        allow_private=True,
        delay=0.0,
        budget=3,
    )
    answers = {"/robots.txt": ABSENT, "/": page(links.encode()), "/0": page(links.encode())}
    with served(answers) as server:
        opened = replace(plan, resolve=f"*=127.0.0.1:{server.port}").open()
        navigator = opened.navigator()
        crawl = opened.crawl(navigator)

        async def run() -> None:
            await opened.world.visit(Link("http://b.test/warm"))  # what happens once
            watchdog.longest = 0.0
            await crawl.run(opened.seeds)
            await opened.world.close()

        asyncio.run(run())
    assert len(navigator.memory) > 4000
    assert watchdog.longest < LONGEST, f"{watchdog.longest * 1000:.0f} ms"
