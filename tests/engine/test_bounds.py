"""A crawl stays bounded, whatever the web does, and a good site beside a farm is crawled whole."""

import json
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from honeyguide.cli import app
from honeyguide.contracts import Link
from honeyguide.errors import HoneyguideError
from honeyguide.guards.domains import Domains
from honeyguide.guards.live import LiveGuard
from honeyguide.plan import Plan
from honeyguide.storage import crawl_folder as keeping
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.storage.database import connect, settings, with_checksum
from honeyguide.storage.exports import status
from honeyguide.storage.store import RecordingNavigator
from tests import farms
from tests.farms import GOOD, SEED, SITE, Farm, navigator

# megabytes of all tables and waiting links after 90 pages; without limits 20 MB and 60,000
PAGES = 90
MOST = {
    "subdomains": (2, 1001),
    "domains": (6, 12_000),
    "paths": (9, 22_000),
    "queries": (9, 22_000),
    "copies": (2, 2200),
}
EVERY_FARM = pytest.mark.parametrize("kind", MOST)


def begun(kind, **settings):
    steering = navigator(**settings)
    steering.seed([Link(SEED)])
    return steering


@EVERY_FARM
def test_a_farm_stays_small_and_a_good_site_beside_it_is_crawled_whole(kind):
    guard = LiveGuard(limits=Domains(spare_hosts=5000))  # to be quick: ten times as many by default
    steering = begun(kind, guard=guard)
    asked = farms.drive(steering, Farm(kind), PAGES)
    megabytes, waiting = MOST[kind]
    assert farms.table_bytes(steering) < (megabytes << 20)
    assert 0 < len(steering.frontier) < waiting
    assert {f"{GOOD}/{number}" for number in range(SITE)} <= set(asked)
    assert len(steering.memory) < waiting + PAGES  # refused URLs are not added


@EVERY_FARM
def test_a_crawl_of_a_farm_goes_on_exactly_from_its_saved_state(kind):
    farm, whole, half, rest = Farm(kind, 300), begun(kind), begun(kind), navigator()
    expected = farms.drive(whole, farm, 100)
    assert farms.drive(half, farm, 50) == expected[:50]
    rest.load(half.state())
    assert farms.drive(rest, farm, 50) == expected[50:]
    assert rest.guard.report() == whole.guard.report()


# --------------------------------------------------------------------------- memory

LIMIT = 3 << 20


@pytest.mark.parametrize("kind", ["domains", "paths"])
def test_tables_keep_to_their_limit_and_the_best_links_stay(kind):
    steering = begun(kind, max_bytes=LIMIT)
    asked = farms.drive(steering, Farm(kind), 80)
    fixed = steering.guard._unnoted.nbytes + len(steering.guard.traps.state()["groups"]) * 32
    assert farms.table_bytes(steering) - fixed < 1.1 * LIMIT
    assert {f"{GOOD}/{number}" for number in range(SITE)} <= set(asked)
    shed = steering.shed_links
    assert shed.for_memory > 0
    assert "because memory was full" in str(shed)
    assert shed.worth / shed.count < shed.taken_worth / shed.taken


def test_with_its_memory_full_a_crawl_notes_no_more_links_and_goes_on():
    steering = begun("domains", max_bytes=LIMIT // 4)
    asked = farms.drive(steering, Farm("domains"), 60)
    known = len(steering.memory)
    assert steering.shed_links.unnoted > 0
    assert "ignored because memory was full" in str(steering.shed_links)
    asked += farms.drive(steering, Farm("domains"), 20)
    assert len(asked) == 80
    assert len(steering.memory) == known


def test_the_memory_that_is_counted_is_what_is_held():
    steering = begun("paths")
    for _ in range(3):
        farms.drive(steering, Farm("paths"), 10)
        counted = sum(steering.measures().values())
        saved = farms.table_bytes(steering) - steering.guard._unnoted.nbytes
        assert saved < counted < 1.5 * saved


def test_a_crawl_that_lets_go_for_memory_goes_on_exactly_from_its_saved_state():
    farm = Farm("paths", 700)
    whole = begun("paths", max_bytes=LIMIT)
    expected = farms.drive(whole, farm, 70)
    for cut in (33, 51):
        half, rest = begun("paths", max_bytes=LIMIT), navigator()
        farms.drive(half, farm, cut)
        rest.load(half.state())
        assert rest.max_bytes == LIMIT
        assert farms.drive(rest, farm, 70 - cut) == expected[cut:]
        assert rest.shed_links == whole.shed_links
    assert whole.shed_links.for_memory > 0


def test_the_memory_of_shed_rows_is_freed():
    steering = begun("paths")
    farms.drive(steering, Farm("paths"), 60)
    before = steering.frontier.row_bytes
    steering.frontier.shed(1000)
    assert steering.frontier.row_bytes == before
    waiting = steering.frontier.state()["block"]["rows"]["page"]
    steering.frontier.compact()
    assert steering.frontier.row_bytes < before / 10
    assert len(steering.frontier) == 1000
    pages = steering.frontier.state()["block"]["rows"]["page"]
    assert set(pages.tolist()) <= set(waiting.tolist())
    best = steering.frontier.best()
    assert steering.frontier.take(0.0).score == best


# --------------------------------------------------------------------------- after a kill


def killed(folder, kind, visits, max_bytes):
    command = [sys.executable, "-m", "tests.farms", folder, kind, visits, max_bytes]
    ended = subprocess.run(list(map(str, command)), cwd=Path(__file__).parents[2])
    assert ended.returncode == -signal.SIGKILL


def test_a_killed_crawl_of_a_farm_is_resumed_exactly_also_with_another_limit(tmp_path):
    limits = [2 << 20, 1 << 20]
    expected, whole = [], begun("domains")
    for limit in limits:
        whole.limit_bytes(limit)
        expected += farms.drive(whole, Farm("domains", 500), 40)
    killed(tmp_path / "killed", "domains", 40, limits[0])
    killed(tmp_path / "killed", "domains", 40, limits[1])
    asked, resumed = farms.crawl(tmp_path / "killed", "domains", 20)  # with the last limit
    assert resumed.max_bytes == limits[1]
    assert asked == farms.drive(whole, Farm("domains", 500), 20)
    assert resumed.shed_links == whole.shed_links
    assert resumed.shed_links.for_memory > 0
    assert np.array_equal(resumed.frontier._block.page, whole.frontier._block.page)


def test_a_crawl_begun_without_limits_goes_on_without_them():
    steering = begun("subdomains", guard=LiveGuard(bounded=False))
    farms.drive(steering, Farm("subdomains"), 40)
    assert len(steering.memory) > 5000
    again = navigator(LiveGuard(bounded=False))
    again.load(steering.state())
    assert farms.drive(again, Farm("subdomains"), 3) == farms.drive(steering, Farm("subdomains"), 3)


# --------------------------------------------------------------------------- whole crawls


def begin_crawl(folder, **more):
    said = {"topic": "geology", "seeds": ("geology",), "world": "synthetic:pages=2000"}
    plan = Plan(**said, judge="label:geology", agent="breadth_first", budget=60, **more)
    create_crawl(folder, plan)


def nothing(*_):
    """Nobody watches."""


def test_a_crawl_that_reaches_its_memory_limit_stops_cleanly_and_goes_on(tmp_path, monkeypatch):
    begin_crawl(tmp_path, max_memory="2G")
    with monkeypatch.context() as patched:
        patched.setattr(keeping, "resident_size", lambda: 3 << 30)
        ended = run_crawl(tmp_path, nothing)
    assert ended.outcome.reason == keeping.MEMORY_SPENT == status(tmp_path)["stopped"]
    assert 0 < ended.outcome.pages < 60
    again = run_crawl(tmp_path, nothing, max_memory="4G")
    assert (again.outcome.reason, again.outcome.pages) == ("budget spent", 60)
    assert status(tmp_path)["settings"]["max_memory"] == "4G"


def test_a_person_is_told_once_that_memory_costs_links_and_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(keeping, "table_bytes", lambda limit: 10_000)
    monkeypatch.setattr(keeping, "resident_size", lambda: 3 << 40)
    begin_crawl(tmp_path, max_memory="2G")
    monkeypatch.setattr(keeping, "MEASURE_EVERY", 20)
    told = CliRunner().invoke(app, ["resume", str(tmp_path), "--max-memory", "1.5G"]).output
    said = "to keep to 1.5 GB of memory, links never seen before are ignored"
    assert told.count(said) == 1
    assert "the memory limit of 1.5 GB is reached: go on with a larger --max-memory" in told
    assert "because memory was full" in status(tmp_path)["dropped"]


def test_a_limit_of_memory_that_cannot_be_kept_is_refused():
    with pytest.raises(HoneyguideError, match="max memory must be at least 512 MB"):
        Plan(topic="x", seeds=("y",), max_memory="100M")


@pytest.mark.parametrize(
    ("size", "told"),
    [
        ("99999999T", "is more memory than any machine has"),
        ("100M", "100M is too little memory for a crawl: at least 512M is needed"),
        ("much", "'much' is not a size of memory: write it as 512M or 2G"),
    ],
)
@pytest.mark.parametrize("command", ["crawl", "resume"])
def test_a_wrong_limit_of_memory_is_a_wrong_flag_and_leaves_nothing_behind(
    tmp_path, command, size, told
):
    task = ["--topic", "geology", "--seed", "geology", "--world", "synthetic:pages=2000"]
    said = [str(tmp_path / "out")] if command == "resume" else [*task, "--out", tmp_path / "out"]
    program = Path(sys.executable).parent / "honeyguide"
    done = subprocess.run(
        [program, command, *said, "--max-memory", size], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert "'--max-memory'" in done.stderr
    assert told in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_given_more_memory_than_any_machine_has_goes_on(tmp_path):
    begin_crawl(tmp_path, max_memory="99999999T")
    assert run_crawl(tmp_path, nothing).outcome.pages == 60


@pytest.mark.parametrize(("written", "size"), [("536870912", "536870912"), ('"1G"', "1G")])
def test_a_file_says_a_limit_of_memory_as_text_or_in_bytes(tmp_path, written, size):
    (tmp_path / "crawl.toml").write_text(f"max_memory = {written}\nbudget = 3\n")
    task = ["--topic", "geology", "--seed", "geology", "--world", "synthetic:pages=2000"]
    config = ["--config", str(tmp_path / "crawl.toml"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["crawl", *task, *config])
    assert done.exit_code == 0, done.output
    assert status(tmp_path / "out")["settings"]["max_memory"] == size


@pytest.mark.parametrize(("written", "code"), [("100", 2), ("true", 1), ("1.5", 1)])
def test_a_file_with_a_wrong_limit_of_memory_is_refused(tmp_path, written, code):
    (tmp_path / "crawl.toml").write_text(f"max_memory = {written}\n")
    task = ["crawl", "--topic", "x", "--seed", "y", "--out", tmp_path / "out"]
    program = Path(sys.executable).parent / "honeyguide"
    command = [program, *task, "--config", tmp_path / "crawl.toml"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == code
    assert "memory" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_of_an_earlier_version_goes_on_by_its_rules(tmp_path, monkeypatch):
    begin_crawl(tmp_path, guard="watch")
    old = {n: v for n, v in settings(tmp_path).items() if n not in ("bounded", "max_memory")}
    with closing(connect(tmp_path)) as database, database:
        row = with_checksum("settings", json.dumps(old))
        database.execute("REPLACE INTO about VALUES (?, ?, ?)", row)
    made = []
    monkeypatch.setattr(
        keeping, "RecordingNavigator", lambda *all: made.append(all[0]) or RecordingNavigator(*all)
    )
    run_crawl(tmp_path, nothing, budget=5)
    assert made[0].guard._domains is None
    assert Plan(**old).open().navigator().guard._domains is not None


class Answers(BaseHTTPRequestHandler):
    """A farm over HTTP."""

    farm = Farm("domains", links=3000)
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = f"http://{self.headers['host']}{self.path}"
        page = self.farm.visit(Link(url)).page
        anchors = "".join(f'<a href="{link.url}">{link.url[7:13]}</a> ' for link in page.links)
        body = f"<p>{page.text}</p>{anchors}".encode()
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def most_memory(process):
    """Kilobytes that a process takes at the most until it ends, as the system counts them."""
    most = 0
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        most = max([most, *map(int, re.findall(r"VmHWM:\s+(\d+) kB", status))])
        time.sleep(0.05)
    return most


def test_a_live_crawl_of_a_farm_keeps_to_the_memory_it_was_given(tmp_path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    where = ["--resolve", f"*=127.0.0.1:{server.server_port}", "--allow-private", "--delay", "0"]
    task = ["--topic", "geology", "--seed", SEED, "--budget", "15", "--max-memory", "512M"]
    program = Path(sys.executable).parent / "honeyguide"
    command = [program, "crawl", *where, *task, "--out", tmp_path / "farm"]
    with (tmp_path / "said").open("w+") as said:
        process = subprocess.Popen(list(map(str, command)), stdout=said, stderr=said)
        most = most_memory(process)
        said.seek(0)
        told = said.read()
    server.shutdown()
    server.server_close()
    assert process.returncode == 0, told
    assert most < 512 << 10
    assert "15 fetched (budget spent)" in told
    assert told.count("to keep to 512 MB of memory, links never seen before are ignored") == 1
