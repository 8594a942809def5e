"""honeyguide control on a running crawl, as its server sees it."""

import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

from honeyguide.cli.control import control as command
from honeyguide.cli.control import read_words
from honeyguide.engine.orders import Deny
from honeyguide.errors import HoneyguideError
from honeyguide.storage.check import Check
from honeyguide.storage.control import give_order
from honeyguide.storage.exports import status
from tests.storage.test_order_desk import ORDERS
from tests.test_cli_teach import rows, verdicts, wait_until
from tests.test_live import flags, run, served

PROGRAM = Path(sys.executable).parent / "honeyguide"


@contextmanager
def running(server, out, *more):
    process = subprocess.Popen(
        flags(server, out, 100_000, *more), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_pages(out, count):
    wait_until(lambda: out.exists() and len(pages(out)) >= count)


def pages(out):
    try:
        return rows(out, "SELECT n FROM pages")
    except sqlite3.OperationalError:
        return []  # not there yet


def control(out, *words):
    """Give an order as the command does, without the start of a process."""
    return give_order(out, read_words(words[0], words[1:]), wait=60).sentence


def refused(*command):
    done = subprocess.run(
        [PROGRAM, *map(str, command)], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 1, done.stdout
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.removeprefix("honeyguide: ").strip()


def hosts(server):
    return Counter(url.split("/")[2] for url in server.requests)


def known(out):
    return status(out)


def test_a_running_crawl_is_steered(tmp_path):
    out = tmp_path / "out"
    with served() as server, running(server, out, "--delay", "0.05") as process:
        wait_for_pages(out, 40)
        [[name, _]] = hosts(server).most_common(1)
        assert control(out, "deny", name).startswith(f"denied: {name} (")
        denied_after, all_asked = hosts(server)[name], len(server.requests)
        wait_until(lambda: len(server.requests) > all_asked + 60)
        assert hosts(server)[name] == denied_after  # the server saw no request any more
        with pytest.raises(HoneyguideError, match="denied already"):
            control(out, "deny", name)

        assert control(out, "pause") == "paused"
        wait_until(lambda: known(out)["in_flight"] == 0)
        asked = len(server.requests)
        time.sleep(0.5)
        assert len(server.requests) == asked
        assert known(out)["in_force"] == {"paused": True, "denied": [name]}
        assert f"now denied   {name}\n" in run(PROGRAM, "status", str(out))
        assert control(out, "allow", name).startswith(f"allowed: {name} (")
        seed = "http://seeded.example/page"
        assert control(out, "seed", seed) == "1 seed added"
        assert control(out, "unpause") == "unpaused"
        wait_until(lambda: seed in server.requests)
        wait_until(lambda: hosts(server)[name] > denied_after)

        assert control(out, "delay", name, "60") == f"delay of {name}: 60 s"
        assert control(out, "in-flight", "4") == "4 visits at once"
        assert control(out, "budget", "200000") == "the budget is 200,000 pages"
        assert control(out, "forget", name).startswith(f"forgotten: {name} (")
        assert run(PROGRAM, "control", str(out), "stop") == "stopped\n"
        assert "(stopped by order)" in process.communicate(timeout=60)[0].decode()
    assert process.returncode == 0
    assert known(out)["in_force"] == {"delays": {name: 60.0}}
    assert len(rows(out, ORDERS)) == 10
    assert Check(out).run() == []


def test_a_delay_holds_a_host_back_and_can_be_undone(tmp_path):
    out = tmp_path / "out"
    with served() as server, running(server, out, "--allow", "tela-hub.example"):
        wait_for_pages(out, 10)
        control(out, "delay", "tela-hub.example", "30")
        asked = len(server.requests)
        time.sleep(1)
        assert len(server.requests) <= asked + 1
        control(out, "delay", "tela-hub.example")
        assert not known(out)["in_force"]


def test_a_link_that_waits_for_its_host_is_not_requested_after_it_was_denied(tmp_path):
    out = tmp_path / "out"
    with served() as server, running(server, out, "--delay", "3") as process:
        wait_until(lambda: len(server.requests) > 2 and out.exists())
        wait_until(lambda: rows(out, "SELECT n FROM journal WHERE kind = 'take'"))
        names = list(hosts(server))
        control(out, "deny", *names)
        asked = {name: hosts(server)[name] for name in names}
        time.sleep(3.5)  # longer than they would have waited
        assert {name: hosts(server)[name] for name in names} == asked
        assert process.poll() is None or known(out)["stopped"] == "no link left"


def test_orders_and_kills_at_random_moments_leave_each_order_carried_out_once(tmp_path):
    out, chance = tmp_path / "out", random.Random(3)
    sent = 0
    with served() as server:
        command = flags(server, out, 100_000)
        for _ in range(4):
            process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            wait_for_pages(out, len(pages(out)) + 20)
            give_order(out, Deny((f"host-{sent}.example",)), wait=0)
            sent += 1
            time.sleep(chance.uniform(0.0, 0.8))
            process.kill()
            process.wait()
            command = [PROGRAM, "resume", str(out)]
        budget = len(rows(out)) + 20
        run(PROGRAM, "resume", str(out), "--budget", str(budget))
    denied = known(out)["in_force"]["denied"]
    assert denied == [f"host-{number}.example" for number in range(sent)]
    files = [file for (file,) in rows(out, ORDERS)]
    assert len(files) == len(set(files)) == sent
    # pages that were not committed at the last kill are recovered, and may be beyond the budget
    assert len(rows(out)) >= budget
    assert Check(out).run() == []


def test_a_paused_crawl_stays_paused_until_it_is_told_otherwise(tmp_path):
    out = tmp_path / "out"
    with served() as server:
        with running(server, out):
            wait_for_pages(out, 10)
            control(out, "pause")
        asked = len(server.requests)
        resumed = subprocess.Popen(
            [PROGRAM, "resume", str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert b"the crawl is paused: go on with honeyguide control" in resumed.stderr.readline()
        time.sleep(0.5)
        assert len(server.requests) == asked
        resumed.send_signal(signal.SIGINT)
        resumed.communicate(timeout=60)
        budget = str(len(rows(out)) + 30)
        run(PROGRAM, "resume", str(out), "--unpause", "--budget", budget)
    assert len(rows(out)) == int(budget)
    assert not known(out)["in_force"]


def test_orders_are_flags_of_resume_as_well(tmp_path):
    out = tmp_path / "out"
    with served() as server:
        run(*flags(server, out, 20))
        [[name, count]] = hosts(server).most_common(1)
        steer = ("--deny", name, "--seed", "http://seeded.example/", "--delay", "slow.example=9")
        run(PROGRAM, "resume", str(out), "--budget", "60", "--in-flight", "2", *steer)
        assert hosts(server)[name] == count
        assert any("seeded.example" in url for url in server.requests)
        assert known(out)["in_force"] == {"denied": [name], "delays": {"slow.example": 9.0}}
        assert known(out)["settings"]["in_flight"] == 2
        run(PROGRAM, "resume", str(out), "--budget", "120", "--allow", name)
        assert "denied" not in known(out)["in_force"]


def test_a_simulated_crawl_can_be_paused_and_stopped(tmp_path):
    out = tmp_path / "out"
    start = ("crawl", "--world", "synthetic:pages=50000", "--topic", "geology", "--seed", "geology")
    process = subprocess.Popen(
        [PROGRAM, *start, "--budget", "50000", "--out", str(out)], stdout=subprocess.PIPE
    )
    wait_for_pages(out, 20)
    assert control(out, "pause") == "paused"
    before = len(rows(out))
    time.sleep(0.5)
    assert len(rows(out)) == before
    assert control(out, "unpause") == "unpaused"
    wait_for_pages(out, before + 20)
    assert control(out, "stop") == "stopped"
    assert b"go on with: honeyguide resume" in process.communicate(timeout=60)[0]


def test_one_answer_teaches_a_crawl(tmp_path):
    out = tmp_path / "out"
    start = ("--world", "synthetic:pages=800", "--topic", "geology", "--seed", "geology")
    run(PROGRAM, "crawl", *start, "--budget", "40", "--out", str(out))
    url, relevant = next(iter(verdicts(out).items()))
    said = run(PROGRAM, "control", str(out), "answer", url, "no" if relevant else "yes")
    assert "pages judged again" in said
    assert verdicts(out)[url] != relevant


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("dney", "x"), "no order named 'dney'; did you mean 'deny'?"),
        (("deny",), "an empty text is no list: name a host, a URL or a pattern"),
        (("deny", "localhost:8000"), "'localhost:8000' names a port"),
        (("budget", "0"), "budget must be a number, at least 1"),
        (("budget", "many"), "'many' is no whole number"),
        (("budget",), "say: honeyguide control DIR budget PAGES"),
        (("delay", "a.example", "-1"), "a delay is a number of seconds, zero or more"),
        (("forget", ""), "'' is no host, such as example.org"),
        (("answer", "x", "maybe"), "say: honeyguide control DIR answer URL yes|no"),
        (("budget", "5"), "does not exist"),
    ],
)
def test_what_is_no_order_is_said_in_one_sentence(tmp_path, words, sentence):
    with pytest.raises(HoneyguideError, match=re.escape(sentence)):
        command(tmp_path / "nothing", words[0], list(words[1:]))


def test_the_command_says_what_is_wrong_in_one_sentence(tmp_path):
    nothing = tmp_path / "nothing"
    assert refused("control", nothing, "budget", "5") == f"{nothing} does not exist"
