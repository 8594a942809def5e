"""Generate docs/reference/conformance.md: the tests of each clause, and their number of cases.

python -m tests.conformance           check that the page is up to date
python -m tests.conformance --write   write it
python -m tests.conformance --run     run the tests and count the cases that pass
"""

import argparse
import contextlib
import io
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.conformance.clauses import STANDARDS, Clause, Standard

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "conformance.md"
OWN = "tests/conformance/"  # every test here must belong to a clause
HEAD = """# Conformance

Which tests show which clause of which standard. The clauses are in our words; the standards' own
words count. This page is made by

```sh
python -m tests.conformance --write   # --run runs the tests and says how many cases hold
```

A case is one test with one set of values. `make test` runs them all; those that are known to fail
are counted apart, and the clause says what falls short. The cases were written for this project,
from the texts of the standards.

| standard | clauses | tests | cases | known to fail |
|---|---:|---:|---:|---:|
"""


class Cases:
    """A pytest plugin that counts cases and outcomes by test."""

    def __init__(self) -> None:
        self.all: Counter[str] = Counter()
        self.failing: Counter[str] = Counter()  # known to fail
        self.outcomes: dict[str, Counter[str]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            test = without_case(item.nodeid)
            self.all[test] += 1
            self.failing[test] += item.get_closest_marker("xfail") is not None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            outcome = "known to fail" if hasattr(report, "wasxfail") else report.outcome
            self.outcomes.setdefault(without_case(report.nodeid), Counter())[outcome] += 1


def without_case(nodeid: str) -> str:
    return nodeid.partition("[")[0]


def collected(*flags: str) -> Cases:
    """Collect the cases of all tests that clauses name, and of all in this folder."""
    named = {test.partition("::")[0] for test in named_tests()}
    files = sorted(named | {f"{OWN}{path.name}" for path in (ROOT / OWN).glob("test_*.py")})
    cases, output = Cases(), io.StringIO()
    os.chdir(ROOT)
    with contextlib.redirect_stdout(output):
        code = pytest.main(["-q", "-n", "0", "-p", "no:warnings", *flags, *files], [cases])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        sys.exit(output.getvalue())
    return cases


def named_tests() -> list[str]:
    return [test for each in STANDARDS for clause in each.clauses for test in clause.tests]


def complaints(cases: Cases) -> list[str]:
    """Return clauses without tests and tests without a clause."""
    named = set(named_tests())
    missing = sorted(named - set(cases.all))
    idle = sorted(test for test in cases.all if test.startswith(OWN) and test not in named)
    idle = [test for test in idle if not test.startswith(f"{OWN}test_page.py")]
    return [f"there is no {test}" for test in missing] + [
        f"{test} shows no clause" for test in idle
    ]


# --------------------------------------------------------------------------- the page


def made(cases: Cases) -> str:
    """Return the page as Markdown."""
    return HEAD + "".join(
        [
            *(_summary(each, cases) for each in STANDARDS),
            *(_chapter(each, cases) for each in STANDARDS),
        ]
    )


def _summary(standard: Standard, cases: Cases) -> str:
    tests = tests_of(standard)
    failing = sum(cases.failing[test] for test in tests)
    count = sum(cases.all[test] for test in tests)
    return (
        f"| [{standard.name}]({standard.url}) | {len(standard.clauses)} | {len(tests)} |"
        f" {count:,} | {failing} |\n"
    )


def tests_of(standard: Standard) -> set[str]:
    return {test for clause in standard.clauses for test in clause.tests}


def _chapter(standard: Standard, cases: Cases) -> str:
    rows = "".join(_row(clause, cases) for clause in standard.clauses)
    return (
        f"\n## {standard.name}\n\n{standard.followed}\n\n"
        f"| section | | what it says | shown by | cases |\n|---|---|---|---|---:|\n{rows}"
    )


def _row(clause: Clause, cases: Cases) -> str:
    says = " ".join(filter(None, [clause.says, f"*{clause.note}*" if clause.note else ""]))
    shown = "<br>".join(map(_linked, clause.tests))
    count = sum(cases.all[test] for test in clause.tests)
    failing = sum(cases.failing[test] for test in clause.tests)
    counted = f"{count}, {failing} known to fail" if failing else str(count)
    return f"| {clause.section} | {clause.strength} | {says} | {shown} | {counted} |\n"


def _linked(test: str) -> str:
    file, _, name = test.partition("::")
    return f"[{name.removeprefix('test_')}](../../{file})"


# --------------------------------------------------------------------------- the command


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument("--run", action="store_true", help="run the tests that it names")
    given = parser.parse_args()
    cases = collected(*([] if given.run else ["--collect-only"]))
    if wrong := complaints(cases):
        sys.stdout.writelines(f"{each}\n" for each in wrong)
        return 1
    if given.run:
        return print_outcomes(cases)
    page = made(cases)
    if given.write:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page)
    elif not PAGE.exists() or PAGE.read_text() != page:
        sys.stdout.write(f"{PAGE.relative_to(ROOT)} is not up to date: --write updates it\n")
        return 1
    return 0


def print_outcomes(cases: Cases) -> int:
    """Print the outcomes of each standard's cases; return 1 if any failed."""
    failed = 0
    for standard in STANDARDS:
        outcomes: Counter[str] = Counter()
        for test in tests_of(standard):
            outcomes += cases.outcomes.get(test, Counter())
        failed += outcomes["failed"]
        counts = ", ".join(f"{count:,} {what}" for what, count in sorted(outcomes.items()))
        sys.stdout.write(f"{standard.name}: {counts}\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
