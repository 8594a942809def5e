"""Parts that are not in the package: named by their place, offered by installed packages."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from contextlib import closing

import pytest

from honeyguide import registry
from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan
from honeyguide.registry import registration
from honeyguide.storage.database import with_checksum
from honeyguide.storage.stored_plan import with_absolute_paths
from tests.test_cli import PROGRAM, SMALL, exported, honeyguide, refused

MINE = '''
import os
import time
from pathlib import Path

from honeyguide.agents.best_first import BestFirst
from honeyguide.contracts import Agent, Page, Verdict
from honeyguide.registry import part

with open(Path(__file__).with_suffix(".imported"), "a") as file:
    file.write(f"{os.getpid()}\\n")


class Slow(BestFirst):
    """The best links first, at leisure."""

    def __init__(self, goal, encoder=None, seconds: float = 0.0):
        super().__init__(goal)
        self.seconds = seconds

    def learn(self, steps):
        time.sleep(self.seconds)


@part("judge", "long_read", argument="words", files="texts")
class LongRead:
    """A page that takes a while to read."""

    def __init__(self, words: int = 50, texts: str = ""):
        self.words = words

    def __call__(self, page: Page) -> Verdict:
        return Verdict(1.0, True) if len(page.text.split()) > self.words else Verdict(0.0, False)


def factory():
    return None
'''


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A folder with a module that no other test has imported."""
    name = f"mine_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    yield name
    sys.path[:] = [folder for folder in sys.path if folder != str(tmp_path)]
    registration.registered["judge"].pop("long_read", None)


def imports(folder, name):
    """How many processes imported the module."""
    file = folder / f"{name}.imported"
    return len(file.read_text().splitlines()) if file.exists() else 0


def test_a_part_is_made_by_the_place_of_its_class_with_its_settings(mine):
    judge = registry.make("judge", f"{mine}:LongRead:words=7")
    assert judge.words == 7
    assert registry.make("judge", f"{mine}:LongRead:9").words == 9  # as its @part says
    assert registry.make("judge", f"./{mine}.py:LongRead:8").words == 8
    assert registry.make("judge", "long_read:6").words == 6


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("{mine}:LongReed", "no class in {mine} named 'LongReed'; did you mean 'LongRead'?"),
        ("{mine}:Slow", "is not for 'judge': it has no __call__"),
        ("{mine}:factory", "is not a class: write @part"),
        ("os:system:command=true", "os:system is not a class"),
        ("subprocess:Popen:args=true", "is not for 'judge': it has no __call__"),
        ("no.such.module:Judge", "and no such module here or installed"),
        ("./nowhere.py:Judge", "there is no file ./nowhere.py"),
        ("keywordz:Judge", "no judge named 'keywordz', and no such module"),
        ("labl:Birds", "did you mean 'label'"),
    ],
)
def test_what_cannot_be_a_part_gets_a_sentence(mine, spec, sentence):
    with pytest.raises(HoneyguideError) as raised:
        registry.make("judge", spec.format(mine=mine))
    assert sentence.format(mine=mine) in str(raised.value)


def test_a_module_that_fails_is_named_with_the_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "failing.py").write_text("a = 1\nb = a / 0\n")
    (tmp_path / "lacking.py").write_text("import no_such_thing\n")
    with pytest.raises(HoneyguideError, match=r"ZeroDivisionError: .*failing.py, line 2"):
        registry.make("judge", "./failing.py:Judge")
    with pytest.raises(HoneyguideError, match="there is no module 'no_such_thing'"):
        registry.make("judge", "./lacking.py:Judge")


def test_a_name_of_honeyguide_cannot_be_taken(mine):
    with pytest.raises(HoneyguideError, match="named 'guide': choose another name"):
        registry.part("agent", "guide")(type("Mine", (), {"__module__": mine}))


def test_a_folder_stores_the_place_of_a_part_and_the_whole_paths_of_its_files(mine, tmp_path):
    registry.make("judge", f"{mine}:LongRead")
    assert with_absolute_paths("judge", "long_read:7") == f"{mine}:LongRead:7"
    (tmp_path / "some.txt").write_text("a text")
    stored = with_absolute_paths("judge", f"./{mine}.py:LongRead:texts=some.txt,words=3")
    assert stored == f"{tmp_path}/{mine}.py:LongRead:texts={tmp_path}/some.txt,words=3"


def test_a_crawl_with_parts_from_outside_is_killed_and_resumed_from_another_folder(mine, tmp_path):
    places = ("--agent", f"{mine}:Slow:seconds=0.05", "--judge", f"{mine}:LongRead:words=20")
    out = tmp_path / "out"
    command = [PROGRAM, "crawl", *SMALL, *places, "--budget", "400", "--out", out]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (out / "crawl.sqlite").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = imports(tmp_path, mine)
    done = honeyguide("resume", out, "--budget", 40, folder="/")
    assert done.returncode == 0, done.stderr
    assert f"code from outside honeyguide: {mine}:Slow (looked for in {tmp_path})" in done.stderr
    assert f"code from outside honeyguide: {mine}:LongRead" in done.stderr
    assert imports(tmp_path, mine) == before + 1
    urls = [row["url"] for row in exported(out)]
    assert len(set(urls)) == len(urls) >= 40


def test_looking_at_a_folder_imports_nothing_from_outside(mine, tmp_path):
    out = tmp_path / "out"
    done = honeyguide("crawl", *SMALL, "--judge", f"{mine}:LongRead", "--budget", 9, "--out", out)
    assert done.returncode == 0, done.stderr
    before = imports(tmp_path, mine)
    for command in ("status", "check"):
        assert honeyguide(command, out).returncode == 0
    exported(out)
    assert imports(tmp_path, mine) == before
    (tmp_path / f"{mine}.py").unlink()
    assert "no such module here or installed" in honeyguide("resume", out).stderr


def test_a_judge_from_outside_judges_in_other_processes_too(mine, tmp_path):
    from tests.web.servers import page, served

    text = b"<title>t</title><p>" + b"word " * 60 + b"</p>"
    with served({"/": page(text + b'<a href="/a">a</a>'), "/a": page(text)}) as server:
        done = honeyguide(
            "crawl", "--topic", "words", "--seed", f"http://127.0.0.1:{server.port}/",
            "--allow-private", "--delay", 0, "--judge", f"{mine}:LongRead:words=20",
            "--parsers", 1, "--budget", 5, "--out", tmp_path / "out",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {row["relevance"] for row in exported(tmp_path / "out")} == {1.0}
    assert imports(tmp_path, mine) >= 2


SCRIPT = '''
from pathlib import Path

from honeyguide import Plan, part
from honeyguide.contracts import Page, Verdict
from honeyguide.storage.crawl_folder import create_crawl, run_crawl


@part("judge", "everything")
class Everything:
    """Every page is relevant."""

    def __call__(self, page: Page) -> Verdict:
        return Verdict(1.0, True)

{guard}
plan = Plan(topic="geology", seeds=("geology",), world="synthetic:pages=2000", judge="everything",
            budget=10)
create_crawl(Path("out"), plan)
run_crawl(Path("out"), lambda plan, recorded, visit: None)
'''


def run_script(folder, guard):
    text = textwrap.dedent(SCRIPT).replace("{guard}", guard)
    if guard:
        head, _, tail = text.partition(guard)
        text = head + guard + textwrap.indent(tail, "    ")
    (folder / "script.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr


def test_a_crawl_begun_by_a_script_with_its_own_part_is_resumed_by_the_command(tmp_path):
    run_script(tmp_path, 'if __name__ == "__main__":')
    done = honeyguide("resume", tmp_path / "out", "--budget", 20, folder="/")
    assert done.returncode == 0, done.stderr
    assert f"code from outside honeyguide: {tmp_path}/script.py:Everything" in done.stderr
    assert [row["relevant"] for row in exported(tmp_path / "out")] == [True] * 20


def test_a_script_that_crawls_when_it_is_imported_is_not_run_twice(tmp_path):
    run_script(tmp_path, "")
    done = honeyguide("resume", tmp_path / "out", "--budget", 20, folder="/")
    assert done.returncode != 0
    assert "script.py begins a crawl when it is imported" in done.stderr


@pytest.fixture
def installed(tmp_path):
    """A folder with a package as pip installs it, to be put on the path."""
    site = tmp_path / "site"
    info = site / "careful_agent-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: careful-agent\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[honeyguide.parts]\n"
        "agent.careful = careful_agent:Careful\n"
        "agent.guide = careful_agent:Careful\n"
        "judge.broken = careful_broken:Judge\n"
    )
    (site / "careful_agent.py").write_text(
        "from honeyguide.agents.best_first import BestFirst\n\n\n"
        'class Careful(BestFirst):\n    """Takes care."""\n'
    )
    (site / "careful_broken.py").write_text("1 / 0\n")
    return {"PYTHONPATH": f"{site}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}


def test_an_installed_package_offers_parts_by_entry_points(installed, tmp_path):
    shown = honeyguide("list", "agents", **installed).stdout
    assert "careful" in shown
    assert "Takes care." in shown
    assert shown.count("guide ") == 1, "honeyguide's own names come first"
    assert "(broken: the judge careful_broken:Judge cannot be imported" in (
        honeyguide("list", "judges", **installed).stdout
    )
    out = tmp_path / "out"
    done = honeyguide(
        "crawl", *SMALL, "--agent", "careful", "--budget", 9, "--out", out, **installed
    )
    assert done.returncode == 0, done.stderr
    done = honeyguide("resume", out, "--budget", 12, **installed)
    assert done.returncode == 0, done.stderr
    assert "code from outside honeyguide: careful_agent:Careful" in done.stderr
    shutil.rmtree(tmp_path / "site")
    assert "no agent named 'careful'" in honeyguide("resume", out).stderr


def test_a_plan_file_names_parts_from_outside(mine, tmp_path):
    lines = {"topic": "geology", "seed": ["geology"], "world": "synthetic:pages=2000"}
    lines |= {"judge": f"{mine}:LongRead:words=5", "agent": f"{mine}:Slow", "budget": 9}
    (tmp_path / "plan.toml").write_text(
        "".join(f"{k} = {json.dumps(v)}\n" for k, v in lines.items())
    )
    done = honeyguide("crawl", "--config", "plan.toml", "--out", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = honeyguide(
        "bench", *SMALL, "--agents", f"{mine}:Slow,random", "--runs", 1,
        "--budget", 20, "--out", "bench", folder=tmp_path,
    )  # fmt: skip
    assert shown.returncode == 0, shown.stderr


def test_a_class_of_one_s_own_is_a_part_in_a_plan_of_the_same_process(mine):
    plan = Plan(
        topic="geology", seeds=("geology",), world="synthetic:pages=2000", agent=f"{mine}:Slow",
        judge=f"{mine}:LongRead:5", budget=10,
    )  # fmt: skip
    assert plan.simulate().pages == 10


def test_one_file_may_be_named_in_both_ways(mine):
    assert registry.make("judge", f"./{mine}.py:LongRead:8").words == 8
    assert registry.make("judge", f"{mine}:LongRead:9").words == 9
    assert registry.make("judge", f"./{mine}.py:LongRead:7").words == 7


def changed(folder, **settings):
    """Change the settings of a crawl's folder as a stranger could, checksum included."""
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as connection:
        [[value]] = connection.execute("SELECT value FROM about WHERE key = 'settings'")
        row = with_checksum("settings", json.dumps(json.loads(value) | settings))
        connection.execute("REPLACE INTO about VALUES (?,?,?)", row)
        connection.commit()


@pytest.fixture
def strange(tmp_path):
    """The folder of a crawl, and beside it a file that leaves a trace when it runs."""
    done = honeyguide("crawl", *SMALL, "--budget", 5, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    evil = tmp_path / "evil"
    evil.mkdir()
    trace = f"open({str(tmp_path / 'ran')!r}, 'w').close()\n"
    for name in ("wordllama.py", "evil.py"):
        (evil / name).write_text(f"{trace}class Evil: pass\n")
    return tmp_path / "out"


@pytest.mark.parametrize(
    "settings",
    [
        {"part_folders": ["{evil}"]},
        {"part_folders": ["evil"]},
        {"agent": "beam:{evil}/evil.py:Evil"},
        {"encoder": "joined:{evil}/evil.py:Evil+ngrams"},
        {"encoder": "joined:evil:Evil+ngrams", "part_folders": ["{evil}"]},
    ],
)
def test_a_strange_folder_runs_no_code_that_is_not_named(strange, tmp_path, settings):
    evil = str(tmp_path / "evil")
    changed(strange, **json.loads(json.dumps(settings).replace("{evil}", evil)))
    done = honeyguide("resume", strange, "--budget", 9, folder=tmp_path)
    assert not (tmp_path / "ran").exists(), done.stderr
    for command in ("status", "check"):
        honeyguide(command, strange, folder=tmp_path)
    assert not (tmp_path / "ran").exists()


def test_a_part_from_outside_within_another_part_is_resumed_from_another_folder(mine, tmp_path):
    out = tmp_path / "out"
    done = honeyguide(
        "crawl", *SMALL, "--agent", f"beam:./{mine}.py:Slow", "--budget", 9, "--out", out,
        folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = honeyguide("resume", out, "--budget", 12, folder="/")
    assert done.returncode == 0, done.stderr
    assert f"{tmp_path}/{mine}.py:Slow" in done.stderr


def test_a_file_may_import_modules_beside_it_also_after_a_resume(tmp_path):
    (tmp_path / "beside_it.py").write_text("WORDS = 5\n")
    (tmp_path / "part.py").write_text(f"from beside_it import WORDS\n{MINE}")
    out = tmp_path / "out"
    judge = ("--judge", "part.py:LongRead")
    done = honeyguide("crawl", *SMALL, *judge, "--budget", 9, "--out", out, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert honeyguide("resume", out, "--budget", 12, folder="/").returncode == 0


def test_what_a_constructor_or_an_exit_says_is_told_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "wrong.py").write_text("class Judge:\n  def\n")
    (tmp_path / "raising.py").write_text(
        "class Judge:\n    def __init__(self): raise ValueError('no way')\n"
        "    def __call__(self, page): pass\n"
    )
    with pytest.raises(HoneyguideError, match=r"SystemExit: 0 .*leaving.py, line 2"):
        registry.make("judge", "./leaving.py:Judge")
    with pytest.raises(HoneyguideError, match=r"SyntaxError: .*wrong.py, line 2"):
        registry.make("judge", "./wrong.py:Judge")
    with pytest.raises(HoneyguideError, match=r"cannot be made: ValueError: no way .*line 2"):
        registry.make("judge", "./raising.py:Judge")


FAILING = """
from honeyguide.contracts import Page, Verdict
from honeyguide.agents.best_first import BestFirst


class Raising:
    def __call__(self, page: Page) -> Verdict:
        return Verdict(1 / (len(page.title) - len(page.title)), True)


class Silent:
    def __call__(self, page: Page) -> Verdict:
        return None


class Loud:
    def __call__(self, page: Page) -> Verdict:
        return Verdict(7.0, True)


class Stumbling(BestFirst):
    def learn(self, steps):
        raise ValueError("learnt nothing")
"""


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ("judge Raising", "has failed: ZeroDivisionError: division by zero ({file}, line 8)"),
        ("judge Silent", "gave None for http"),
        ("judge Loud", "return a Verdict with a relevance from 0 to 1"),
        ("agent Stumbling", "has failed: ValueError: learnt nothing ({file}, line 23)"),
    ],
)
def test_an_error_in_a_part_from_outside_is_one_sentence(tmp_path, part, sentence):
    kind, name = part.split()
    file = tmp_path / "failing.py"
    file.write_text(FAILING)
    said = refused(
        "crawl", *SMALL, f"--{kind}", f"{file}:{name}", "--budget", 9, "--out", tmp_path / "out"
    )
    assert sentence.format(file=file) in said


@pytest.mark.parametrize("spec", ["{mine}", "./{mine}.py"])
def test_a_file_without_a_class_is_told_how_to_name_one(mine, tmp_path, spec):
    said = spec.format(mine=mine)
    with pytest.raises(HoneyguideError, match=r"name a class in it, .*:CLASS"):
        registry.make("judge", said)


def test_a_class_of_an_interactive_session_judges_and_is_told_to_move_into_a_file(tmp_path):
    script = (
        "import honeyguide\n"
        "class J:\n"
        "    def __call__(self, page):\n"
        "        return honeyguide.Verdict(1.0, True)\n"
        "result = honeyguide.crawl('geology', 'geology', 'out', world='synthetic:pages=2000',"
        " judge=J, budget=9).run()\n"
        "print(result.relevant)\n"
    )
    done = subprocess.run(
        [sys.executable, "-"], input=script, cwd=tmp_path, capture_output=True, text=True,
        timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "9"
    assert "J is defined in an interactive session" in done.stderr
    told = honeyguide("resume", tmp_path / "out", "--budget", 12).stderr
    assert "J was defined in an interactive session, which has ended" in told
