"""The log of a crawl, its figures and its metrics."""

import json
import logging
import math
import re
from logging.handlers import RotatingFileHandler
from pathlib import Path

import pytest

from honeyguide.contracts import Cut, Link, OfHost, Page, Response, Verdict, Visit
from honeyguide.engine.loop import Limits
from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan
from honeyguide.storage import crawl_log
from honeyguide.storage.crawl_log import HEARTBEAT, LOG, LogSettings, logging_to, tell
from honeyguide.storage.figures import Figures, Tally, failed_sentence, figures_of
from honeyguide.storage.metrics import exposition, write_metrics
from honeyguide.storage.visit_log import VisitLog

HOSTILE = "\x1b]0;owned\x07 [bold]x\nnext"


def told(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def log(tmp_path):
    """What is logged within a test, as JSON objects."""
    file = tmp_path / "crawl.log"
    with logging_to(LogSettings("debug", "json", file)):
        yield lambda: told(file)


def visit(url="http://a.example/x", failure="", **more):
    link, relevant, title = Link(url), more.pop("relevant", False), more.pop("title", "A page")
    page = None if failure else Page(url, title, "text", ())
    response = Response(link, url, more.pop("status", 200), {}, b"12345")
    return Visit(link, page, Verdict(0.5, relevant), response, failure, **more)


class Guard:
    def __init__(self):
        self.count = 0

    def report(self):
        return [Cut("calendar", self.count, "http://a.example/2031/")] if self.count else []


# --------------------------------------------------------------------------- lines


def test_a_line_of_text_says_when_what_and_with_which_figures(tmp_path):
    file = tmp_path / "crawl.log"
    with logging_to(LogSettings(file=file)):
        tell("order", "denied: a.example", count=3, host="a.example", said="two words")
        tell("page", "not at this level", logging.DEBUG)
    [line] = file.read_text().splitlines()
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO order: denied: a\.example"
        r' count=3 host=a\.example said="two words"',
        line,
    )


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_line_stays_one_line_and_hides_nothing(tmp_path, form):
    file = tmp_path / "crawl.log"
    with logging_to(LogSettings("info", form, file)):
        tell("page", f"title {HOSTILE}", title=HOSTILE)
    [line] = file.read_text().splitlines()
    assert not re.search(r"[\x00-\x1f\x7f]", line)
    assert "[bold]x" in line
    if form == "json":
        assert json.loads(line)["title"] == HOSTILE


def test_without_a_level_only_heartbeats_are_printed(capsys):
    with logging_to(LogSettings()):
        tell("start", "the crawl begins")
        tell(HEARTBEAT, "5 of 10 pages", pages=5)
        tell("host limited", "a.example wants a pause", logging.WARNING)
    assert capsys.readouterr().err == "5 of 10 pages\n"
    tell(HEARTBEAT, "nobody listens any more")
    assert capsys.readouterr().err == ""


def test_with_a_live_view_no_heartbeat_is_printed(capsys):
    with logging_to(LogSettings(), heartbeats=False):
        tell(HEARTBEAT, "5 of 10 pages")
    assert capsys.readouterr().err == ""


def test_a_log_file_is_rotated(tmp_path, monkeypatch):
    monkeypatch.setattr(crawl_log, "FILE_BYTES", 1000)
    file = tmp_path / "crawl.log"
    with logging_to(LogSettings(file=file)):
        assert isinstance(LOG.handlers[-1], RotatingFileHandler)
        for number in range(200):
            tell("order", f"number {number}")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["crawl.log", *(f"crawl.log.{number}" for number in range(1, 6))]
    assert "number 199" in file.read_text()


def test_settings_that_mean_nothing_are_refused(tmp_path):
    with pytest.raises(HoneyguideError, match="a log level is debug, info, warning, error"):
        LogSettings("loud")
    with pytest.raises(HoneyguideError, match="a log format is text, json, not 'xml'"):
        LogSettings(format="xml")
    with (
        pytest.raises(HoneyguideError, match="cannot write"),
        logging_to(LogSettings(file=tmp_path / "no" / "crawl.log")),
    ):
        pass


# --------------------------------------------------------------------------- visits


def test_each_page_is_a_line_at_debug(log):
    VisitLog().note(visit(relevant=True), Guard())
    [line] = log()
    assert (line["event"], line["level"], line["status"], line["bytes"]) == (
        "page",
        "debug",
        200,
        5,
    )
    assert line["message"] == "http://a.example/x relevant"


def test_hosts_that_need_attention_are_told(log):
    visits, guard = VisitLog(), Guard()
    visits.note(visit(failure="status 429", host_delay=30.0), guard)
    visits.note(visit(failure="timeout", learnt=(OfHost("a.example", "failures", 5),)), guard)
    for _ in range(3):
        visits.note(visit(failure="robots"), guard)
    lines = [line for line in log() if line["event"] not in ("page", "failure")]
    assert [(line["event"], line["host"]) for line in lines] == [
        ("host limited", "a.example"),
        ("host unreachable", "a.example"),
        ("robots refused", "a.example"),
    ]
    assert lines[0]["seconds"] == 30.0


def test_the_first_failure_of_each_kind_is_told(log):
    visits, guard = VisitLog(), Guard()
    for failure in ("dns", "timeout", "dns", "dns"):
        visits.note(visit(failure=failure), guard)
    assert [line["kind"] for line in log() if line["event"] == "failure"] == ["dns", "timeout"]


def test_what_guards_cut_is_told_again_when_it_has_doubled(log):
    visits, guard = VisitLog(), Guard()
    for number in range(64 * 9):
        guard.count = number
        visits.note(visit(), guard)
    counts = [line["count"] for line in log() if line["event"] == "cut"]
    assert counts == [63, 127, 255, 511]


# --------------------------------------------------------------------------- figures


class Running:
    """As much of a crawl as is counted."""

    is_paused, running = False, 3

    def __init__(self, pages=100):
        self.limits = Limits(pages=pages)
        self.navigator = self.memory = self
        self.visits, self.relevant_found, self.frontier = 40, 7, range(12)


def test_a_tally_counts_the_visits_of_a_run():
    now = 0.0
    tally = Tally(clock=lambda: now)
    assert tally.figures() == Figures()
    tally.begin(Running())
    for number in range(40):
        now += 0.5
        url = f"http://{'ab'[number % 2]}.example/{number}"
        tally.note(visit(url, "dns" if number % 10 == 0 else "", relevant=number % 4 == 1))
    figures = tally.figures()
    assert (figures.pages, figures.relevant, figures.waiting, figures.hosts) == (40, 7, 12, 2)
    assert (figures.failures, figures.budget, figures.in_flight) == ({"dns": 4}, 100, 3)
    assert math.isclose(figures.rate, 2.0)
    assert figures.harvest == 0.25
    assert tally.harvests() == [0.25, 0.25]
    assert tally.top_hosts(1)[0][0] == "b.example"
    assert figures.memory > 0
    assert re.fullmatch(
        r"40 of 100 pages, 2\.0 a second, 7 relevant, 4 failed \(4 dns\), 2 hosts, 12 waiting,"
        r" [\d,]+ MB",
        figures.sentence(),
    )


def test_failures_are_named_by_kind_and_the_rare_ones_together():
    failures = {"dns": 3, "timeout": 9, "a": 1, "b": 1, "c": 1, "d": 1, "e": 2}
    assert failed_sentence(failures) == ("18 failed (9 timeout, 3 dns, 2 e, 1 a, 1 b, 2 others)")
    assert failed_sentence({}) == ""


def test_figures_of_a_folder_are_those_of_the_crawl(tmp_path):
    plan = Plan(topic="geology", seeds="geology", world="synthetic:pages=500", budget=30)
    result = plan.run(tmp_path / "crawl")
    figures = figures_of(tmp_path / "crawl")
    assert (figures.pages, figures.relevant, figures.budget) == (30, result.relevant, 30)
    assert not figures.is_running


# --------------------------------------------------------------------------- metrics


SAMPLE = re.compile(r'(honeyguide_\w+)\{((?:\w+="(?:[^"\\\n]|\\["\\n])*",?)+)\} (\S+)')


def test_metrics_are_in_the_text_exposition_format():
    crawls = {"rocks": Figures(pages=5, failures={"dns": 2}), 'a"b\\c\n': Figures(harvest=0.25)}
    lines = exposition(crawls).splitlines()
    declared = {}
    for line in lines:
        if line.startswith("# TYPE"):
            _, _, name, kind = line.split()
            assert name not in declared
            declared[name] = kind
        elif not line.startswith("# HELP"):
            name, _, value = SAMPLE.fullmatch(line).groups()
            assert name in declared and math.isfinite(float(value))
    assert 'honeyguide_pages_total{crawl="rocks"} 5' in lines
    assert 'honeyguide_failures_total{crawl="rocks",kind="dns"} 2' in lines
    assert 'honeyguide_harvest_ratio{crawl="a\\"b\\\\c\\n"} 0.25' in lines


def test_the_file_of_metrics_is_replaced_whole(tmp_path):
    file = tmp_path / "crawl.prom"
    write_metrics(file, {"rocks": Figures(pages=1)})
    first = file.read_text()
    write_metrics(file, {"rocks": Figures(pages=2)})
    assert first != file.read_text() and file.read_text().endswith("\n")
    assert [path.name for path in tmp_path.iterdir()] == ["crawl.prom"]
    with pytest.raises(HoneyguideError, match="cannot write"):
        write_metrics(tmp_path / "no" / "crawl.prom", {})


def test_the_grafana_board_asks_for_metrics_that_there_are():
    board = json.loads((Path(__file__).parents[2] / "examples/grafana/honeyguide.json").read_text())
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    there_are = set(re.findall(r"honeyguide_\w+", exposition({"x": Figures(failures={"dns": 1})})))
    assert set(re.findall(r"honeyguide_\w+", " ".join(asked))) <= there_are
    assert len(asked) >= 6
