"""Write the report of an experiment from its stored runs."""

import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.harness.commit import UNKNOWN, short
from experiments.harness.experiment import Experiment, Part
from experiments.harness.ledger import Ledger, Record
from experiments.harness.report_page import Page
from experiments.harness.results import Results
from honeyguide.version import VERSION

QUICK = (
    "**The quick version:** small tasks and few runs, which show that everything works. Its "
    "figures say nothing about the paper."
)
COLUMNS = (
    "part", "version", "commits", "honeyguide", "runs", "planned", "wall seconds",
    "processor seconds",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Origin:
    """Which code made the stored runs of a part, and what they cost."""

    version: int
    runs: int
    asked: int
    commits: list[str]
    honeyguide: list[str]  # versions
    seconds: float
    processor_seconds: float | None  # None: some runs were stored without

    def row(self, part: str) -> list[object]:
        """Return the cells of the report's table."""
        used = UNKNOWN if self.processor_seconds is None else round(self.processor_seconds)
        return [
            part,
            self.version,
            ", ".join(map(short, self.commits)),
            ", ".join(self.honeyguide),
            self.runs,
            self.asked,
            round(self.seconds),
            used,
        ]

    def data(self) -> dict[str, Any]:
        """Return the fields for results.json."""
        return {name: getattr(self, name) for name in self.__slots__}


def origin(part: Part, results: Results) -> Origin:
    """Collect what the records of a part say about the code that made them."""
    runs, asked = results.of_part(part.name), results.complete(part.name)[1]
    processor = [run.get("processor_seconds") for run in runs]
    known = [used for used in processor if used is not None]
    return Origin(
        version=part.version,
        runs=len(runs),
        asked=asked,
        commits=_said(runs, "commit"),
        honeyguide=_said(runs, "honeyguide"),
        seconds=round(sum(run["seconds"] for run in runs), 3),
        processor_seconds=round(sum(known), 3) if len(known) == len(processor) else None,
    )


def _said(runs: Sequence[Record], what: str) -> list[str]:
    return sorted({run.get(what, UNKNOWN) for run in runs})


def write_report(experiment: Experiment, out: Path, quick: bool, command: str) -> Path:
    """Write report.md, its pictures and results.json from every stored run in a folder."""
    results = Results(experiment.trials(quick), Ledger(out / "runs.jsonl").read())
    origins = {part.name: origin(part, results) for part in experiment.parts}
    page = Page(out)
    _open(page, experiment, results, quick)
    if missing := _missing(origins):
        page.text(f"**Unfinished:** {missing}.")
    headline = experiment.report(results, page)
    about = _about(experiment, quick, command)
    _close(page, about, origins)
    path = out / "report.md"
    path.write_text(page.markdown())
    data = {
        "about": about,
        "parts": {name: each.data() for name, each in origins.items()},
        "headline": headline,
        "figures": results.figures(),
    }
    (out / "results.json").write_text(json.dumps(data, indent=1) + "\n")
    return path


def _open(page: Page, experiment: Experiment, results: Results, quick: bool) -> None:
    """Write the title, and what the paper found, what we found and why they differ."""
    page.text(f"# {experiment.title}")
    page.text(f"Experiment `{experiment.name}`. {experiment.source}")
    if quick:
        page.text(QUICK)
    found = experiment.we_found(results)
    page.text(f"**The paper found:** {experiment.paper_found}")
    page.text(f"**We found:** {found or 'nothing yet: the runs for this sentence are missing.'}")
    if found and not quick:
        page.text(f"**Why they differ:** {experiment.why}")


def _close(page: Page, about: dict[str, Any], origins: dict[str, Origin]) -> None:
    """Write which code made the runs of each part, and how."""
    page.heading("How this was made")
    page.table(COLUMNS, [each.row(name) for name, each in origins.items() if each.runs])
    page.text(
        f"Written {about['written']} by `{about['command']}` with honeyguide {about['version']} "
        f"on {about['machine']}. A + after a commit: its code had changes that were not "
        "committed. Processor seconds are those of the process that ran a trial, with all its "
        "threads. Random seeds are 1,000 × trial + repeat; all figures are in "
        "[results.json](results.json), all runs in [runs.jsonl](runs.jsonl)."
    )


def _about(experiment: Experiment, quick: bool, command: str) -> dict[str, Any]:
    return {
        "experiment": experiment.name,
        "quick": quick,
        "command": command,
        "version": VERSION,
        "written": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, "
        f"python {platform.python_version()}, numpy {np.__version__}",
    }


def _missing(origins: dict[str, Origin]) -> str:
    short_of = {name: each for name, each in origins.items() if each.runs < each.asked}
    return ", ".join(f"{name} has {e.runs} of {e.asked} runs" for name, e in short_of.items())
