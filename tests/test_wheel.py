"""What is installed: the package and nothing of the source beside it."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent
NAMES = (
    "CHANGELOG.md", "LICENSE", "MANIFEST.in", "Makefile", "README.md", "SECURITY.md",
    "constraints.txt", "pyproject.toml",
)  # fmt: skip
FOLDERS = ("honeyguide", "experiments", "tests", "benchmarks", "docs", "examples")


def run(*command, folder, **environment):
    """Run a command that must succeed, and give what it prints."""
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=os.environ | environment,
        capture_output=True, text=True, timeout=110,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """The archive of the source, made of a copy: building writes into its folder."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("sdist")
    for name in NAMES:
        shutil.copy(ROOT / name, source / name)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    build = "import setuptools.build_meta as b, sys; print(b.build_sdist(sys.argv[1]))"
    run(sys.executable, "-c", build, out, folder=source)
    [made] = out.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel_file(sdist, tmp_path_factory):
    """The wheel, built from the archive of the source as pip does it."""
    out = tmp_path_factory.mktemp("wheel")
    flags = ("--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", out)
    run(sys.executable, "-m", "pip", "wheel", sdist, *flags, folder=out)
    [made] = out.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def wheel(wheel_file):
    with ZipFile(wheel_file) as archive:
        yield archive


@pytest.fixture(scope="module")
def installed(wheel_file, tmp_path_factory):
    """An environment with the wheel and none of this repository: run a program of it."""
    place = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", "venv", folder=place)
    target = next((place / "venv" / "lib").iterdir()) / "site-packages"
    pip = (sys.executable, "-m", "pip", "--python", place / "venv" / "bin" / "python")
    run(*pip, "install", "--no-deps", "--quiet", wheel_file, folder=place)
    # what it depends on: a folder on PYTHONPATH is searched, but editable installs in it are not
    needed = sysconfig.get_path("purelib")

    def program(name, *arguments):
        path = place / "venv" / "bin" / name
        return run(path, *arguments, folder=place, PYTHONPATH=needed)

    program.place, program.target = place, target
    return program


def test_the_archive_of_the_source_has_what_people_read_and_no_data_of_tests(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "CHANGELOG.md", "LICENSE", "docs/design.md", "pyproject.toml"} <= names
    assert "honeyguide/py.typed" in names
    assert not [name for name in names if name.endswith(".tar.xz")]


def test_every_command_works_from_the_wheel_without_the_repository(installed):
    where = installed("python", "-c", "import honeyguide; print(honeyguide.__file__)")
    assert where.startswith(str(installed.target))
    world = ("--topic", "geology", "--seed", "geology", "--world", "synthetic:pages=2000")
    assert "relevant pages among 20" in installed(
        "honeyguide", "crawl", *world, "--budget", 20, "--out", "rocks"
    )
    for command in ("resume", "status", "check"):
        installed("honeyguide", command, "rocks")
    installed("honeyguide", "export", "rocks", "--out", "rocks.jsonl")
    for kind in ("agents", "encoders", "frontiers", "gates", "guards", "judges", "worlds"):
        installed("honeyguide", "list", kind)
    bench = ("--agents", "random", "--runs", 1, "--budget", 20, "--out", "bench")
    installed("honeyguide", "bench", *world, *bench)


def test_the_installed_package_is_typed_for_those_who_use_it(installed):
    program = installed.place / "mine.py"
    program.write_text(
        "import honeyguide\n"
        "from honeyguide import Page, Plan, Verdict, compare\n\n\n"
        "def titles(pages: list[Page]) -> list[str]:\n"
        "    return [page.title for page in pages]\n\n\n"
        'plan = Plan(topic="rocks", seeds=("rocks",))\n'
        "verdicts: list[Verdict] = honeyguide.judge_pages([], topic=plan.topic)\n"
        'for found in honeyguide.crawl("rocks", ["rocks"]):\n'
        "    print(found.title.upper(), found.relevance + 1)\n"
        "reveal_type(plan.run().relevant)\n"
        'reveal_type(compare(plan, ["guide"]).runs[0].relevant)\n'
    )
    python = installed.place / "venv" / "bin" / "python"
    flags = ("--strict", "--python-executable", python, "--cache-dir", installed.place / "cache")
    shown = run(sys.executable, "-m", "mypy", *flags, program, folder=installed.place)
    assert 'Revealed type is "int"' in shown or "builtins.int" in shown
    assert "list[int]" in shown
    assert "no issues found" in shown


def test_the_wheel_has_the_package_alone(wheel):
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert "honeyguide" in tops
    assert [top for top in tops if top != "honeyguide" and not top.endswith(".dist-info")] == []


def test_the_wheel_has_every_module_and_data_file_of_the_package(wheel):
    packed = {name for name in wheel.namelist() if name.startswith("honeyguide/")}
    files = [path for path in (ROOT / "honeyguide").rglob("*") if path.is_file()]
    there = {str(p.relative_to(ROOT)) for p in files if "__pycache__" not in p.parts}
    assert packed == there


def test_matplotlib_is_asked_for_by_the_extra_plots_only(wheel):
    [metadata] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    asked = [line for line in wheel.read(metadata).decode().splitlines() if "matplotlib" in line]
    assert asked
    assert all("extra ==" in line for line in asked)
