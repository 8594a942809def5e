"""A machine with few file descriptors crawls more slowly, and loses and spends nothing."""

import asyncio
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing

from honeyguide.plan import Plan
from honeyguide.storage.crawl_folder import create_crawl
from tests.web.servers import page, served

HOSTS = [f"h{n}.test" for n in range(40)]
HOGGING = """
import asyncio, os, resource, sys
from honeyguide.contracts import Link
from honeyguide.web.http import HttpFetcher
from honeyguide.web.network import DescriptorLimit

async def run(port):
    places = {"site.test": ("127.0.0.1", port)}
    http = DescriptorLimit(HttpFetcher("h/0", allow_private=True, hosts=places))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    hogged = []
    try:
        while True:
            hogged.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass
    names = ["http://site.test/", "http://unknown.invalid/"]
    fetches = [asyncio.create_task(http.fetch(Link(name))) for name in names]
    await asyncio.sleep(0.5)
    print([fetch.done() for fetch in fetches])
    for each in hogged:
        os.close(each)
    print([fetch.failure for fetch in await asyncio.gather(*fetches)])
    await http.close()

asyncio.run(run(int(sys.argv[1])))
"""
RAISING = """
import resource
from honeyguide.web.network import connections_at_once
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
most = connections_at_once()
print(most > 100, resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 1000)
"""
WITHOUT_LIMITS = """
import sys
sys.modules["resource"] = None  # as on Windows
import honeyguide.worlds.web
from honeyguide.web.network import connections_at_once
print(connections_at_once() > 100)
"""


async def slowly(writer: asyncio.StreamWriter) -> None:
    """So that many connections are open at once."""
    await asyncio.sleep(0.2)
    writer.write(page(b'<a href="/next">next</a>'))
    await writer.drain()
    await asyncio.sleep(2.0)


def run(program: str, *arguments: object) -> list[str]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


def test_a_crawl_with_few_descriptors_fetches_all_for_its_budget_and_says_so_once(tmp_path):
    with served({"/": slowly, "/next": page(b"<p>x" * 4_000)}) as server:
        plan = Plan(
            topic="geology",
            judge="keywords:geology",
            encoder="ngrams",
            agent="breadth_first",
            seeds=tuple(f"http://{host}/" for host in HOSTS),
            world="web",
            resolve=f"*=127.0.0.1:{server.port}",
            allow_private=True,
            delay=0.0,
            in_flight=40,
            budget=80,
        )
        create_crawl(tmp_path / "crawl", plan)
        command = f"ulimit -n 64; exec '{sys.executable}' -m honeyguide resume '{tmp_path}/crawl'"
        done = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False
        )
        asked = Counter(server.asked)
    with closing(sqlite3.connect(tmp_path / "crawl" / "crawl.sqlite")) as database:
        ends = database.execute("SELECT failure, count(*) FROM pages GROUP BY failure").fetchall()
    assert done.returncode == 0, done.stderr
    assert ends == [("", 80)]
    assert asked == Counter(
        f"{host} {path}" for host in HOSTS for path in ("/robots.txt", "/", "/next")
    )
    assert done.stderr.count("few files can be open at once") == 1
    assert "Traceback" not in done.stderr


def test_a_fetch_for_which_there_is_no_descriptor_waits_until_there_is_one():
    with served({"/": page()}) as server:
        assert run(HOGGING, server.port) == ["[False, False]", "['', 'dns']"]


def test_the_soft_limit_is_raised_as_far_as_needed():
    assert run(RAISING) == ["True True"]


def test_a_system_without_such_limits_can_crawl():
    assert run(WITHOUT_LIMITS) == ["True"]
