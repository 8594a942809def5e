"""Follow a crawl from the command line: log, metrics, and the live view on a terminal."""

import io
import json
import re

import pytest
from typer.testing import CliRunner

from honeyguide.cli import app
from honeyguide.cli.live_view import View, sparkline
from honeyguide.cli.printable_console import PrintableConsole
from honeyguide.storage.figures import Tally
from tests.storage.test_crawl_log import HOSTILE, Running, visit
from tests.terminals import shown

SMALL = ("--world", "synthetic:pages=800", "--topic", "geology", "--seed", "geology")


def crawl(*more):
    return CliRunner().invoke(app, ["crawl", *SMALL, "--encoder", "ngrams:64", *map(str, more)])


def test_a_crawl_writes_its_log_and_its_metrics(tmp_path):
    log, metrics = tmp_path / "crawl.log", tmp_path / "crawl.prom"
    out = ("--budget", 60, "--out", tmp_path / "out")
    done = crawl(*out, "--log-file", log, "--log-format", "json", "--metrics", metrics)
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    events = [line["event"] for line in lines]
    assert (events[0], events[-1]) == ("start", "end")
    assert {"revision", "failure"} < set(events) and "page" not in events
    assert (lines[-1]["pages"], lines[-1]["reason"]) == (60, "budget spent")
    assert 'honeyguide_pages_total{crawl="out"} 60\n' in metrics.read_text()
    assert 'honeyguide_running{crawl="out"} 0\n' in metrics.read_text()
    assert done.stderr == ""


def test_the_last_sentence_names_failures_by_kind(tmp_path):
    done = crawl("--budget", 60, "--out", tmp_path / "out", "--log-level", "debug")
    assert done.stderr.count(" DEBUG page: ") == 60
    failed = re.search(r"among 60 fetched \(budget spent\); (\d+) failed \(([^)]+)\)", done.stdout)
    assert int(failed[1]) == sum(int(part.split()[0]) for part in failed[2].split(", "))


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--log-level", "loud"), "a log level is debug, info, warning, error, not 'loud'"),
        (("--log-format", "xml"), "a log format is text, json, not 'xml'"),
        (("--log-file", "no/such/folder/x.log"), "cannot write no/such/folder/x.log"),
        (("--metrics", "no/such/folder/x.prom"), "cannot write no/such/folder/x.prom"),
    ],
)
def test_what_cannot_be_logged_is_said_before_the_first_page(tmp_path, flags, sentence):
    done = crawl("--out", tmp_path / "out", *flags)
    assert done.exit_code == 1
    assert sentence in str(done.exception)


# --------------------------------------------------------------------------- the live view


def picture(width, height, pages=60, title="Lava", paused=False):
    tally, running = Tally(clock=lambda: 10.0), Running()
    running.is_paused = paused
    tally.begin(running)
    for number in range(pages):
        url, failure = f"http://host{number % 9}.example/{number}", "dns" if number == 3 else ""
        tally.note(visit(url, failure, relevant=number % 3 == 0, title=title))
    screen = PrintableConsole(
        width=width, height=height, record=True, markup=False, file=io.StringIO()
    )
    screen.print(View(tally, f"rocks {title}", screen, lambda: 75.0).render())
    return screen.export_text()


def test_a_large_terminal_shows_all_of_it():
    said = picture(100, 24)
    assert "running 1 min 15 s" in said
    assert "40 of 100 pages" in said
    assert "7 relevant, 33% of the last 100 " in said
    assert "host0.example" in said and "Lava  http://host" in said
    assert "1 failed (1 dns)" in said
    assert "paused 1 min 15 s" in picture(100, 24, paused=True)


@pytest.mark.parametrize("size", [(100, 24), (80, 10), (60, 9), (59, 24), (200, 8), (20, 3)])
def test_the_view_fits_the_terminal(size):
    lines = picture(*size).splitlines()
    assert len(lines) < size[1]
    assert max(map(len, lines)) <= size[0]


def test_the_web_cannot_speak_to_the_terminal():
    said = picture(120, 24, title=HOSTILE)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", said)
    assert "[bold]x" in said


def test_bars_of_the_harvest_grow_with_it():
    assert sparkline([]) == ""
    assert sparkline([0.0, 0.1, 0.2]) == "▁▅█"
    assert sparkline([0.0, 0.5, 1.0]) == "▁▅█"


def test_a_terminal_sees_the_view_and_the_last_sentence(tmp_path):
    command = ["crawl", *SMALL, "--encoder", "ngrams:64", "--budget", "60"]
    script = {"argv": [*command, "--out", str(tmp_path / "out")]}
    said = shown([script], TERM="xterm-256color", COLUMNS="100", LINES="30")[0].decode()
    assert "latest relevant pages" in said
    assert "of 60 pages" in said
    assert "among 60 fetched (budget spent)" in said
    assert "Traceback" not in said
