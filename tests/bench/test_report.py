"""Reports of comparisons, with and without matplotlib."""

import os
import subprocess
import sys

import numpy as np
import pytest

from honeyguide.bench.compare import Comparison, Runs
from honeyguide.bench.report import spread, write_report
from honeyguide.plan import Plan

SMALL = ("--world", "synthetic:pages=2000", "--topic", "geology", "--seed", "geology")
WITHOUT = """
import sys
sys.modules["matplotlib"] = None  # importing it fails, as where it is not installed
sys.argv[0] = "honeyguide"
import honeyguide
from honeyguide.cli import main
main()
"""


def without_matplotlib(*arguments):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *map(str, arguments)],
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=110,
    )


@pytest.mark.parametrize(
    "command",
    [
        ("bench", *SMALL, "--agents", "breadth_first", "--runs", 1, "--budget", 5),
        ("demo", "--budget", 5, "--webs", 1),
    ],
    ids=["bench", "demo"],
)
def test_without_matplotlib_a_report_has_no_picture_and_says_how_to_get_one(command, tmp_path):
    out = tmp_path / "out"
    done = without_matplotlib(*command, "--out", out)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "curves.png needs matplotlib: pip install 'honeyguide[plots]'\n"
    assert f"{out / 'report.md'}, {out / 'results.json'}\n" in done.stdout
    assert not (out / "curves.png").exists()
    assert "curves.png" not in (out / "report.md").read_text()


def test_the_picture_of_an_earlier_report_does_not_stay_beside_a_later_one(tmp_path, monkeypatch):
    curve = np.arange(5, dtype=np.int32)[None]
    plan = Plan(topic="geology", seeds=("geology",), world="synthetic", budget=5)
    comparison = Comparison(plan, (Runs("guide", curve, (5,), (1.0,)),), oracle=None)
    written = write_report(comparison, tmp_path, "honeyguide bench")
    assert [path.name for path in written] == ["report.md", "curves.png", "results.json"]
    assert all(path.exists() for path in written)
    assert "(curves.png)" in (tmp_path / "report.md").read_text()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    written = write_report(comparison, tmp_path, "honeyguide bench")
    assert sorted(tmp_path.iterdir()) == sorted(written)
    assert [path.name for path in written] == ["report.md", "results.json"]


def test_a_single_run_has_no_spread():
    assert spread([3]) == 0.0
    assert spread([2, 4]) == pytest.approx(2**0.5)
