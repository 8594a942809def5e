"""README and docs are executed: what they show is what happens."""

import ast
import os
import re
import shlex
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from typer.main import get_command

import honeyguide
from honeyguide.cli import app

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


@pytest.mark.parametrize("package", PACKAGES, ids=name)
def test_a_package_says_in_one_or_two_sentences_what_lives_there(package):
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text()))
    assert text
    said = " ".join(text.split())
    assert said.endswith(".")
    sentences = re.split(r"(?<=[.!?]) (?=[A-Z])", said)
    assert len(sentences) <= 2, said
