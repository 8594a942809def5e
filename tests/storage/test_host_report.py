"""What `honeyguide report` tells a site's owner is what the site's own log says."""

import asyncio
import json
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from typer.testing import CliRunner

from honeyguide.cli import app
from honeyguide.contracts import Link, Page, Request, Response, Verdict, Visit
from honeyguide.errors import HoneyguideError
from honeyguide.storage import database, requests
from honeyguide.storage.check import Check
from honeyguide.storage.host_report import host_named, host_reports
from honeyguide.storage.repair import repair
from honeyguide.storage.store import Store
from tests.web.servers import page, redirect, served

PROGRAM = Path(sys.executable).parent / "honeyguide"
RULES = b"User-agent: *\nDisallow: /private\nCrawl-delay: 0.4\n"
PATHS = ("/1", "/2", "/busy", "/old", "/gone", "/private/1", "/private/2", "/elsewhere")
SLACK = 0.2  # seconds between a request's start and the server's note of it, on a busy machine


def report(*arguments):
    """What the command says."""
    done = CliRunner().invoke(app, ["report", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.output


def home(subject, *paths):
    links = " ".join(f"<a href='{path}'>rocks and stones of {path}</a>" for path in paths)
    words = " ".join(f"{subject}{number}" for number in range(60))
    return page(f"<title>{subject} rocks</title><p>rocks, stones {words} {links}".encode())


def busy_once():
    asked = []

    async def answer(writer):
        asked.append(1)
        first = page(b"later", "429 Too Many Requests", retry_after="2")
        writer.write(first if len(asked) == 1 else home("busy"))
        await writer.drain()

    return answer


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """A crawl with the real command of two hosts: its folder, and the server's log of it."""
    answers = {
        "/": home("all", *PATHS, "http://b.test/b"),
        "/robots.txt": page(RULES, content_type="text/plain"),
        "/1": home("one", "/3"),
        "/2": home("two"),
        "/3": home("three"),
        "/b": home("other"),
        "/busy": busy_once(),
        "/old": redirect("/new"),
        "/new": home("new"),
        "/elsewhere": redirect("http://b.test/from-a"),
        "/from-a": home("led"),
    }
    out = tmp_path_factory.mktemp("report") / "out"
    with served(answers) as server:
        where = ("--resolve", f"*=127.0.0.1:{server.port}", "--allow-private", "--delay", "0.2")
        task = ("--topic", "rocks", "--seed", "http://a.test/", "--budget", "40", "--out", out)
        contact = ("--contact", "https://example.org/bot")
        done = subprocess.run(
            [PROGRAM, "crawl", *where, *task, *contact], capture_output=True, text=True, timeout=100
        )
        assert done.returncode == 0, done.stderr
        log = [
            (*line.split(" ", 1), time)
            for line, time in zip(server.asked, server.times, strict=True)
        ]
    return out, log


@pytest.fixture(scope="module")
def found(crawled):
    lines = report(crawled[0], "--json").splitlines()
    return {line["host"]: line for line in map(json.loads, lines)}


def of_host(log, host):
    return [(path, time) for name, path, time in log if name == host]


def test_every_request_in_the_servers_log_is_counted_and_no_other(crawled, found):
    log = crawled[1]
    assert {host: told["requests"] for host, told in found.items()} == Counter(
        host for host, _, _ in log
    )
    for host, told in found.items():
        asked = Counter(path for path, _ in of_host(log, host))
        assert told["complete"]
        assert told["robots_txt"] == asked["/robots.txt"]
        assert told["redirect_hops"] == asked["/new"]  # the hop to b.test begins a visit there
    assert found["a.test"]["statuses"] == {"200": 7, "302": 2, "404": 1, "429": 1}
    assert found["a.test"]["bytes"] == sum(found["a.test"]["bytes_per_day"].values())


def test_bytes_are_those_that_were_transferred(crawled, found):
    with closing(sqlite3.connect(crawled[0] / "crawl.sqlite")) as kept:
        rules = kept.execute("SELECT bytes FROM requests WHERE url = 'http://a.test/robots.txt'")
        assert rules.fetchall() == [(len(RULES),)]


def test_gaps_are_those_of_the_servers_log(crawled, found):
    log = of_host(crawled[1], "a.test")
    at_once = {"/", "/new"}  # after robots.txt, after /old
    gaps = [time - before for (_, before), (path, time) in pairwise(log) if path not in at_once]
    told = found["a.test"]
    assert told["gaps"]["count"] == len(gaps)
    assert told["gaps"]["smallest"] == pytest.approx(min(gaps), abs=SLACK)
    assert told["gaps"]["median"] == pytest.approx(median(gaps), abs=SLACK)
    assert told["follow_ups"]["count"] == len(at_once)
    assert (told["first"], told["last"]) == pytest.approx((log[0][1], log[-1][1]), abs=SLACK)
    assert (told["crawl_delay"], told["crawl_delay_obeyed"]) == (0.4, True)
    assert min(gaps) >= 0.4 - SLACK  # what the server saw of it


def test_a_wish_to_wait_is_shown_with_what_came_of_it(crawled, found):
    waits = found["a.test"]["retry_after"]
    [wait] = waits["examples"]
    assert (waits["asked"], waits["obeyed"]) == (1, 1)
    assert (wait["status"], wait["asked"]) == (429, 2.0)
    log = of_host(crawled[1], "a.test")
    first = next(i for i, (path, _) in enumerate(log) if path == "/busy")
    seen = log[first + 1][1] - log[first][1]
    assert seen >= 2.0
    assert wait["waited"] == pytest.approx(seen, abs=SLACK)


def test_urls_that_robots_txt_refuses_are_counted_and_were_never_asked_for(crawled, found):
    [refused] = found["a.test"]["refused"]
    assert (refused["rule"], refused["line"], refused["count"]) == ("Disallow: /private", 2, 2)
    assert refused["example"] == "http://a.test/private/1"
    assert not [path for _, path, _ in crawled[1] if path.startswith("/private")]


def test_the_letter_to_an_owner_says_it_in_sentences(crawled, found):
    said = report(crawled[0], "--host", "http://a.test/any")
    count, smallest = (found["a.test"][name] for name in ("requests", "gaps"))
    smallest = int(smallest["smallest"] * 100) / 100
    assert f"honeyguide made {count} requests to a.test: 1 for robots.txt, 1 to follow" in said
    assert f"were never less than {smallest:.2f} s apart" in said
    assert "asked for 2 s, the next request came" in said
    assert "robots.txt refused 2 URLs" in said
    assert "line 2, 'Disallow: /private': 2, such as http://a.test/private/1" in said
    assert "robots.txt asks for a Crawl-delay of 0.4 s: no two visits were closer" in said
    assert "https://example.org/bot" in said


def test_many_hosts_are_a_table(crawled, found):
    lines = report(crawled[0]).splitlines()
    assert [line.split()[:2] for line in lines[1:3]] == [
        [host, str(found[host]["requests"])] for host in ("a.test", "b.test")
    ]


def test_a_report_can_be_written_to_a_new_file(crawled, tmp_path):
    out = tmp_path / "report.txt"
    report(crawled[0], "--out", out)
    assert "a.test" in out.read_text()
    again = CliRunner().invoke(app, ["report", str(crawled[0]), "--out", str(out)])
    assert "already exists" in str(again.exception)


def test_a_report_to_a_dash_goes_to_standard_output(crawled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert report(crawled[0], "--out", "-") == report(crawled[0])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("host", ["aa.test", "nowhere.example", "b\u00fccher.example"])
def test_a_host_that_was_never_asked_is_told_so_and_no_other_is_guessed(crawled, host):
    name = host.encode("idna").decode()
    assert report(crawled[0], "--host", host) == f"{crawled[0]} asked nothing of {name}.\n"
    told = json.loads(report(crawled[0], "--host", host, "--json"))
    assert (told["host"], told["requests"], told["missing"]) == (name, 0, 0)


@pytest.mark.parametrize(
    ("said", "host"),
    [
        ("a.test:80", "a.test"),
        ("A.test.", "a.test"),
        (" a.test ", "a.test"),
        ("https://a.test:8443/x", "a.test"),
        ("b\u00fccher.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("::1", "::1"),
        ("[::1]", "::1"),
        ("[::1]:80", "::1"),
        ("127.0.0.1", "127.0.0.1"),
        ("", ""),
        ("a b", ""),
        ("ftp://a.test/", ""),
    ],
)
def test_a_host_is_understood_however_it_is_named(said, host):
    assert host_named(said) == host


@pytest.mark.parametrize("said", ["", "a b"])
def test_what_names_no_host_is_a_wrong_flag(crawled, said):
    command = [PROGRAM, "report", crawled[0], "--host", said]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    told = f"honeyguide: Invalid value for '--host': {said!r} is no host or web address\n"
    assert (done.returncode, done.stderr) == (2, told)


def test_requests_that_an_interruption_cuts_off_are_counted_too(tmp_path):
    reached, done = threading.Event(), threading.Event()

    async def slow(writer):
        reached.set()
        await asyncio.to_thread(done.wait, 60)

    answers = {"/": home("all", "/slow"), "/slow": slow}
    with served(answers) as server:
        where = ("--resolve", f"*=127.0.0.1:{server.port}", "--allow-private", "--delay", "0")
        task = ("--topic", "rocks", "--seed", "http://a.test/", "--out", tmp_path / "out")
        crawl = subprocess.Popen([PROGRAM, "crawl", *where, *task, "--budget", "9"])
        assert reached.wait(60)
        crawl.send_signal(signal.SIGINT)
        assert crawl.wait(60) == 0
        done.set()
        asked = list(server.asked)
    [told] = host_reports(tmp_path / "out")
    assert told.requests == len(asked) == 3
    assert told.failures == {"cancelled": 1}


def lately(folder, *pages):
    """Pages of which a killed process kept the visits, but not the requests."""
    store = Store(folder, batch_seconds=1000.0)
    for url in pages:
        link = Link(url)
        response = Response(link, url, 200, {}, b"<p>rocks")
        store.record_visit(Visit(link, Page(url), Verdict(0.0, False), response), 0.5, 1.0)
    store.note(stopped="budget spent")
    store.close()


def test_pages_whose_requests_a_kill_took_are_told_and_the_report_is_not_complete(kept):
    folder, put = kept
    put({"sent": 10.0, "url": "http://a.test/robots.txt"}, {"sent": 11.0})
    lately(folder, "http://a.test/", "http://a.test/2", "http://a.test/3", "http://b.test/")
    put({"sent": 12.0}, host="c.test")
    told = {report.host: report for report in host_reports(folder)}
    counts = {host: (each.requests, each.missing) for host, each in told.items()}
    assert counts == {"a.test": (2, 2), "b.test": (0, 1), "c.test": (1, 0)}
    assert [each.complete for each in told.values()] == [False, False, True]
    said = report(folder, "--host", "a.test")
    assert "2 further requests brought a page, but were not recorded before the crawler was" in said
    assert "3 further requests brought a page" in report(folder)
    assert "killed" not in report(folder, "--host", "c.test")
    assert "kept no request to b.test" in report(folder, "--host", "b.test")


def cut_off(folder, visits_at_once):
    """A process that ended without closing the folder."""
    Store(folder, visits_at_once=visits_at_once)._release()


def test_a_crawl_that_was_cut_off_is_not_told_as_complete_even_after_it_was_resumed(kept):
    folder, put = kept
    put({"sent": 10.0})
    cut_off(folder, 4)
    for _ in range(2):  # cut off, and resumed since
        told = only(folder)
        assert (told.complete, told.unclean_ends, told.cut_off_visits) == (False, 1, 4)
        assert "cut off 1 time, by a kill or a loss of power" in report(folder)
        assert "requests of at most 4 visits that were under way then" in report(folder)
        lately(folder)
    cut_off(folder, 16)
    cut_off(folder, 2)
    lately(folder)
    told = only(folder)
    assert (told.complete, told.unclean_ends, told.cut_off_visits) == (False, 3, 22)


def test_a_process_that_closes_its_folder_leaves_the_report_complete(kept):
    folder, put = kept
    put({"sent": 10.0})
    store = Store(folder)
    assert only(folder).complete  # as far as it went: it is running
    store.close()  # without a reason, as after an error
    assert only(folder).complete
    assert "may be missing" not in report(folder)


def test_a_cut_off_by_a_version_that_left_no_trace_of_it_is_told_once(kept):
    folder, put = kept
    put({"sent": 10.0})
    lately(folder, "http://a.test/")
    with closing(database.connect(folder)) as connection:
        rows = ("visits_at_once", "unclean_ends", "cut_off_visits", "stopped")
        connection.executemany("DELETE FROM about WHERE key = ?", [(row,) for row in rows])
    for _ in range(2):
        assert (only(folder).complete, only(folder).unclean_ends) == (False, 1)
        lately(folder)


def test_requests_under_way_at_a_kill_make_the_report_of_a_resumed_crawl_incomplete(tmp_path):
    reached = threading.Event()
    out = tmp_path / "out"

    async def slow_once(writer):
        if not reached.is_set():
            reached.set()
            await asyncio.sleep(60)
        writer.write(home("slow"))
        await writer.drain()

    with served({"/": home("all", "/slow"), "/slow": slow_once}) as server:
        where = ("--resolve", f"*=127.0.0.1:{server.port}", "--allow-private", "--delay", "0")
        task = ("--topic", "rocks", "--seed", "http://a.test/", "--out", out, "--budget", "9")
        crawl = subprocess.Popen([PROGRAM, "crawl", *where, *task, "--in-flight", "3"])
        assert reached.wait(60)
        crawl.kill()
        crawl.wait(60)
        subprocess.run([PROGRAM, "resume", out], check=True, timeout=60, capture_output=True)
        asked = list(server.asked)
    [told] = host_reports(out)
    assert told.requests < len(asked)
    assert (told.complete, told.unclean_ends, told.cut_off_visits) == (False, 1, 3)


# ----------------------------------------------------------------------- made up requests


@pytest.fixture
def kept(tmp_path):
    """A crawl folder to put requests into."""
    database.create(tmp_path, {"world": "web"})
    with closing(database.connect(tmp_path)) as connection:

        def put(*sent, host="a.test"):
            for one in sent:
                said = {"host": host, "url": f"http://{host}/", "seconds": 0.1, "status": 200}
                requests.add(connection, Request(**said | one))

        yield tmp_path, put


def only(folder):
    [report] = host_reports(folder)
    return report


def test_a_wish_that_was_not_heeded_is_not_hidden(kept):
    folder, put = kept
    put({"sent": 10.0, "retry_after": 5.0}, {"sent": 12.0, "retry_after": 1.0}, {"sent": 14.0})
    waits = only(folder).retry_after
    assert (waits.asked, waits.obeyed) == (2, 1)
    assert waits.examples[0].waited == pytest.approx(1.9)
    assert "2 answers asked to wait (Retry-After); 1 was obeyed" in report(folder)


def test_a_clock_that_was_set_back_makes_no_gap(kept):
    folder, put = kept
    put({"sent": 10.0}, {"sent": 4.0}, {"sent": 7.0})
    told = only(folder)
    assert (told.clock_set_back, told.gaps.smallest) == (1, 3.0)


def test_a_page_after_a_robots_txt_that_is_elsewhere_belongs_to_the_same_visit(kept):
    folder, put = kept
    robots = {"url": "http://a.test/robots.txt", "status": 301, "location": "http://a.test/r.txt"}
    put({"sent": 1.0, **robots}, {"sent": 1.1, "url": "http://a.test/r.txt"}, {"sent": 1.2})
    put({"sent": 3.2, "url": "http://a.test/2"})
    told = only(folder)
    assert (told.robots_txt, told.redirect_hops) == (2, 0)
    assert (told.gaps.count, told.gaps.smallest) == (1, 2.0)
    assert told.follow_ups.count == 2


def test_another_try_for_robots_txt_does_not_follow_at_once(kept):
    folder, put = kept
    robots = {"url": "http://a.test/robots.txt"}
    put({"sent": 1.0, "status": 503, **robots}, {"sent": 61.0, "status": 503, **robots})
    put({"sent": 121.0, **robots}, {"sent": 121.1})
    told = only(folder)
    assert (told.robots_txt, told.gaps.count, told.gaps.smallest) == (3, 2, 60.0)
    assert (told.follow_ups.count, told.follow_ups.smallest) == (1, pytest.approx(0.1))


def test_robots_txt_of_another_port_belongs_to_the_visit_that_leads_there(kept):
    folder, put = kept
    put({"sent": 1.0, "url": "http://a.test/robots.txt"})
    put({"sent": 1.1, "url": "http://a.test:81/robots.txt"}, {"sent": 1.2})
    told = only(folder)
    assert (told.robots_txt, told.gaps.count, told.follow_ups.count) == (2, 0, 2)


def test_hosts_that_could_not_be_reached_are_told_from_those_that_answered(kept):
    folder, put = kept
    put({"sent": 1.0, "status": 0, "failure": "connection refused"}, {"sent": 9.0})
    told = only(folder)
    assert (told.requests, told.unsent, told.statuses) == (2, 1, {"200": 1})
    assert told.failures == {"connection refused": 1}


def test_a_crawl_from_before_requests_were_kept_claims_no_gaps(crawled, tmp_path):
    with closing(sqlite3.connect(crawled[0] / "crawl.sqlite")) as kept:
        kept.execute("VACUUM INTO ?", (str(tmp_path / "crawl.sqlite"),))
    with closing(sqlite3.connect(tmp_path / "crawl.sqlite")) as kept:
        kept.execute("DROP TABLE requests")
    [told] = host_reports(tmp_path, "a.test")
    assert not told.complete
    assert (told.gaps, told.retry_after, told.robots_txt) == (None, None, 0)
    asked = [path for path, _ in of_host(crawled[1], "a.test")]
    visits = [path for path in asked if path not in ("/robots.txt", "/new")]
    assert told.requests == len(visits)
    assert "gaps cannot be shown" in report(tmp_path, "--host", "a.test")


def test_a_damaged_request_is_told_and_can_be_forgotten(kept):
    folder, put = kept
    put({"sent": 1.0}, {"sent": 2.0, "retry_after": 30.0}, {"sent": 40.0})
    with closing(database.connect(folder)) as connection:
        connection.execute("UPDATE requests SET retry_after = 3.0 WHERE n = 2")
    with pytest.raises(HoneyguideError, match="a stored request is damaged"):
        only(folder)
    assert [finding.what for finding in Check(folder).run()] == ["request 2 is damaged"]
    done, left = repair(folder)
    assert (len(done), left) == (1, [])
    assert only(folder).requests == 2


def test_a_crawl_that_ended_without_a_request_has_sent_none(kept):
    folder, _ = kept
    store = Store(folder)
    assert report(folder) == "No request was sent yet.\n"
    store.close()
    assert report(folder) == "No request was sent.\n"


def test_a_generated_web_has_no_hosts_to_report_on(tmp_path):
    database.create(tmp_path, {"world": "synthetic:pages=100"})
    with pytest.raises(HoneyguideError, match="sent no requests"):
        list(host_reports(tmp_path))


def test_many_requests_to_many_hosts_are_read_one_host_at_a_time(kept):
    folder, _ = kept
    with closing(database.connect(folder)) as connection:
        connection.execute("BEGIN")
        for number in range(20_000):
            host = f"h{number % 500}.test"
            requests.add(
                connection, Request(host, f"http://{host}/{number}", float(number), 0.1, 200)
            )
        connection.execute("COMMIT")
    reports = list(host_reports(folder))
    assert [told.host for told in reports] == sorted(f"h{n}.test" for n in range(500))
    assert {(told.requests, told.gaps.smallest) for told in reports} == {(40, 500.0)}
