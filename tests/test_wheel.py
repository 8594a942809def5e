"""What is installed: the package and nothing of the source beside it."""

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent
NAMES = ("README.md", "LICENSE", "pyproject.toml")
FOLDERS = ("honeyguide", "experiments", "tests", "benchmarks", "docs", "examples")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel made of a copy of the source, which building would write into."""
    pytest.importorskip("setuptools")
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in NAMES:
        shutil.copy(ROOT / name, source / name)
    skipped = shutil.ignore_patterns("__pycache__", "*.png", "*.tar.xz")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, ignore=skipped)
    command = ("pip", "wheel", ".", "--no-deps", "--no-build-isolation", "--quiet")
    done = subprocess.run(
        [sys.executable, "-m", *command, "--wheel-dir", out],
        cwd=source,
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    [made] = out.glob("*.whl")
    with ZipFile(made) as archive:
        yield archive


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
