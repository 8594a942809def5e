"""What a crawl has learnt of hosts outlives any end of it."""

import asyncio
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace

import pytest

from honeyguide.contracts import Link, Verdict
from honeyguide.plan import Plan
from honeyguide.registry import make
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.storage.store import RecordingNavigator
from honeyguide.urls.patterns import ANOTHER_HOST, Scope
from honeyguide.urls.spelling import host
from tests.web.servers import Server, page, redirect, served

SEED = "http://a.test/"
ENCODER, JUDGE = "ngrams", "keywords:geology"
XML = b"<urlset><url><loc>http://a.test/from-sitemap</loc></url></urlset>"
FAILURES = "SELECT host, value FROM hosts WHERE what = 'failures'"
PAGES = {
    "/": page(b'<a href="/1">1</a><a href="/2">2</a>'),
    "/1": page(b"one"),
    "/2": page(b"two"),
    "/sitemap.xml": page(XML, content_type="application/xml"),
}


def plan(server, *seeds, **settings):
    said = {"topic": "geology", "judge": JUDGE, "encoder": ENCODER, "agent": "breadth_first"}
    where = {"world": "web", "resolve": f"*=127.0.0.1:{server.port}", "allow_private": True}
    return Plan(seeds=seeds, delay=0.0, in_flight=1, **said, **where, **settings)


def crawl(folder, **changes):
    return run_crawl(folder, lambda *_: None, **changes)


def known(folder, sql):
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database:
        return database.execute(sql).fetchall()


def test_a_sites_sitemaps_are_read_once_a_crawl_however_often_it_is_resumed(tmp_path):
    with served(PAGES) as server:
        create_crawl(tmp_path, plan(server, SEED, sitemaps=True, budget=1))
        for budget in (1, 2, 3, 4):
            crawl(tmp_path, budget=budget)
        assert server.asked.count("a.test /sitemap.xml") == 1
        assert "a.test /from-sitemap" in server.asked


def test_sitemaps_whose_links_were_lost_are_read_again(tmp_path, monkeypatch):
    def fails(*_):
        raise RuntimeError("the visit is never absorbed")

    with served(PAGES) as server:
        create_crawl(tmp_path, plan(server, SEED, sitemaps=True, budget=1))
        with monkeypatch.context() as patch, pytest.raises(RuntimeError):
            patch.setattr(RecordingNavigator, "absorb", fails)
            crawl(tmp_path)
        crawl(tmp_path)
        assert server.asked.count("a.test /sitemap.xml") == 2


def test_how_often_a_host_has_failed_is_known_after_a_resume(tmp_path):
    with served({"/": page(b"", "503 Service Unavailable")}) as server:
        create_crawl(tmp_path, plan(server, SEED, budget=1))
        crawl(tmp_path)
        crawl(tmp_path, budget=2)
    assert known(tmp_path, FAILURES) == [("a.test", 2.0)]


def test_a_host_that_answers_is_no_longer_known_to_fail(tmp_path):
    with served({"/": page(b"", "503 Service Unavailable")}) as server:
        create_crawl(tmp_path, plan(server, SEED, budget=1))
        crawl(tmp_path)
        server.answers["/"] = page()
        crawl(tmp_path, budget=2)
    assert known(tmp_path, FAILURES) == [("a.test", 0.0)]


def test_a_host_that_a_redirect_led_to_is_left_in_peace_after_a_resume_too(tmp_path):
    busy = page(b"", "503 Service Unavailable", retry_after="3600")
    answers = {"/go": redirect("http://b.test/busy"), "/busy": busy, "/other": page()}
    with served(answers) as server:
        create_crawl(tmp_path, plan(server, "http://a.test/go", "http://b.test/other", budget=1))
        crawl(tmp_path)
        crawl(tmp_path, budget=3)
        assert server.asked.count("b.test /busy") == 1
        assert "b.test /other" not in server.asked
    assert [failure for (failure,) in known(tmp_path, "SELECT failure FROM pages ORDER BY n")] == [
        "status 503",
        "resting",
        "resting",
    ]
    assert len(known(tmp_path, "SELECT DISTINCT url FROM pages")) == 2


def test_a_crawl_of_few_hosts_stays_on_them_after_a_resume():
    answers = {"/": redirect("http://b.test/x"), "/x": page(), "/y": page()}

    async def visit(server, learnt, *urls):
        where = {"resolve": f"*=127.0.0.1:{server.port}", "allow_private": True, "delay": 0.0}
        world = make(
            "world", "web", judge=lambda page: Verdict(0, False), scope=Scope(most_hosts=2), **where
        )
        world.recall(learnt)
        visits = [await world.visit(Link(url)) for url in urls]
        await world.close()
        return [visit.failure for visit in visits], [of for visit in visits for of in visit.learnt]

    async def run():
        async with Server(answers) as server:
            first, learnt = await visit(server, (), "http://a.test/")
            urls = ("http://c.test/y", "http://b.test/y", "http://a.test/y")
            return first, (await visit(server, learnt, *urls))[0]

    assert asyncio.run(run()) == ([""], [ANOTHER_HOST, "", ""])


MANY = [f"http://h{n}.test/" for n in range(24)]
ROBOTS = page(b"User-agent: *\nDisallow: /no\n", content_type="text/plain")
SLOW_SITES = {"/robots.txt": ROBOTS, "/sitemap.xml": page(b"", "404 Not Found")}


def linking(seconds: float = 0.1):
    """A page with two links, one of them forbidden, that takes its time."""

    async def answer(writer):
        await asyncio.sleep(seconds)
        writer.write(page(b'<a href="/no">no</a><a href="/yes">yes</a>', connection="close"))
        await writer.drain()

    return answer


def kept_pages(folder):
    return known(folder, "SELECT url FROM pages")


def crawl_until_killed(folder, pages):
    """Let another process crawl until so many pages are kept, and kill it."""
    command = (sys.executable, "-m", "honeyguide", "resume", str(folder))
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < deadline:
            if len(kept_pages(folder)) >= pages:
                break
            time.sleep(0.05)
        process.kill()


@pytest.mark.parametrize("sitemaps", [False, True], ids=["pages", "sitemaps"])
def test_robots_txt_is_not_asked_for_again_after_a_kill(tmp_path, sitemaps):
    answers = {**SLOW_SITES, "/": linking(), "/yes": linking()}
    with served(answers) as server:
        create_crawl(
            tmp_path, replace(plan(server, *MANY, budget=72, sitemaps=sitemaps), in_flight=4)
        )
        crawl_until_killed(tmp_path, 8)
        kept = {host(url) for (url,) in kept_pages(tmp_path)}
        crawl(tmp_path)
        asked = Counter(each for each in server.asked if each.endswith("/robots.txt"))
    assert len(kept_pages(tmp_path)) == 72
    assert len(kept) >= 8
    assert {asked[f"{name} /robots.txt"] for name in kept} == {1}
    assert not any(each.endswith(" /no") for each in server.asked)


def test_robots_txt_of_a_visit_that_it_forbids_is_kept(tmp_path):
    answers = {"/robots.txt": page(b"User-agent: *\nDisallow: /", content_type="text/plain")}
    with served(answers) as server:
        create_crawl(tmp_path, plan(server, SEED, "http://a.test/1", budget=1))
        crawl(tmp_path)
        crawl(tmp_path, budget=2)
        assert server.asked == ["a.test /robots.txt"]
    assert known(tmp_path, "SELECT failure FROM pages") == [("robots",)] * 2
