import asyncio
import contextlib
import errno
import os
import shlex
import socket
import subprocess
import sys

import aiohttp
import pytest
from typer.testing import CliRunner

from honeyguide.cli import app
from honeyguide.contracts import Link, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.web.host_schedule import HostSchedule, Limits
from honeyguide.web.http import HttpFetcher
from honeyguide.worlds.synthetic import SyntheticWorld
from honeyguide.worlds.synthetic.html import render
from honeyguide.worlds.synthetic.layout import BROKEN, EMPTY, FINE, GONE, MOVED, NOT_FOUND, SILENT
from honeyguide.worlds.synthetic.serve import Server


@pytest.fixture(scope="module")
def world():
    return SyntheticWorld(lambda page: Verdict(0.0, False), pages=3000, seed=9)


def ask(world, *addresses, slowest=0.05, **headers):
    """Status, headers and body of each address, asked for on loopback by Host header."""

    async def all_of_them():
        answers = []
        async with Server(world, slowest=slowest) as server, aiohttp.ClientSession() as session:
            for address in addresses:
                host, slash, path = address.removeprefix("http://").partition("/")
                place = f"http://127.0.0.1:{server.port}{slash}{path}"
                asked = session.get(place, headers={"Host": host, **headers}, allow_redirects=False)
                async with asked as response:
                    answers.append((response.status, response.headers, await response.text()))
        return answers

    return asyncio.run(all_of_them())


def one(world, status):
    spots = map(world.layout.spot, range(world.pages))
    return world.names.url(next(spot for spot in spots if spot.status == status))


def host_where(world, wanted):
    hosts = map(world.layout.host, range(world.layout.hosts))
    return next(host for host in hosts if wanted(host, world.house.manners(host)))


def test_each_host_name_shows_its_own_pages_on_one_port(world):
    homes = [f"http://{world.names.host_name(number)}/" for number in range(0, 90, 9)]
    for home, (status, headers, body) in zip(homes, ask(world, *homes), strict=True):
        assert status == 200
        assert headers["Content-Type"] == "text/html; charset=utf-8"
        assert body == render(world.draft(home))


def test_serve_names_a_page_to_begin_with_and_how_to_get_there(tmp_path):
    program = [sys.executable, "-m", "honeyguide"]
    serve = [*program, "serve", "--pages", "500", "--port", "0"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True, bufsize=1) as serving:
        try:
            told = [serving.stdout.readline().partition(": ")[2] for _ in range(2)]
            crawl = [*program, "crawl", *shlex.split(" ".join(told)), "--budget", "3"]
            crawl += ["--delay", "0", "--out", str(tmp_path / "out")]
            done = subprocess.run(crawl, capture_output=True, text=True, timeout=60)
        finally:
            serving.kill()
    assert "among 3 fetched (budget spent)" in done.stdout, done.stderr
    assert not done.stderr


def test_a_port_that_cannot_be_had_is_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        error = CliRunner().invoke(app, ["serve", "--pages", "100", "--port", port]).exception
    assert isinstance(error, HoneyguideError)
    assert str(error) == f"cannot serve on port {port}: {os.strerror(errno.EADDRINUSE)}"
    refused = CliRunner().invoke(app, ["serve", "--pages", "100", "--port", "99999"])
    assert refused.exit_code == 2


@pytest.mark.parametrize(
    ("state", "status"), [(NOT_FOUND, 404), (GONE, 410), (BROKEN, 500), (SILENT, 504), (EMPTY, 200)]
)
def test_pages_fail_as_they_do_in_visits(world, state, status):
    ((answered, _, body),) = ask(world, one(world, state))
    assert answered == status
    assert ("Page not found" in body) == (state == EMPTY)


def test_moved_pages_are_redirected_to_where_they_are(world):
    address = one(world, MOVED)
    ((status, headers, _),) = ask(world, address)
    assert status == 301
    assert headers["Location"] == world.draft(address).url


def test_unknown_hosts_and_paths_are_not_found(world):
    home = f"http://{world.names.host_name(8)}/"
    answers = ask(world, "http://nobody.example/", f"{home}nothing/at/all", f"{home}?a=1")
    assert [status for status, *_ in answers] == [404, 404, 404]


def test_robots_txt_forbids_pages_that_exist(world):
    host = host_where(world, lambda _, manners: len(manners.forbidden) in (2, 4))
    name = world.names.host_name(host.number)
    ((status, _, body),) = ask(world, f"http://{name}/robots.txt")
    assert status == 200
    pages = range(host.start, host.start + host.size)
    paths = [world.names.path(world.layout.spot(page)) for page in pages]
    forbidden = [path for path in paths if not world.house.allows(host, path)]
    assert 0 < len(forbidden) < len(paths)
    rules = [line.removeprefix("Disallow: ") for line in body.splitlines()]
    assert all(path.startswith(tuple(rules)) for path in forbidden)


def test_crawl_delays_and_sitemaps_are_told(world):
    polite = host_where(world, lambda _, m: m.crawl_delay is not None and m.sitemap)
    name = world.names.host_name(polite.number)
    robots, sitemap = ask(world, f"http://{name}/robots.txt", f"http://{name}/sitemap.xml")
    assert f"Crawl-delay: {world.house.manners(polite).crawl_delay:g}\n" in robots[2]
    assert f"Sitemap: http://{name}/sitemap.xml" in robots[2]
    assert sitemap[1]["Content-Type"].startswith("application/xml")
    assert sitemap[2].count("<loc>") == min(polite.size, 1000)
    assert f"<loc>http://{name}/</loc>" in sitemap[2]


def test_some_hosts_have_neither_robots_txt_nor_sitemap(world):
    host = host_where(world, lambda _, manners: not manners.robots)
    name = world.names.host_name(host.number)
    answers = ask(world, f"http://{name}/robots.txt", f"http://{name}/sitemap.xml")
    assert [status for status, *_ in answers] == [404, 404]


def test_pages_are_compressed_for_those_who_take_it(world):
    home = f"http://{world.names.host_name(4)}/"
    ((_, packed, body),) = ask(world, home, **{"Accept-Encoding": "gzip"})
    ((_, plain, same),) = ask(world, home, **{"Accept-Encoding": "identity"})
    assert packed["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain
    assert body == same


def test_slow_pages_are_slow_but_not_for_ever(world):
    spots = map(world.layout.spot, range(world.pages))
    slow = next(s for s in spots if s.status == FINE and world.house.seconds(s) > 3)

    async def timed():
        loop = asyncio.get_running_loop()
        async with Server(world, slowest=0.3) as server, aiohttp.ClientSession() as session:
            host, _, path = world.names.url(slow).removeprefix("http://").partition("/")
            begin = loop.time()
            place = f"http://127.0.0.1:{server.port}/{path}"
            async with session.get(place, headers={"Host": host}) as response:
                await response.read()
            return loop.time() - begin

    assert 0.3 <= asyncio.run(timed()) < 3


def test_a_fetcher_that_is_told_where_hosts_are_gets_their_pages(world):
    start = world.find("geology")

    async def fetched():
        async with Server(world) as server:
            schedule = HostSchedule(limits=Limits(address_interval=0.0))
            fetcher = HttpFetcher(
                "tests", allow_private=True, hosts=server.hosts, schedule=schedule
            )
            async with contextlib.aclosing(_Closing(fetcher)):
                return await fetcher.fetch(start), server.requests

    response, requests = asyncio.run(fetched())
    assert response.failure == ""
    assert response.body.decode() == render(world.draft(start.url))
    assert requests == [start.url]


class _Closing:
    def __init__(self, fetcher):
        self.aclose = fetcher.close


def test_all_host_names_are_known_without_a_list(world):
    server = Server(world)
    names = list(server.hosts)
    assert len(set(names)) == len(server.hosts) == world.layout.hosts
    assert all(name in server.hosts for name in names)
    assert "nobody.example" not in server.hosts
    assert Link(f"http://{names[3]}/") == world.find(names[3])
