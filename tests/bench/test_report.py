"""Reports of comparisons, with and without matplotlib."""

import os
import subprocess
import sys

import pytest

from honeyguide.bench.report import spread

SMALL = ("--world", "synthetic:pages=2000", "--topic", "geology", "--seed", "geology")
WITHOUT = """
import sys
sys.modules["matplotlib"] = None  # importing it fails, as where it is not installed
sys.argv[0] = "honeyguide"
import honeyguide
from honeyguide.cli import main
main()
"""


def honeyguide(program, *arguments):
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=110,
    )


@pytest.mark.parametrize(
    "command",
    [
        ("bench", *SMALL, "--agents", "breadth_first", "--runs", 1, "--budget", 5),
        ("demo", "--budget", 5),
    ],
    ids=["bench", "demo"],
)
def test_without_matplotlib_a_report_has_no_picture_and_says_how_to_get_one(command, tmp_path):
    out = tmp_path / "out"
    done = honeyguide(WITHOUT, *command, "--out", out)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "curves.png needs matplotlib: pip install 'honeyguide[plots]'\n"
    assert f"results: {out / 'report.md'}, {out / 'results.json'}\n" in done.stdout
    assert not (out / "curves.png").exists()
    assert "curves.png" not in (out / "report.md").read_text()


def test_the_picture_of_an_earlier_report_does_not_stay_beside_a_later_one(tmp_path):
    command = ("bench", *SMALL, "--agents", "breadth_first", "--runs", 1, "--out", tmp_path)
    program = WITHOUT.replace('sys.modules["matplotlib"]', "hidden")
    done = honeyguide(program, *command, "--budget", 5)
    assert done.returncode == 0, done.stderr
    assert f"results: {tmp_path / 'report.md'}, {tmp_path / 'curves.png'}, " in done.stdout
    assert "(curves.png)" in (tmp_path / "report.md").read_text()
    assert honeyguide(WITHOUT, *command, "--budget", 6, "--replace").returncode == 0
    assert not (tmp_path / "curves.png").exists()


def test_a_single_run_has_no_spread():
    assert spread([3]) == 0.0
    assert spread([2, 4]) == pytest.approx(2**0.5)
