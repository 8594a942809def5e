"""What a person does who has not read the manual gets a sentence, and soon."""

import asyncio
import json
import re
import socket
import subprocess
import threading
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import pytest
from rich.progress import Task
from typer.testing import CliRunner

from honeyguide.cli import app
from honeyguide.cli.first_answers import Silence
from honeyguide.cli.progress import Report
from honeyguide.cli.seed_names import read_names
from honeyguide.contracts import Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make
from tests.test_cli import PROGRAM, SMALL, honeyguide, refused
from tests.web.servers import page, redirect, served


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """The folder of a small crawl."""
    folder = tmp_path_factory.mktemp("crawled") / "out"
    done = honeyguide("crawl", *SMALL, "--budget", 10, "--out", folder)
    assert done.returncode == 0, done.stderr
    return folder


# --------------------------------------------------------------------------- where results go


@pytest.mark.parametrize("name", ["pages.md", "pages", "pages.csv.gz"])
def test_an_export_to_an_unknown_ending_names_those_it_knows(crawled, tmp_path, name):
    told = refused("export", crawled, "--out", tmp_path / name)
    assert "ends in .jsonl, .csv, .parquet, .warc or .warc.gz, or say --format" in told
    assert not list(tmp_path.iterdir())
    done = honeyguide("export", crawled, "--out", tmp_path / name, "--format", "csv")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / name).read_text().startswith("url,requested_url,title")


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (("crawl", *SMALL, "--budget", 5), "a crawl"),
        (("bench", *SMALL, "--budget", 5), "a comparison"),
    ],
)
def test_results_are_never_mixed_with_other_things(command, what, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "photos").mkdir()
    told = refused(*command, "--out", tmp_path)
    assert told == (
        f"{tmp_path} holds other things (notes.txt and 1 more): {what} goes into a new or empty"
        " folder"
    )
    assert {path.name for path in tmp_path.iterdir()} == {"notes.txt", "photos"}


def test_an_empty_folder_and_what_a_killed_beginning_left_are_no_other_things(tmp_path):
    (tmp_path / "lock").touch()
    done = honeyguide("crawl", *SMALL, "--budget", 5, "--out", tmp_path)
    assert done.returncode == 0, done.stderr


# --------------------------------------------------------------------------- where to start


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("https://a.example,https://b.example/x", ("https://a.example", "https://b.example/x")),
        ("https://a.example/x , http://b.example", ("https://a.example/x", "http://b.example")),
        ("a.example,b.example/x,y", ("a.example", "b.example/x,y")),
        ("https://a.example, b.example,", ("https://a.example", "b.example")),
        ("https://a.example/x,y", ("https://a.example/x,y",)),
        ("a.example/?near=1,2#a,b", ("a.example/?near=1,2#a,b",)),
        ("example.org/robots.txt", ("example.org/robots.txt",)),
        ("https://seeds.txt", ("https://seeds.txt",)),
    ],
)
def test_seeds_with_commas_between_them_are_several_unless_the_comma_is_in_a_url(said, names):
    assert read_names([said], "web") == names


@pytest.mark.parametrize("name", ["Paris, Texas", "a.example,b.example", "1000 random pages", ""])
def test_names_of_pages_of_a_recorded_web_keep_their_commas(name):
    assert read_names([name], "graph:somewhere") == (name,)


def seed_file(folder, data):
    (folder / "seeds.txt").write_bytes(data)
    return str(folder / "seeds.txt")


def test_a_file_of_seeds_has_one_a_line_and_comments(tmp_path):
    lines = "\ufeff# mine\n\nhttps://a.example/#top  # a comment\r\n  b.example/x,y\n"
    file = seed_file(tmp_path, lines.encode())
    names = ("https://a.example/#top", "b.example/x,y")
    assert read_names([file, "c.example"], "web") == (*names, "c.example")
    assert read_names([file], "graph:somewhere") == names


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is empty"),
        (b"# nothing yet\n", "has comments and no page to start from"),
        (b"\x89PNG\r\n", "is not text in UTF-8"),
        (b"a\0b", "is not text in UTF-8"),
    ],
)
def test_a_file_without_seeds_is_told(data, sentence, tmp_path):
    file = seed_file(tmp_path, data)
    told = refused("crawl", "--topic", "rocks", "--seed", file, "--out", tmp_path / "out")
    assert told == f"{file} {sentence}"


@pytest.mark.parametrize("command", ["crawl", "bench", "find"])
def test_a_file_of_seeds_that_is_not_there_is_told(command, tmp_path):
    task = ("--topic", "rocks", "--world", "web", "--out", "out", "--seed")
    told = refused(command, *(task if command != "find" else ()), "seeds.txt", folder=tmp_path)
    assert told == "there is no file seeds.txt to read; a URL begins with https://"
    with pytest.raises(HoneyguideError, match="there is no file lists/mine"):
        read_names(["lists/mine.csv"], "web")


def test_a_crawl_starts_from_all_pages_of_a_file_of_a_config_and_of_standard_input(tmp_path):
    with served({"/": page(b"<p>rocks"), "/a,b": page(b"<p>stones")}) as server:
        site = f"http://127.0.0.1:{server.port}"
        seed_file(tmp_path, f"{site}/\n{site}/a,b\n".encode())
        (tmp_path / "crawl.toml").write_text('topic = "rocks"\nseed = "seeds.txt"\n')
        live = ("--allow-private", "--delay", 0, "--budget", 2)
        command = ("crawl", *live, "--config", "crawl.toml")
        done = honeyguide(*command, "--out", "out", folder=tmp_path)
        assert "among 2 fetched" in done.stdout, done.stderr
        piped = subprocess.run(
            [PROGRAM, *map(str, command), "--seed", "-", "--out", "piped"],
            cwd=tmp_path,
            input=f"{site}/a,b\n{site}/\n",
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert "among 2 fetched" in piped.stdout, piped.stderr
    known = json.loads(honeyguide("status", tmp_path / "piped", "--json").stdout)
    assert known["settings"]["seeds"] == [f"{site}/a,b", f"{site}/"]


# --------------------------------------------------------------------------- status


def test_status_accounts_for_every_fetch_and_shows_a_delay_of_nothing(tmp_path):
    links = b"".join(b"<a href=/%s>x</a>" % name for name in (b"shy", b"a", b"moved", b"gone"))
    answers = {
        "/": page(b"<p>geology, rocks</p>" + links),
        "/shy": page(b"<meta name=robots content=noindex><p>geology</p>"),
        "/a": page(b"<p>ships and harbours</p>"),
        "/moved": redirect("/"),
    }
    with served(answers) as server:
        seed = f"http://127.0.0.1:{server.port}/"
        live = ("--allow-private", "--delay", 0, "--budget", 5, "--judge", "keywords:geology")
        task = ("--topic", "geology", "--seed", seed, "--out", tmp_path / "out")
        done = honeyguide("crawl", *task, *live)
        assert done.returncode == 0, done.stderr
    told = honeyguide("status", tmp_path / "out").stdout
    figures = dict(line.rsplit(maxsplit=1) for line in told.splitlines()[1:6])
    assert figures == {
        "relevant": "1",
        "not relevant": "1",
        "noindex": "1",
        "repeated": "1",
        "failed": "1",
    }
    assert told.startswith("visits       5 of 5\n")
    assert "\n  delay          0\n" in told
    known = json.loads(honeyguide("status", tmp_path / "out", "--json").stdout)
    parts = ("relevant", "not_relevant", "noindex", "repeated", "failed")
    assert known["visits"] == sum(known[part] for part in parts)


# --------------------------------------------------------------------------- while nothing happens


def task(name, total, completed, news=""):
    return Task(name, f"task {name}", total, completed, _get_time=float, fields={"news": news})


def test_lines_tell_what_has_moved_or_what_is_waited_for():
    report = Report()
    first, second = task(0, 1000, 5, "2 relevant"), task(1, None, 0)
    assert report.lines([first, second], 10.2) == [
        "task 0: 5 of 1,000, 2 relevant after 10 s",
        "task 1: 0 after 10 s",
    ]
    first.completed = 1200
    assert report.lines([first, second], 75) == [
        "task 0: 1,200 of 1,000, 2 relevant after 1 min 15 s"
    ]
    assert report.lines([first, second], 7300) == ["task 1: 0 after 2 h 1 min"]
    assert report.lines([], 1) == []


def late(writer):
    """Answer so late that lines of progress are due."""

    async def write():
        await asyncio.sleep(2)
        writer.write(page(b"<p>geology"))
        await writer.drain()

    return write()


def test_without_a_terminal_lines_tell_how_far_a_crawl_is(tmp_path, monkeypatch):
    monkeypatch.setattr("honeyguide.cli.watching.BEAT", 0.5)
    monkeypatch.setattr("honeyguide.cli.first_answers.SILENCE", 0.2)
    with served({"/": page(b"<p>geology <a href=/late>x</a>"), "/late": late}) as server:
        seed = f"http://127.0.0.1:{server.port}/"
        live = ["--allow-private", "--delay", "0", "--budget", "2", "--out", str(tmp_path / "out")]
        command = ["crawl", "--topic", "geology", "--seed", seed, *live]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
        heartbeat = (
            r"^1 of 2 pages, \d+\.\d a second, 1 relevant, 0 failed, 1 host, 0 waiting, [\d,]+ MB$"
        )
        assert re.search(heartbeat, done.stderr, re.MULTILINE)
        slow = CliRunner().invoke(
            app, [*command[:4], f"{seed}late", *command[5:-1], f"{tmp_path}/b"]
        )
        assert f"no answer from {seed}late after 0.2 s: waiting" in slow.stderr


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (["bench", *SMALL, "--budget", "50", "--agents", "random"], r"random: \d+ of 250 after"),
        (
            ["find", "http://site0.tesw.example/", "--world", "organisations:tesw"],
            "sites: 0 of 1 after",
        ),
    ],
)
def test_other_commands_tell_how_far_they_are_too(command, line, tmp_path, monkeypatch):
    monkeypatch.setattr("honeyguide.cli.progress.FIRST_LINE", 0.01)
    out = ["--out", str(tmp_path / "out")] if command[0] == "bench" else []
    done = CliRunner().invoke(app, [*command, *out])
    assert done.exit_code == 0, done.output
    assert re.search(f"^{line}", done.stderr, re.MULTILINE)
    assert not re.search(line, done.stdout)


# --------------------------------------------------------------------------- seeds that fail


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as held:
        return held.getsockname()[1]


def test_seeds_that_fail_are_told_at_once_and_end_a_crawl_with_a_code_of_their_own(tmp_path):
    refusing = f"http://127.0.0.1:{free_port()}/"
    seeds = ("--seed", "http://nowhere.invalid/", "--seed", refusing, "--seed", "http://a.test:25/")
    live = ("--allow-private", "--topic", "rocks", "--max-seconds", 5, "--out", tmp_path / "out")
    done = honeyguide("crawl", *seeds, *live)
    assert done.returncode == 4
    told = done.stderr.splitlines()
    again = r"; trying again in \d+ s"
    for sentence in (
        rf"honeyguide: http://nowhere\.invalid/ cannot be fetched: dns, no such host{again}",
        rf"honeyguide: {re.escape(refusing)} cannot be fetched: connection refused{again}",
        r"honeyguide: http://a\.test:25/ cannot be fetched: port, not one for web pages",
    ):
        assert sum(bool(re.fullmatch(sentence, line)) for line in told) == 1, told
    assert told[-1].startswith("honeyguide: nothing could be fetched: ")
    assert "dns, no such host (1)" in told[-1]


def test_a_crawl_of_which_one_seed_answers_is_no_failure(tmp_path):
    with served({"/": page(b"<p>geology")}) as server:
        seeds = ("--seed", f"http://127.0.0.1:{server.port}/", "--seed", "http://a.test:25/")
        live = ("--allow-private", "--delay", 0, "--topic", "rocks", "--out", tmp_path / "out")
        done = honeyguide("crawl", *seeds, *live)
    assert done.returncode == 0
    told = "honeyguide: http://a.test:25/ cannot be fetched: port, not one for web pages\n"
    assert done.stderr == told


def test_many_seeds_that_fail_are_not_all_named(tmp_path):
    lines = "".join(f"http://a.test:25/{number}\n" for number in range(40))
    file = seed_file(tmp_path, lines.encode())
    task = ("--topic", "rocks", "--seed", file, "--delay", 0, "--out", tmp_path / "out")
    done = honeyguide("crawl", *task)
    assert done.returncode == 4
    assert done.stderr.count(" cannot be fetched: port, not one for web pages\n") == 10
    assert "more seeds cannot be fetched: `honeyguide status` counts the failures" in done.stderr


def test_a_resumed_crawl_that_can_fetch_nothing_more_says_so_and_how_it_ended(tmp_path):
    port = free_port()
    live = ("--resolve", f"*=127.0.0.1:{port}", "--allow-private", "--delay", 0)
    home = page(b'<p>geology <a href="http://b.test/">b</a>')
    with served({"/": home}, port):
        task = ("--topic", "geology", "--seed", "http://a.test/", "--budget", 1)
        done = honeyguide("crawl", *task, *live, "--out", tmp_path / "out")
        assert done.returncode == 0, done.stderr
    again = ("resume", tmp_path / "out", "--budget", 2)
    done = honeyguide(*again)
    assert done.returncode == 4, done.stderr
    assert done.stderr == "honeyguide: nothing could be fetched: connection refused (1)\n"
    assert honeyguide(*again).returncode == 0  # its budget is spent: it has done what it should


def test_a_resumed_crawl_that_waits_for_its_network_says_so_and_why(tmp_path):
    port = free_port()
    live = ("--resolve", f"*=127.0.0.1:{port}", "--allow-private", "--delay", 0)
    names = [f"h{number}.test" for number in range(4)]
    links = "".join(f'<a href="http://{name}/2">x</a>' for name in names).encode()
    with served({"/": page(b"<p>geology" + links)}, port):
        seeds = [each for name in names for each in ("--seed", f"http://{name}/")]
        done = honeyguide(
            *("crawl", "--topic", "geology", *seeds, *live, "--agent", "breadth_first"),
            *("--budget", 4, "--out", tmp_path / "out"),
        )
        assert done.returncode == 0, done.stderr
    done = honeyguide("resume", tmp_path / "out", "--budget", 9, "--max-seconds", 4)
    told = (
        r"honeyguide: no host answers any more \(h\d\.test: connection refused, .*\): this machine"
    )
    assert re.search(told, done.stderr), done.stderr
    assert "waiting until it is back" in done.stderr


def test_a_server_that_speaks_plain_http_is_told_apart_from_a_wrong_certificate(tmp_path):
    def plain(connection):
        connection.recv(100)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with answering(plain) as port:
        live = ("--allow-private", "--max-seconds", 3, "--topic", "rocks")
        seed = f"https://127.0.0.1:{port}/"
        done = honeyguide("crawl", "--seed", seed, *live, "--out", tmp_path / "out")
    assert "plain http, the server answered without TLS: try http:// instead" in done.stderr
    assert done.returncode == 4


@contextmanager
def answering(answer):
    """A server whose connections are handled one by one; its port."""

    def run():
        while True:
            with suppress(ConnectionError):
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    answer(connection)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=run)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


def test_the_live_web_is_not_compared_on(tmp_path):
    told = refused(
        *("bench", "--world", "web", "--topic", "geology", "--seed", "https://a.example/"),
        *("--out", tmp_path / "out"),
    )
    assert told.startswith("the live web can be crawled, but not simulated or compared on: ")
    assert not (tmp_path / "out").exists()


# --------------------------------------------------------------------------- a first hour

LIVE = ("crawl", "--topic", "rocks", "--out", "out", "--seed", "https://a.example/")
WRONG = {
    "judge 'like' needs example pages: name some with --like": (*LIVE, "--judge", "like"),
    "there is no file rock.html to read; a URL begins with https://": (
        *LIVE,
        "--like",
        "rock.html",
    ),
    "--search names no word: say what to look for": (*LIVE, "--search", " "),
    "world 'graph' needs path: say 'graph:path=...'": (*LIVE, "--world", "graph"),
    "world 'web' has no labels": ("list", "labels", "--world", "web"),
    "'foo' is no web address, such as https://example.org/": ("robots", "foo"),
    "cannot read a.example: No such file or directory; a URL begins with https://": (
        *("regions", "a.example"),
    ),
    "name a page: a URL, a file, or - for standard input": ("regions", ""),
    "name the home page of a site, such as https://example.org/": ("find", ""),
    "cannot write gone/model: there is no folder gone": (
        *("train", "judge", "--positive", "x", "--negative", "y", "--out", "gone/model"),
    ),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_what_a_newcomer_gets_wrong_is_said_plainly(sentence, tmp_path):
    assert refused(*WRONG[sentence], folder=tmp_path) == sentence
    assert not list(tmp_path.iterdir())


def test_rules_of_a_site_are_asked_for_without_a_scheme(tmp_path):
    (tmp_path / "robots.txt").write_text("User-agent: *\nDisallow: /private\n")
    done = honeyguide("robots", "example.org/private", "--file", tmp_path / "robots.txt")
    assert done.stdout.startswith("honeyguide may not fetch https://example.org/private: ")


@pytest.mark.parametrize("host", ["localhost", "[::1]"])
def test_a_host_without_a_dot_is_a_place_to_start_from_if_the_scheme_is_said(host):
    web = make("world", "web", judge=lambda page: Verdict(0.0, False))
    assert web.find(f"http://{host}:8000/").url == f"http://{host}:8000/"
    for name in ("geology", "ftp://a.example/", "http://[bad", "a.example:x"):
        with pytest.raises(HoneyguideError, match="no web address to start from"):
            web.find(name)


def test_a_watch_of_which_no_page_answers_ends_with_a_code_of_its_own(tmp_path):
    (tmp_path / "sources").write_text("http://nowhere.invalid/\n")
    done = honeyguide("watch", "sources", "--once", "--out", "items", folder=tmp_path)
    assert done.returncode == 4
    assert done.stderr == "honeyguide: http://nowhere.invalid/ cannot be read: dns, no such host\n"


def test_a_resumed_crawl_whose_hosts_must_not_be_asked_yet_says_what_it_waits_for():
    told = []
    silence = Silence(told.append)
    silence._say(SimpleNamespace(leases={}))
    assert told[0].startswith("no host may be asked again yet, as they failed or wanted a pause,")
    silence._say(SimpleNamespace(leases=dict.fromkeys("abcde")))
    assert told[1] == "no answer from a, b, c and 2 more after 8 s: waiting; Ctrl-C ends the crawl"
