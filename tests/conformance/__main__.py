"""Make docs/reference/conformance.md: which test shows which clause, and with how many cases.

python -m tests.conformance           say whether the page is what would be made
python -m tests.conformance --write   make it
python -m tests.conformance --run     run the tests, and say how many cases hold
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
OWN = "tests/conformance/"  # where every test has to show something
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
    """A pytest plugin that counts cases by test, and what came of each."""

    def __init__(self) -> None:
        self.all: Counter[str] = Counter()
        self.failing: Counter[str] = Counter()  # known to
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
    """The cases of all files that any clause names, and of all that are here."""
    named = {test.partition("::")[0] for test in named_tests()}
    files = sorted(named | {f"{OWN}{path.name}" for path in (ROOT / OWN).glob("test_*.py")})
    cases, said = Cases(), io.StringIO()
    os.chdir(ROOT)
    with contextlib.redirect_stdout(said):
        code = pytest.main(["-q", "-n", "0", "-p", "no:warnings", *flags, *files], [cases])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        sys.exit(said.getvalue())
    return cases


def named_tests() -> list[str]:
    return [test for each in STANDARDS for clause in each.clauses for test in clause.tests]


def complaints(cases: Cases) -> list[str]:
    """What does not fit together."""
    named = set(named_tests())
    missing = sorted(named - set(cases.all))
    idle = sorted(test for test in cases.all if test.startswith(OWN) and test not in named)
    idle = [test for test in idle if not test.startswith(f"{OWN}test_page.py")]
    return [f"there is no {test}" for test in missing] + [
        f"{test} shows no clause" for test in idle
    ]


# --------------------------------------------------------------------------- the page


def made(cases: Cases) -> str:
    """The whole page."""
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
    said = parser.parse_args()
    cases = collected(*([] if said.run else ["--collect-only"]))
    if wrong := complaints(cases):
        sys.stdout.writelines(f"{each}\n" for each in wrong)
        return 1
    if said.run:
        return told(cases)
    page = made(cases)
    if said.write:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page)
    elif not PAGE.exists() or PAGE.read_text() != page:
        sys.stdout.write(f"{PAGE.relative_to(ROOT)} is not up to date: --write makes it anew\n")
        return 1
    return 0


def told(cases: Cases) -> int:
    """Say for each standard what came of its cases."""
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
