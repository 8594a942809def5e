"""Progress bars on standard error."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from honeyguide.cli.terminal import console, guarded_streams


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show a bar with counts, the time left and a short text; none without a terminal."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[news]}", markup=False),
        TimeRemainingColumn(),
    )
    screen = console(err=True)
    bar = Progress(*columns, console=screen, disable=not screen.is_terminal)
    with bar, guarded_streams():  # a bar replaces the standard streams
        yield bar
