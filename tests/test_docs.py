"""README and docs are executed: what they show is what happens."""

import ast
import os
import re
import shlex
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

import honeyguide
from honeyguide.cli import app
from honeyguide.errors import HoneyguideError, unknown
from honeyguide.registry import parts
from honeyguide.storage.exports import status
from tests.test_house import LAYERS

ROOT = Path(__file__).parent.parent
EXPERIMENTS = [
    ROOT / "experiments" / "README.md",
    *sorted((ROOT / "experiments" / "notes").glob("*.md")),
]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page, language):
    return [code for kind, code in BLOCK.findall(page.read_text()) if kind == language]


def write_files(page, folder):
    """Write the files of a page: a block whose first line is "# NAME" belongs to the file NAME."""
    for _, code in BLOCK.findall(page.read_text()):
        if named := re.match(r"# (\w+\.(?:py|toml))\n", code):
            with (folder / named[1]).open("a") as file:
                file.write(code)


def name(page):
    return str(page.relative_to(ROOT))


def run(command, folder):
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=110
    )


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as held:
        return held.getsockname()[1]


@contextmanager
def started(command, folder):
    """A command that goes on behind the others: the first line it says."""
    program = Path(sys.executable).parent / command[0]
    running = subprocess.Popen(
        [program, *command[1:]], cwd=folder, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        yield running.stdout.readline()
    finally:
        running.kill()
        running.communicate()


def visits(folder):
    try:
        return status(folder)["visits"]
    except HoneyguideError:  # it has just been started
        return 0


@contextmanager
def crawling(command, folder):
    """A crawl that goes on behind the others, once it has some pages."""
    program = Path(sys.executable).parent / command[0]
    running = subprocess.Popen([program, *command[1:]], cwd=folder, stdout=subprocess.DEVNULL)
    out = folder / command[command.index("--out") + 1]
    try:
        while visits(out) < 60:
            assert running.poll() is None
            time.sleep(0.05)
        yield
    finally:
        running.kill()
        running.wait()


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=name)
def test_the_python_on_a_page_runs(page, tmp_path):
    write_files(page, tmp_path)
    code = [each for each in blocks(page, "python") if not each.startswith("# mine.py")]
    done = run([sys.executable, "-c", "\n".join(code)], tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "console")], ids=name)
def test_the_commands_on_a_page_run(page, tmp_path):
    write_files(page, tmp_path)
    port = str(free_port())  # the one on the page may be taken
    with ExitStack() as behind:
        for block in blocks(page, "console"):
            for line in block.replace("\\\n", " ").replace("8765", port).splitlines():
                if line.startswith("$ honeyguide serve") and line.endswith(" &"):
                    command = [*shlex.split(line[2:-2]), "--port", port]
                    told = behind.enter_context(started(command, tmp_path))
                    assert told in block
                elif line.startswith("$ honeyguide crawl") and line.endswith(" &"):
                    behind.enter_context(crawling(shlex.split(line[2:-2]), tmp_path))
                elif line.startswith("$ honeyguide"):
                    done = run(shlex.split(line[2:]), tmp_path)
                    assert done.returncode == 0, f"{line}\n{done.stderr}"


def test_parts_written_as_the_docs_show_are_typed(tmp_path):
    write_files(ROOT / "docs" / "extend" / "parts.md", tmp_path)
    strict = ["--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path / "cache")]
    environment = os.environ | {"MYPYPATH": str(ROOT)}
    command = [sys.executable, "-m", "mypy", *strict, "mine.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=110
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", [*PAGES, *EXPERIMENTS], ids=name)
def test_every_link_of_a_page_to_a_file_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def anchors(page):
    """The names of a page's headings, as links name them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", [*PAGES, *EXPERIMENTS], ids=name)
def test_every_link_of_a_page_to_a_heading_leads_to_one(page):
    for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text()):
        assert anchor in anchors(page.parent / target if target else page), f"{target}#{anchor}"


@pytest.mark.parametrize("page", [*PAGES, *EXPERIMENTS], ids=name)
def test_a_page_cites_papers_by_author_and_year(page):
    assert not re.search(r"(?i)\bdocuments? 00\d", page.read_text())


def commands(group, name):
    for part, command in getattr(group, "commands", {}).items():
        yield from commands(command, f"{name} {part}")
    if not hasattr(group, "commands"):
        yield name


def test_the_page_of_commands_has_them_all_and_no_other():
    page = (ROOT / "docs" / "reference" / "commands.md").read_text()
    named = re.findall(r"^\| `(honeyguide [^`]+)` \|", page, re.MULTILINE)
    assert sorted(named) == sorted(commands(get_command(app), "honeyguide"))


def test_every_page_can_be_reached_from_the_readme():
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            targets = re.findall(r"\]\(([^)#:]+\.md)[^)]*\)", page.read_text())
            waiting += [(page.parent / target).resolve() for target in targets]
    assert {*PAGES, *EXPERIMENTS} <= reached


PACKAGE = Path(honeyguide.__file__).parent
PACKAGES = sorted(file.parent for file in PACKAGE.rglob("__init__.py") if file.parent != PACKAGE)
DESIGN = (ROOT / "docs" / "design.md").read_text()


@pytest.mark.parametrize("package", [each for each in PACKAGES if each.parent == PACKAGE], ids=name)
def test_the_page_of_the_design_names_every_package(package):
    assert f"\n| `{package.name}` | " in DESIGN


@pytest.mark.parametrize("page", [*PAGES, ROOT / "SECURITY.md", *EXPERIMENTS], ids=name)
def test_a_page_names_only_modules_that_exist(page):
    places = (ROOT, PACKAGE, ROOT / "experiments", PACKAGE / "source_finder")
    for path in re.findall(r"`((?:\w+/)+\w+\.py)`", page.read_text()):
        assert any((place / path).exists() for place in places), path


# --------------------------------------------------------------------------- the page of the design

PROSE = BLOCK.sub("", re.sub(r"^```\n.*?^```", "", DESIGN, flags=re.MULTILINE | re.DOTALL))
CODE = sorted(set(re.findall(r"`([^`\n]+)`", PROSE)) - {"|"})
SENTENCES = {str(unknown("agent", "bestfirst", parts("agent")))}  # that the page quotes


def members(node):
    """The names that a class or a function has: methods, fields, attributes and arguments."""
    for each in ast.walk(node):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield each.name
        elif isinstance(each, ast.Name | ast.arg):
            yield getattr(each, "id", None) or each.arg
        elif isinstance(each, ast.Attribute):
            yield each.attr


@cache
def known_names():
    """Every name that the package defines, with the names inside it."""
    found = {}
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.setdefault(node.name, set()).update(members(node))
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                for target in getattr(node, "targets", None) or [node.target]:
                    found.setdefault(getattr(target, "id", ""), set())
    return found


def is_path(code):
    return any((place / code).exists() for place in (ROOT, PACKAGE))


def is_command(code):
    program, _, rest = code.partition(" ")
    if program == "make":
        return re.search(rf"^{rest}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    if program == "python":
        path = rest.removeprefix("-m ")
        return is_path(path if path == rest else path.replace(".", "/") + ".py")
    return code in set(commands(get_command(app), "honeyguide"))


def is_name(code):
    """Whether a name, a dotted name or a call is one of the package, with all of its arguments."""
    try:
        node = ast.parse(code.lstrip("@"), mode="eval").body
    except SyntaxError:
        return False
    arguments = {each.arg for each in getattr(node, "keywords", [])}
    first, *rest = ast.unparse(getattr(node, "func", node)).removeprefix("honeyguide.").split(".")
    known = known_names()
    if first in ("testing", "visit"):  # a package, and an instance
        first, *rest = {"testing": rest, "visit": ["Visit", *rest]}[first]
    return first in known and {*rest, *arguments} <= known[first]


def is_table(code):
    """Whether it is a table of a crawl's database."""
    return any(
        f"CREATE TABLE {code} (" in file.read_text() for file in (PACKAGE / "storage").glob("*.py")
    )


def is_test(code):
    return any(f"def {code}(" in file.read_text() for file in (ROOT / "tests").rglob("*.py"))


@pytest.mark.parametrize("code", CODE)
def test_the_page_of_the_design_names_nothing_that_is_gone(code):
    is_known = code in SENTENCES or is_path(code) or is_name(code) or is_table(code)
    is_known = is_known or is_command(code) or (code.startswith("test_") and is_test(code))
    assert is_known, f"docs/design.md names `{code}`, which is not there"


@pytest.mark.parametrize(
    "code",
    """engine/gone.py  Navigator.vanish  Navigator(gone=1)  Gone  make gone  test_gone  \
python benchmarks/gone.py  honeyguide gone  honeyguide.testing.check_gone""".split("  "),
)
def test_what_is_gone_would_be_noticed(code):
    assert not (is_path(code) or is_name(code) or is_command(code) or is_test(code))


def test_the_page_of_the_design_shows_the_layers_as_they_are():
    shown = re.findall(r"^  \d  (\S.*?)  +\S.*$", DESIGN, re.MULTILINE)
    layers = [{each.strip() for each in re.split(r"[|,]", layer)} for layer in shown]
    assert layers == [
        {each.strip().removeprefix("honeyguide.") for each in re.split(r"[|:]", layer)}
        for layer in LAYERS
    ]


@pytest.mark.parametrize("package", PACKAGES, ids=name)
def test_a_package_says_in_one_or_two_sentences_what_lives_there(package):
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text()))
    assert text
    said = " ".join(text.split())
    assert said.endswith(".")
    sentences = re.split(r"(?<=[.!?]) (?=[A-Z])", said)
    assert len(sentences) <= 2, said
