"""Run an experiment, whole or in part, and write its report."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from experiments.harness.commit import commit
from experiments.harness.experiment import Experiment, Part, Trial, only_agents
from experiments.harness.ledger import Ledger
from experiments.harness.report import write_report
from experiments.harness.trials import Place, run_trials
from experiments.harness.webs import Webs
from honeyguide.errors import HoneyguideError

Say = Callable[[str], None]  # shows a sentence to the user


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What to run of an experiment, where its webs are and where results go."""

    experiment: Experiment
    data: Path | None
    out: Path
    webs: Path | None = None  # where imported webs are kept; OUT/webs if None
    quick: bool = False
    parts: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    renew: bool = False  # forget the stored runs of these parts and agents first
    workers: int = 1
    command: str = ""

    def __post_init__(self) -> None:
        if self.out.exists() and not self.out.is_dir():
            raise HoneyguideError(f"{self.out} is a file, not a folder")
        if self.data is not None and not self.data.is_dir():
            raise HoneyguideError(f"there is no folder {self.data}")
        self.experiment.chosen(self.parts)
        if self.renew and not self.parts:
            raise HoneyguideError("name the parts to renew with --part")


def run_experiment(options: RunOptions, progress: Callable[[Trial, int], None], say: Say) -> Path:
    """Run the trials that have no stored result, write the report and return its path."""
    webs = Webs(options.data, options.webs or options.out / "webs", say)
    parts = _possible(options, webs, say)
    trials = [trial for part in parts for trial in part.trials(options.quick)]
    trials = only_agents(trials, options.agents)
    options.out.mkdir(parents=True, exist_ok=True)
    worlds = {web: webs.world(web) for web in dict.fromkeys(t.task.web for t in trials)}
    place = Place(worlds, options.out, commit())
    if options.renew:
        place.ledger.forget({trial.digest for trial in trials})
    stopped = run_trials(trials, place, options.workers, lambda trial: progress(trial, len(trials)))
    for part, error in stopped.items():
        if options.parts or len(stopped) == len(parts):
            raise error
        say(f"part {part} is left out: {error}")
    return report_experiment(options)


def report_experiment(options: RunOptions) -> Path:
    """Write the report from the stored runs alone and return its path."""
    ledger = Ledger(options.out / "runs.jsonl")
    own = {trial.digest for trial in options.experiment.trials(options.quick)}
    if not any(record["digest"] in own for record in ledger.read()):
        size = "" if options.quick else "; runs of the quick version are reported with --quick"
        raise HoneyguideError(f"{ledger.path} has no run of {options.experiment.name}{size}")
    return write_report(options.experiment, options.out, options.quick, options.command)


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
