"""The page of conformance is what its command makes."""

import subprocess
import sys
from pathlib import Path

from tests.conformance.__main__ import Cases, complaints, named_tests

ROOT = Path(__file__).parents[2]


def test_the_committed_page_is_what_the_command_makes():
    command = [sys.executable, "-m", "tests.conformance"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_clause_cannot_name_a_test_that_is_not_there_nor_a_test_show_nothing():
    cases = Cases()
    cases.all.update(named_tests()[1:])
    cases.all["tests/conformance/test_x.py::test_idle"] += 1
    assert complaints(cases) == [
        f"there is no {named_tests()[0]}",
        "tests/conformance/test_x.py::test_idle shows no clause",
    ]
