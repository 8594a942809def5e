"""Run every experiment, each in a process of its own."""

import multiprocessing
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.harness.trials import end_with_parent

Command = Callable[[Sequence[str]], int]  # runs one experiment, returns its exit code


@dataclass(frozen=True, slots=True)
class Ended:
    """How an experiment ended, and what it cost."""

    name: str
    report: Path
    code: int
    seconds: float
    processor_seconds: float  # of all its processes

    def __str__(self) -> str:
        cost = f"{self.seconds:,.0f} seconds, {self.processor_seconds:,.0f} of processor time"
        if self.code:
            return f"{self.name}: failed, {cost}"
        return f"{self.name}: done, {cost}, {self.report}"


def run_one(command: Command, name: str, out: Path, options: Sequence[str]) -> Ended:
    """Run an experiment into OUT/NAME; its process ends when this one is stopped or killed."""
    folder = out / name
    arguments = [name, "--out", str(folder), "--webs", str(out / "webs"), *options]
    begin, begin_processor = time.perf_counter(), _processor_seconds()
    # a process of its own: a crash ends one experiment only, and its memory is given back
    process = multiprocessing.get_context("spawn").Process(target=_child, args=(command, arguments))
    process.start()
    try:
        process.join()
    finally:
        process.terminate()  # only if this process was interrupted: else it has ended
        process.join()
    return Ended(
        name=name,
        report=folder / "report.md",
        code=process.exitcode or 0,
        seconds=time.perf_counter() - begin,
        processor_seconds=_processor_seconds() - begin_processor,
    )


def _child(command: Command, arguments: Sequence[str]) -> None:
    end_with_parent()
    raise SystemExit(command(arguments))


def _processor_seconds() -> float:
    """Return the processor time of all processes that this one has started and seen end."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
