"""Progress on standard error: bars on a terminal, else a line from time to time."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from honeyguide.cli.terminal import console, guarded_streams

if TYPE_CHECKING:
    from rich.progress import Progress, Task

FIRST_LINE = 20.0  # seconds; quick commands print none
PAUSE = 0.1  # of the time so far, between two lines: a week gives about a hundred


@contextmanager
def progress_bar() -> "Iterator[Progress]":
    """Show how far tasks are: a bar with counts, the time left and a short text, or lines."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[news]}", markup=False),
        TimeRemainingColumn(),
    )
    screen = console(err=True)
    has_bars = screen.is_terminal and not screen.is_dumb_terminal
    bar = Progress(
        *columns,
        console=screen,
        disable=not has_bars,
        # what goes into a file or a pipe must not go to the terminal
        redirect_stdout=sys.stdout.isatty(),
    )
    with bar, guarded_streams():  # a bar replaces the standard streams
        if has_bars:
            yield bar
        else:
            with _lines(bar, lambda line: typer.echo(line, err=True)):
                yield bar


@contextmanager
def _lines(bar: "Progress", tell: Callable[[str], None]) -> Iterator[None]:
    """Tell how far tasks are from a thread, whatever they wait for."""
    ended, begin = threading.Event(), time.monotonic()
    report = Report()

    def run() -> None:
        while not ended.wait(max(FIRST_LINE, PAUSE * (time.monotonic() - begin))):
            for line in report.lines(bar.tasks, time.monotonic() - begin):
                tell(line)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class Report:
    """Lines about tasks that have moved since the last ones, or about the one that has not."""

    def __init__(self) -> None:
        self._last: dict[int, float] = {}  # completed, by task

    def lines(self, tasks: "list[Task]", seconds: float) -> list[str]:
        """A line for each task to tell of, so many seconds after the beginning."""
        moved = [task for task in tasks if self._last.get(task.id) != task.completed]
        self._last = {task.id: task.completed for task in tasks}
        return [_line(task, seconds) for task in moved or tasks[-1:]]


def _line(task: "Task", seconds: float) -> str:
    total = "" if task.total is None else f" of {task.total:,.0f}"
    news = f", {task.fields['news']}" if task.fields.get("news") else ""
    return f"{task.description}: {task.completed:,.0f}{total}{news} after {duration(seconds)}"


def duration(seconds: float) -> str:
    """A time in words, such as "2 h 5 min"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
