"""A crawl whose own network goes away loses no link, no try and no page of its budget."""

import asyncio
import itertools
import logging
import re
import sqlite3
from contextlib import ExitStack, closing

import pytest

from honeyguide.contracts import Link, Verdict
from honeyguide.plan import Plan
from honeyguide.registry import make
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.web import network, pipeline
from tests.web.servers import Server, page, redirect, served

HOSTS = [f"h{number}.test" for number in range(12)]
HOME = "".join(f'<a href="http://{host}/1">{host}</a>' for host in HOSTS).encode()
PAGES = {
    "/": page(HOME),
    "/1": page(b'<a href="/2">on</a>'),
    "/2": page(b"geology"),
}
ALL = 1 + 2 * len(HOSTS)


@pytest.fixture(autouse=True)
def no_long_pauses(monkeypatch):
    monkeypatch.setattr(network, "_pauses", lambda: itertools.repeat(0.01))


def plan(port, **settings):
    said = {"topic": "geology", "judge": "keywords:geology", "encoder": "ngrams"}
    where = {"world": "web", "resolve": f"*=127.0.0.1:{port}", "allow_private": True}
    task = {"agent": "breadth_first", "guard": "none", "budget": 1000, "max_seconds": 60.0}
    return Plan(seeds=("http://a.test/",), delay=0.0, **said, **where, **task | settings)


def known(folder, sql):
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database:
        return [row[0] for row in database.execute(sql)]


def nothing_is_lost(folder, outcome):
    assert (outcome.pages, outcome.reason) == (ALL, "no link left")
    assert known(folder, "SELECT failure FROM pages") == [""] * ALL
    assert set(known(folder, "SELECT value FROM hosts WHERE what = 'failures'")) == {0.0}


class When(logging.Handler):
    """Does something when the crawl says that it waits for the network."""

    def __init__(self, does):
        super().__init__()
        self.does, self.said = does, []

    def emit(self, record):
        self.said.append(record.getMessage())
        if "waiting" in self.said[-1]:
            self.does()


@pytest.mark.parametrize("in_flight", [1, 3, 16])
def test_a_crawl_waits_for_its_network_and_goes_on(tmp_path, in_flight):
    connected, back = ExitStack(), ExitStack()
    port = connected.enter_context(served(PAGES)).port
    when = When(lambda: back.enter_context(served(PAGES, port)))
    create_crawl(tmp_path, plan(port, in_flight=in_flight))

    def watch(plan, recorded, visit):
        if recorded.memory.visits == 5:
            connected.close()

    logging.getLogger(network.__name__).addHandler(when)
    try:
        with connected, back:
            ended = run_crawl(tmp_path, watch)
    finally:
        logging.getLogger(network.__name__).removeHandler(when)
    nothing_is_lost(tmp_path, ended.outcome)
    assert [re.split(r" \(| after", said)[0] for said in when.said] == [
        "no host answers any more",
        "the network is back",
    ]


def test_a_crawl_can_be_stopped_and_resumed_while_its_network_is_away(tmp_path):
    with served(PAGES) as server:
        create_crawl(tmp_path, plan(server.port, in_flight=4))
        run_crawl(tmp_path, lambda *_: None, budget=5)
    for _ in range(2):
        ended = run_crawl(tmp_path, lambda *_: None, budget=1000, max_seconds=1.0)
        assert (ended.outcome.pages, ended.outcome.reason) == (5, "time spent")
    with served(PAGES, server.port):
        ended = run_crawl(tmp_path, lambda *_: None, max_seconds=100.0)
    nothing_is_lost(tmp_path, ended.outcome)


def test_a_crawl_whose_seeds_are_all_wrong_ends_at_once(tmp_path):
    with served(PAGES) as server:
        port = server.port
    create_crawl(tmp_path, plan(port, budget=1))
    assert run_crawl(tmp_path, lambda *_: None).outcome.reason == "budget spent"
    assert known(tmp_path, "SELECT value FROM hosts WHERE what = 'failures'") == [1.0]


def test_what_an_outage_took_is_no_response_time(monkeypatch):
    now, made = 0.0, []

    def with_clock(*parts):
        made.append(network.OutageRetry(*parts, clock=lambda: now))
        return made[0]

    def after(seconds, answer):
        async def write(writer):
            nonlocal now
            now += seconds
            writer.write(answer)
            await writer.drain()

        return write

    async def run():
        nonlocal now
        answers = {
            "/": after(5.0, page()),
            "/far": redirect("/b"),
            "/b": after(121.0, redirect("/")),
        }
        async with Server(answers) as server:
            where = {"resolve": f"*=127.0.0.1:{server.port}", "allow_private": True, "delay": 0.0}
            world = make("world", "web", judge=lambda page: Verdict(0.0, False), **where)
            made[0]._down_since = now
            visiting = asyncio.create_task(world.visit(Link("http://a.test/")))
            await asyncio.sleep(0)
            now = 1000.0
            made[0]._settle(True)
            visits = [await visiting, await world.visit(Link("http://a.test/far"))]
            await world.close()
            return [(visit.failure, visit.seconds) for visit in visits]

    monkeypatch.setattr(pipeline, "OutageRetry", with_clock)
    assert asyncio.run(run()) == [("", 5.0), ("timeout", 121.0)]  # no further hop after 120 s


def test_redirects_of_robots_txt_are_timed_by_the_clock_that_leaves_outages_out(monkeypatch):
    now = 0.0

    def with_clock(*parts):
        return network.OutageRetry(*parts, clock=lambda: now)

    async def slowly(writer):
        nonlocal now
        now += 121.0
        writer.write(redirect("/rules"))
        await writer.drain()

    async def visit():
        answers = {"/": page(), "/robots.txt": redirect("/moved"), "/moved": slowly}
        async with Server(answers) as server:
            where = {"resolve": f"*=127.0.0.1:{server.port}", "allow_private": True, "delay": 0.0}
            world = make("world", "web", judge=lambda page: Verdict(0.0, False), **where)
            visited = await world.visit(Link("http://a.test/"))
            await world.close()
            return visited.failure

    monkeypatch.setattr(pipeline, "OutageRetry", with_clock)
    assert asyncio.run(visit()) == "robots unreachable"
