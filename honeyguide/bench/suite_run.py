"""A suite run whole or by part, and reported."""

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

import honeyguide
from honeyguide.bench.page import Page
from honeyguide.bench.results import Results
from honeyguide.bench.suite import Part, Suite, Trial, only_agents
from honeyguide.bench.trials import Place, run_trials
from honeyguide.bench.webs import Webs
from honeyguide.errors import HoneyguideError
from honeyguide.version import VERSION

Said = Callable[[str], None]  # told what is left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """How much of a suite to run, and where."""

    suite: Suite
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
        self.suite.chosen(self.parts)


def run_suite(order: Order, progress: Callable[[Trial, int], None], say: Said) -> Path:
    """Run what was ordered and is not yet done, then write the report; its path."""
    webs = Webs(order.data, order.out / "webs")
    parts = _possible(order, webs, say)
    trials = [trial for part in parts for trial in part.trials(order.quick)]
    trials = only_agents(trials, order.agents)
    order.out.mkdir(parents=True, exist_ok=True)
    worlds = {web: webs.world(web) for web in dict.fromkeys(t.task.web for t in trials)}
    place = Place(worlds, order.out, commit())
    run_trials(trials, place, order.workers, lambda trial: progress(trial, len(trials)))
    return write_report(order, place)


def _possible(order: Order, webs: Webs, say: Said) -> list[Part]:
    """The parts whose webs are there; a part that was named must be possible."""
    kept, lacking = [], []
    for part in order.suite.chosen(order.parts):
        absent = [t.task.web for t in part.trials(order.quick) if not webs.has(t.task.web)]
        if not absent:
            kept.append(part)
        elif order.parts:
            raise webs.lack(absent[0])
        else:
            lacking.append(absent[0])
            say(f"part {part.name} is left out: {webs.lack(absent[0])}")
    if not kept:
        raise webs.lack(lacking[0])
    return kept


def write_report(order: Order, place: Place) -> Path:
    """report.md, its pictures and results.json, from every run that is there."""
    suite = order.suite
    trials = [trial for part in suite.parts for trial in part.trials(order.quick)]
    results = Results(trials, place.ledger.read())
    page = Page(order.out)
    page.text(f"# {suite.title}")
    page.text(f"Suite `{suite.name}`, version {suite.version}. {suite.source}")
    counts = {part.name: results.complete(part.name) for part in suite.parts}
    if missing := _missing(counts):
        page.text(f"**Unfinished:** {missing}.")
    headline = suite.report(results, page)
    about = _about(order, results)
    page.heading("How this was made")
    page.text(_made(about, order.quick))
    path = order.out / "report.md"
    path.write_text(page.markdown())
    done = {name: {"runs": there, "asked": asked} for name, (there, asked) in counts.items()}
    data = {"about": about, "parts": done, "headline": headline, "figures": results.figures()}
    (order.out / "results.json").write_text(json.dumps(data, indent=1) + "\n")
    return path


def _about(order: Order, results: Results) -> dict[str, Any]:
    digests = {trial.digest for trial in results.trials}
    used = [record for record in results.records if record["digest"] in digests]
    return {
        "suite": order.suite.name,
        "suite_version": order.suite.version,
        "quick": order.quick,
        "command": order.command,
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
    size = "The quick, small version of the suite. " if quick else ""
    return (
        f"{size}`{about['command']}`, honeyguide {about['version']}, commit "
        f"{', '.join(about['commits']) or 'none'}; {about['runs']:,} runs, "
        f"{about['hours_of_crawling']} hours of crawling ({about['processor_hours']} of processor "
        f"time) on {about['machine']}. Random seeds are 1,000 × trial + repeat; all figures are in "
        "[results.json](results.json)."
    )


def commit() -> str:
    """Which state of the source this is, as git knows it."""
    folder = Path(honeyguide.__file__).parent
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return said.stdout.strip()
