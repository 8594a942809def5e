"""The command line of experiments."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.harness.experiment import Experiment, Trial, all_experiments, find_experiment
from experiments.harness.run import RunOptions, report_experiment, run_experiment
from experiments.harness.run_all import run_one
from honeyguide.cli.bench import agent_names
from honeyguide.cli.progress import progress_bar
from honeyguide.disk.output_paths import check_folder
from honeyguide.errors import HoneyguideError
from honeyguide.text.words import printable

ALL = "all"
INTERRUPTED = 130  # the exit code after Ctrl-C


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    given = _parser().parse_args(arguments)
    try:
        return _act(given, arguments)
    except HoneyguideError as error:
        return _complain(" ".join(str(error).split()), 1)
    except KeyboardInterrupt:
        how = " without --renew" if given.renew else ""
        return _complain(f"stopped: the same command{how} continues", INTERRUPTED)


def _act(given: argparse.Namespace, arguments: Sequence[str]) -> int:
    if given.list:
        _say("\n".join(map(_described, all_experiments().values())))
    elif given.name == ALL:
        return _run_all(given)
    else:
        report = _run(given, _as_typed(arguments))
        _say(f"results: {report}, {report.with_name('results.json')}")
    return 0


def _as_typed(arguments: Sequence[str]) -> str:
    return printable(shlex.join(["python", "-m", "experiments", *arguments]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description="Run experiments and write their reports."
    )
    add = parser.add_argument
    add("name", nargs="?", default="", help=f"which experiment, or {ALL}")
    add("--list", action="store_true", help="list experiments with their parts")
    add("--data", type=Path, help="the folder of the recorded webs")
    add("--out", type=Path, help="where results go; an earlier run is continued")
    add("--webs", type=Path, help="where imported webs are kept; OUT/webs if not given")
    add("--part", action="append", default=[], help="run only this part; repeat for more")
    add("--renew", action="store_true", help="forget stored runs of these parts, run them again")
    add("--report", action="store_true", help="write the report from stored runs, run nothing")
    add("--quick", action="store_true", help="a small version, in minutes")
    add("--agents", help="run only these agents, with commas between them")
    add("--workers", type=_positive, default=1, help="processes; 1 if not given")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _described(experiment: Experiment) -> str:
    parts = ", ".join(part.name for part in experiment.parts)
    return f"{experiment.name}: {experiment.title} (parts: {parts})"


def _run(given: argparse.Namespace, command: str) -> Path:
    if not given.name:
        raise HoneyguideError("which experiment? name one of `python -m experiments --list`")
    _check_out(given.out)
    if given.report:
        _refuse(given, "--report", ("part", "agents", "renew"))
    options = RunOptions(
        experiment=find_experiment(given.name),
        data=given.data,
        out=given.out,
        webs=given.webs,
        quick=given.quick,
        parts=tuple(given.part),
        agents=() if given.agents is None else agent_names(given.agents),
        renew=given.renew,
        workers=given.workers,
        command=command,
    )
    if given.report:
        return report_experiment(options)
    with progress_bar() as bar:
        task = bar.add_task(f"trials of {given.name}", total=None, news="")

        def advance(trial: Trial, of: int) -> None:
            news = f"{trial.part}: {trial.entry.name}, {trial.task.name}"
            bar.update(task, advance=1, total=of, news=news)

        return run_experiment(options, advance, _warn)


def _check_out(out: Path | None) -> None:
    if out is None:
        raise HoneyguideError("where should results go? name a folder with --out")
    check_folder(out)


def _refuse(given: argparse.Namespace, what: str, options: Sequence[str]) -> None:
    for option in options:
        if getattr(given, option):
            raise HoneyguideError(f"{what} takes no --{option}")


def _run_all(given: argparse.Namespace) -> int:
    """Run every experiment into a folder of its own; one that fails does not stop the others."""
    _refuse(given, ALL, ("part", "agents", "renew", "webs"))
    _check_out(given.out)
    if given.data is not None and not given.data.is_dir():
        raise HoneyguideError(f"there is no folder {given.data}")
    failed = []
    for name in all_experiments():
        ended = run_one(_run_quietly, name, given.out, _passed_on(given))
        _say(str(ended))
        failed += [name] if ended.code else []
    if failed:
        raise HoneyguideError(f"failed: {', '.join(failed)}; the same command tries them again")
    return 0


def _passed_on(given: argparse.Namespace) -> list[str]:
    """Return the options that every experiment is given."""
    data = [] if given.data is None else ["--data", str(given.data)]
    flags = [f"--{flag}" for flag in ("quick", "report") if getattr(given, flag)]
    return [*data, *flags, "--workers", str(given.workers)]


def _run_quietly(arguments: Sequence[str]) -> int:
    """Run one experiment of all, and say only what goes wrong."""
    given = _parser().parse_args(arguments)
    try:
        _run(given, _as_typed(arguments))
    except HoneyguideError as error:
        return _complain(f"{given.name}: {' '.join(str(error).split())}", 1)
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _warn(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")


def _complain(sentence: str, code: int) -> int:
    _warn(f"experiments: {sentence}")
    return code
