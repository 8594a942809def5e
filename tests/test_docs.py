"""README and docs are executed: what they show is what happens."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page, language):
    return [code for kind, code in BLOCK.findall(page.read_text()) if kind == language]


def name(page):
    return str(page.relative_to(ROOT))


def run(command, folder):
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=110
    )


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=name)
def test_the_python_on_a_page_runs(page, tmp_path):
    done = run([sys.executable, "-c", "\n".join(blocks(page, "python"))], tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "console")], ids=name)
def test_the_commands_on_a_page_run(page, tmp_path):
    for block in blocks(page, "console"):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("$ honeyguide"):
                done = run(shlex.split(line[2:]), tmp_path)
                assert done.returncode == 0, f"{line}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_of_a_page_to_a_file_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target
