"""The command line of experiments."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.harness.experiment import Experiment, Trial, all_experiments, find_experiment
from experiments.harness.run import RunOptions, run_experiment
from honeyguide.cli.bench import agent_names
from honeyguide.cli.progress import progress_bar
from honeyguide.disk.output_paths import check_folder
from honeyguide.errors import HoneyguideError
from honeyguide.text.words import printable

INTERRUPTED = 130  # the exit code after Ctrl-C


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    given = _parser().parse_args(arguments)
    try:
        if given.list:
            _say("\n".join(map(_described, all_experiments().values())))
        else:
            _run(given, printable(shlex.join(["python", "-m", "experiments", *arguments])))
    except HoneyguideError as error:
        return _complain(" ".join(str(error).split()), 1)
    except KeyboardInterrupt:
        return _complain("stopped: the same command continues", INTERRUPTED)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description="Run an experiment and write its report."
    )
    parser.add_argument("name", nargs="?", default="", help="which experiment")
    parser.add_argument("--list", action="store_true", help="list experiments with their parts")
    parser.add_argument("--data", type=Path, help="the folder of the recorded webs")
    parser.add_argument("--out", type=Path, help="where results go; an earlier run is continued")
    parser.add_argument(
        "--part", action="append", default=[], help="run only this part; repeat for more"
    )
    parser.add_argument("--quick", action="store_true", help="a small version, in minutes")
    parser.add_argument("--agents", help="run only these agents, with commas between them")
    parser.add_argument("--workers", type=_positive, default=1, help="processes; 1 if not given")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _described(experiment: Experiment) -> str:
    parts = ", ".join(part.name for part in experiment.parts)
    return f"{experiment.name}: {experiment.title} (parts: {parts})"


def _run(given: argparse.Namespace, command: str) -> None:
    if not given.name:
        raise HoneyguideError("which experiment? name one of `python -m experiments --list`")
    if given.out is None:
        raise HoneyguideError("where should results go? name a folder with --out")
    check_folder(given.out)
    options = RunOptions(
        experiment=find_experiment(given.name),
        data=given.data,
        out=given.out,
        quick=given.quick,
        parts=tuple(given.part),
        agents=() if given.agents is None else agent_names(given.agents),
        workers=given.workers,
        command=command,
    )
    with progress_bar() as bar:
        task = bar.add_task("trials", total=None, news="")

        def advance(trial: Trial, of: int) -> None:
            news = f"{trial.part}: {trial.entry.name}, {trial.task.name}"
            bar.update(task, advance=1, total=of, news=news)

        report = run_experiment(options, advance, _warn)
    _say(f"results: {report}, {report.with_name('results.json')}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _warn(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")


def _complain(sentence: str, code: int) -> int:
    _warn(f"experiments: {sentence}")
    return code
