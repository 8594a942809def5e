"""Run an experiment, whole or in part, and write its report."""

import json
import os
import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.harness.experiment import Experiment, Part, Trial, only_agents
from experiments.harness.report_page import Page
from experiments.harness.results import Results
from experiments.harness.trials import Place, run_trials
from experiments.harness.webs import Webs
from honeyguide.errors import HoneyguideError
from honeyguide.version import VERSION

Say = Callable[[str], None]  # shows a sentence to the user


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What to run of an experiment, where its webs are and where results go."""

    experiment: Experiment
    data: Path | None
    out: Path
    quick: bool = False
    parts: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    workers: int = 1
    command: str = ""

    def __post_init__(self) -> None:
        if self.out.exists() and not self.out.is_dir():
            raise HoneyguideError(f"{self.out} is a file, not a folder")
        if self.data is not None and not self.data.is_dir():
            raise HoneyguideError(f"there is no folder {self.data}")
        self.experiment.chosen(self.parts)


def run_experiment(options: RunOptions, progress: Callable[[Trial, int], None], say: Say) -> Path:
    """Run the trials that have no stored result, write the report and return its path."""
    webs = Webs(options.data, options.out / "webs")
    parts = _possible(options, webs, say)
    trials = [trial for part in parts for trial in part.trials(options.quick)]
    trials = only_agents(trials, options.agents)
    options.out.mkdir(parents=True, exist_ok=True)
    worlds = {web: webs.world(web) for web in dict.fromkeys(t.task.web for t in trials)}
    place = Place(worlds, options.out, commit())
    run_trials(trials, place, options.workers, lambda trial: progress(trial, len(trials)))
    return write_report(options, place)


def _possible(options: RunOptions, webs: Webs, say: Say) -> list[Part]:
    """Keep the parts whose webs exist; raise if one that was asked for by name lacks its web."""
    kept, lacking = [], []
    for part in options.experiment.chosen(options.parts):
        absent = [t.task.web for t in part.trials(options.quick) if not webs.has(t.task.web)]
        if not absent:
            kept.append(part)
        elif options.parts:
            raise webs.lack(absent[0])
        else:
            lacking.append(absent[0])
            say(f"part {part.name} is left out: {webs.lack(absent[0])}")
    if not kept:
        raise webs.lack(lacking[0])
    return kept


def write_report(options: RunOptions, place: Place) -> Path:
    """Write report.md, its pictures and results.json from every stored run."""
    experiment = options.experiment
    trials = [trial for part in experiment.parts for trial in part.trials(options.quick)]
    results = Results(trials, place.ledger.read())
    page = Page(options.out)
    page.text(f"# {experiment.title}")
    about_it = f"Experiment `{experiment.name}`, version {experiment.version}."
    page.text(f"{about_it} {experiment.source}")
    counts = {part.name: results.complete(part.name) for part in experiment.parts}
    if missing := _missing(counts):
        page.text(f"**Unfinished:** {missing}.")
    headline = experiment.report(results, page)
    about = _about(options, results)
    page.heading("How this was made")
    page.text(_made(about, options.quick))
    path = options.out / "report.md"
    path.write_text(page.markdown())
    done = {name: {"runs": there, "asked": asked} for name, (there, asked) in counts.items()}
    data = {"about": about, "parts": done, "headline": headline, "figures": results.figures()}
    (options.out / "results.json").write_text(json.dumps(data, indent=1) + "\n")
    return path


def _about(options: RunOptions, results: Results) -> dict[str, Any]:
    digests = {trial.digest for trial in results.trials}
    used = [record for record in results.records if record["digest"] in digests]
    return {
        "experiment": options.experiment.name,
        "experiment_version": options.experiment.version,
        "quick": options.quick,
        "command": options.command,
        "commits": sorted({record["commit"] for record in used}),
        "version": VERSION,
        "written": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "hours_of_crawling": round(sum(record["seconds"] for record in used) / 3600, 3),
        "processor_hours": round(sum(r["processor_seconds"] for r in used) / 3600, 3),
        "runs": len(used),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, "
        f"python {platform.python_version()}, numpy {np.__version__}",
    }


def _missing(counts: dict[str, tuple[int, int]]) -> str:
    short = {name: pair for name, pair in counts.items() if pair[0] < pair[1]}
    return ", ".join(
        f"{name} has {there} of {asked} runs" for name, (there, asked) in short.items()
    )


def _made(about: dict[str, Any], quick: bool) -> str:
    size = "The quick, small version of the experiment. " if quick else ""
    return (
        f"{size}`{about['command']}`, honeyguide {about['version']}, commit "
        f"{', '.join(about['commits']) or 'none'}; {about['runs']:,} runs, "
        f"{about['hours_of_crawling']} hours of crawling ({about['processor_hours']} of processor "
        f"time) on {about['machine']}. Random seeds are 1,000 × trial + repeat; all figures are in "
        "[results.json](results.json)."
    )


def commit() -> str:
    """Return the commit of the source, as `git describe` names it."""
    folder = Path(__file__).parent
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return said.stdout.strip()
