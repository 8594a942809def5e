"""Whole crawls of the live web, in processes of their own, against a real server on loopback."""

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from honeyguide.contracts import Verdict
from honeyguide.warc.reader import RESPONSE, records, target
from honeyguide.worlds.synthetic.serve import Server
from honeyguide.worlds.synthetic.world import SyntheticWorld

PROGRAM = Path(sys.executable).parent / "honeyguide"


@contextmanager
def served(pages=4000, **settings):
    """A generated web on a port of this machine, answered by a thread."""
    world = SyntheticWorld(lambda page: Verdict(0.0, False), pages)
    server, ready, done = Server(world, slowest=0.02, **settings), threading.Event(), None

    async def run():
        nonlocal done
        done = asyncio.Event()
        async with server:
            loop.append(asyncio.get_running_loop())
            ready.set()
            await done.wait()

    loop = []
    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        loop[0].call_soon_threadsafe(done.set)
        thread.join()


@pytest.fixture(scope="module")
def server():
    with served() as server:
        yield server


def flags(server, out, budget, *more):
    seed = server.world.find("geology").url
    where = ("--resolve", f"*=127.0.0.1:{server.port}", "--allow-private", "--delay", "0")
    task = ("--topic", "geology", "--seed", seed, "--budget", str(budget), "--out", str(out))
    return (PROGRAM, "crawl", *where, *task, *more)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(folder, what="url, page_url, failure, warc, relevant"):
    with closing(sqlite3.connect(folder / "crawl.sqlite", timeout=30)) as database:
        return database.execute(f"SELECT {what} FROM pages ORDER BY n").fetchall()


def test_a_crawl_fetches_what_it_may_and_keeps_all_of_it(server, tmp_path):
    before = len(server.requests)
    said = run(*flags(server, tmp_path / "out", 300))
    assert "among 300 fetched (budget spent)" in said
    asked = server.requests[before:]
    pages = [url for url in asked if not url.endswith("/robots.txt")]
    for url in pages:
        host = server.world.names.find_host(url.split("/")[2])
        assert server.world.house.allows(host, "/" + url.split("/", 3)[3]), url
    assert {url.split("/")[2] for url in asked if url.endswith("/robots.txt")} >= {
        url.split("/")[2] for url in pages
    }
    kept = rows(tmp_path / "out")
    assert len(kept) == 300
    assert sum(failure == "robots" for _, _, failure, _, _ in kept) > 0
    archived = Counter()
    for path in (tmp_path / "out/warc").glob("*.warc.gz"):
        responses = (record for record in records(path) if record.record_type == RESPONSE)
        archived.update(target(record) for record in responses)
    for _, page_url, failure, warc, _ in kept:
        if not failure:
            assert warc
            assert archived[page_url] >= 1
    assert "left out" in said


def test_a_crawl_needs_no_uvloop(server, tmp_path):
    without = "import sys; sys.modules['uvloop'] = None; from honeyguide.cli import main; main()"
    said = run(sys.executable, "-c", without, *flags(server, tmp_path / "out", 40)[1:])
    assert "among 40 fetched (budget spent)" in said


def test_a_crawl_can_be_replayed_from_what_it_kept(server, tmp_path):
    run(*flags(server, tmp_path / "out", 80))
    seed = server.world.find("geology").url
    again = (PROGRAM, "crawl", "--world", f"archive:{tmp_path / 'out/warc'}", "--topic", "geology")
    run(*again, "--seed", seed, "--budget", "80", "--out", str(tmp_path / "again"))
    first = {url for _, url, failure, _, _ in rows(tmp_path / "out") if not failure}
    second = {url for _, url, failure, _, _ in rows(tmp_path / "again") if not failure}
    assert second
    assert second <= first
    run(PROGRAM, "import", "warc", str(tmp_path / "out/warc"), str(tmp_path / "graph"))


def start(*command):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_for_pages(folder, count):
    for _ in range(600):
        try:
            if len(rows(folder, "n")) >= count:
                return
        except sqlite3.OperationalError:
            pass  # not there yet
        time.sleep(0.02)
    raise AssertionError(f"{count} pages never came")


def test_a_crawl_killed_at_random_moments_loses_nothing_and_fetches_nothing_again(tmp_path):
    chance = random.Random(7)
    with served() as server:
        out = tmp_path / "out"
        command, committed = flags(server, out, 400), set()
        for kill in range(8):
            asked_before = len(server.requests)
            crawl = start(*command)
            wait_for_pages(out, 40 * (kill + 1))
            time.sleep(chance.random() / 2)
            crawl.kill()
            crawl.communicate()
            asked = set(server.requests[asked_before:])
            again = asked & committed - moved_to(server, asked)
            assert not again, f"fetched again after it had been kept, at kill {kill}"
            committed |= {url for url, _, failure, _, _ in rows(out) if not failure}
            command = (PROGRAM, "resume", str(out))
        asked_before = len(server.requests)
        assert "among 400 fetched (budget spent)" in run(*command)
        asked = set(server.requests[asked_before:])
        assert not asked & committed - moved_to(server, asked)
    assert len(rows(out)) == 400
    assert not damage(out)


def moved_to(server, asked):
    """Pages that redirects of addresses asked for end at, whoever was there before."""
    drafts = {url: server.world.draft(url) for url in asked}
    return {draft.url for url, draft in drafts.items() if draft and draft.url != url}


def damage(folder):
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database:
        return [row for row in database.execute("PRAGMA integrity_check") if row != ("ok",)]


def test_sitemaps_are_a_source_of_links_when_asked_for(server, tmp_path):
    before = len(server.requests)
    run(*flags(server, tmp_path / "without", 40))
    assert not any("sitemap" in url for url in server.requests[before:])
    before = len(server.requests)
    run(*flags(server, tmp_path / "out", 40, "--sitemaps"))
    asked = [url for url in server.requests[before:] if "sitemap" in url]
    assert asked
    assert len(asked) == len(set(asked)), "each is read once"


def test_one_interrupt_ends_cleanly_and_the_crawl_goes_on_later(server, tmp_path):
    crawl = start(*flags(server, tmp_path / "out", 100_000))
    wait_for_pages(tmp_path / "out", 20)
    crawl.send_signal(signal.SIGINT)
    said, _ = crawl.communicate(timeout=30)
    assert crawl.returncode == 0
    assert "(interrupted)" in said
    assert said.endswith(f"go on with: honeyguide resume {tmp_path / 'out'}\n")
    pages = len(rows(tmp_path / "out", "n"))
    said = run(PROGRAM, "resume", str(tmp_path / "out"), "--budget", str(pages + 30))
    assert f"among {pages + 30} fetched" in said


def test_a_second_interrupt_ends_at_once_and_loses_nothing(server, tmp_path):
    crawl = start(*flags(server, tmp_path / "out", 100_000))
    wait_for_pages(tmp_path / "out", 20)
    crawl.send_signal(signal.SIGINT)
    crawl.send_signal(signal.SIGINT)
    crawl.communicate(timeout=30)
    pages = len(rows(tmp_path / "out", "n"))
    said = run(PROGRAM, "resume", str(tmp_path / "out"), "--budget", str(pages + 30))
    assert f"among {pages + 30} fetched" in said


SIMULATED = ("--world", "synthetic:pages=200000", "--topic", "geology", "--seed", "geology")


@pytest.mark.parametrize(("number", "in_flight"), [(signal.SIGINT, "1"), (signal.SIGTERM, "4")])
def test_one_interrupt_ends_a_simulated_crawl_cleanly_too(number, in_flight, tmp_path):
    out = tmp_path / "out"
    crawl = start(
        *(PROGRAM, "crawl", *SIMULATED, "--in-flight", in_flight),
        *("--budget", "100000", "--out", str(out)),
    )
    wait_for_pages(out, 20)
    crawl.send_signal(number)
    said, _ = crawl.communicate(timeout=30)
    assert crawl.returncode == 0, said
    assert "(interrupted)" in said
    assert (out / "learnt.policy").exists()
    pages = len(rows(out, "n"))
    said = run(PROGRAM, "resume", str(out), "--budget", str(pages + 30))
    assert f"among {pages + 30} fetched" in said


def test_two_processes_cannot_crawl_in_the_same_folder(server, tmp_path):
    crawl = start(*flags(server, tmp_path / "out", 100_000))
    wait_for_pages(tmp_path / "out", 5)
    second = subprocess.run(
        (PROGRAM, "resume", str(tmp_path / "out")), capture_output=True, text=True, timeout=60
    )
    crawl.kill()
    crawl.communicate()
    assert second.returncode == 1
    assert str(crawl.pid) in second.stderr
    assert second.stderr.count("\n") == 1


def test_addresses_inside_the_network_are_refused_unless_allowed(server, tmp_path):
    command = [part for part in flags(server, tmp_path / "out", 5) if part != "--allow-private"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60).stderr
    assert [failure for _, _, failure, _, _ in rows(tmp_path / "out")] == ["private address"]
    why = "private address, inside this network: --allow-private allows it"
    seed = server.world.find("geology").url
    assert said == (
        f"honeyguide: {seed} cannot be fetched: {why}\n"
        f"honeyguide: nothing could be fetched: {why} (1)\n"
    )
    assert "private address" in run(PROGRAM, "status", str(tmp_path / "out"))


def test_robots_rules_are_asked_for_where_a_host_really_is(server, tmp_path):
    command = flags(server, tmp_path / "out", 1)
    seed, there = (command[command.index(flag) + 1] for flag in ("--seed", "--resolve"))
    said = run(PROGRAM, "robots", seed, "--resolve", there, "--allow-private")
    assert said.startswith(f"honeyguide may fetch {seed}: ")
    assert "unreachable" not in said


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet", "warc"])
def test_what_was_found_can_be_taken_away_in_every_form(server, tmp_path_factory, format, tmp_path):
    folder = tmp_path_factory.getbasetemp() / f"kept-{os.getpid()}"
    if not folder.exists():
        run(*flags(server, folder, 60))
    out = tmp_path / f"pages.{format}"
    run(PROGRAM, "export", str(folder), "--format", format, "--relevant", "--out", str(out))
    assert out.stat().st_size > 100
    if format == "jsonl":
        page = json.loads(out.read_text().splitlines()[0])
        assert {"url", "title", "text", "relevance", "score", "depth", "parent", "fetched"} <= set(
            page
        )


def test_pages_of_a_record_are_not_fetched_and_those_beyond_are(server, tmp_path):
    first, record, out = tmp_path / "first", tmp_path / "record", tmp_path / "out"
    run(*flags(server, first, 80))
    run(PROGRAM, "import", "warc", str(first / "warc"), str(record))
    kept = {url for _, url, failure, _, _ in rows(first) if not failure}
    before = len(server.requests)
    run(*flags(server, out, 60, "--record", str(record)))
    run(PROGRAM, "resume", str(out), "--budget", "70")
    asked = set(server.requests[before:])
    visits = rows(out, "url, failure, warc, seconds")
    from_record = [row for row in visits if row[0] in kept]
    # a page whose server fails for a while is asked for again
    once = [url for url, failure, *_ in visits if not failure.startswith("status 5")]
    assert len(visits) == 70 and len(once) == len(set(once)) > 60
    assert len(from_record) > 30
    assert all(not failure and warc is None for _, failure, warc, _ in from_record)
    assert not asked & kept
    beyond = {row[0] for row in visits if row[2]}
    assert beyond and beyond <= asked
    told = run(PROGRAM, "export", str(out), "--out", "-")
    assert {json.loads(line)["url"] for line in told.splitlines()} >= {r[0] for r in from_record}
    assert (out / "learnt.policy").exists()


def test_a_walk_on_the_live_web_requests_each_page_once_also_when_resumed(tmp_path):
    with served(pages=400) as server:
        walk = flags(server, tmp_path / "out", 150, "--agent", "random_walk")
        said = run(*walk)
        assert "among 150 visited with" in said
        run(PROGRAM, "resume", str(tmp_path / "out"), "--budget", "300")
        asked = [url for url in server.requests if not url.endswith("/robots.txt")]
        visited = rows(tmp_path / "out", "url, page_url")
    status = json.loads(run(PROGRAM, "status", str(tmp_path / "out"), "--json"))
    assert len(visited) == status["visits"] == 300
    redirected = {page for url, page in visited if url != page}  # the server decides that
    assert {url for url, times in Counter(asked).items() if times > 1} <= redirected
    assert len(asked) < 250
    assert len(asked) <= status["requests"] < 300
