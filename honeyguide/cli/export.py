"""honeyguide export: write the pages of a crawl into one file."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO, cast

import typer

from honeyguide.cli import flags
from honeyguide.cli.progress import progress_bar
from honeyguide.cli.terminal import PrintableStream
from honeyguide.errors import HoneyguideError
from honeyguide.text.words import counted

if TYPE_CHECKING:
    from honeyguide.storage.exports import Exported


def export(
    folder: flags.Folder,
    out: Annotated[
        Path,
        typer.Option("--out", help="The file to write; - is standard output.", show_default=False),
    ],
    format: Annotated[
        str,
        typer.Option(
            "--format", help="jsonl, csv, parquet or warc. [default: by the name of the file]"
        ),
    ] = "",
    relevant: Annotated[
        bool, typer.Option("--relevant", help="Write only the relevant pages.")
    ] = False,
) -> None:
    """Write the pages of a crawl into one file."""
    from honeyguide.storage import exports

    format = format or exports.format_of(out)
    is_piped = str(out) == "-"
    with progress_bar() as bar:
        task = bar.add_task("pages", total=None, news="")

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        if is_piped:
            found = _pipe(lambda file: exports.stream(folder, format, file, relevant, advance))
        else:
            found = exports.export(folder, format, out, relevant, advance)
    typer.echo(f"{counted(found.pages, 'page')}: {out}", err=is_piped)
    if found.damaged:
        _report_damage(folder, found.damaged)
        raise typer.Exit(1)


def _pipe(write: "Callable[[TextIO], Exported]") -> "Exported":
    """Write to standard output in UTF-8; a reader that stops early is no error."""
    try:
        with open(1, "w", encoding="utf-8", newline="", closefd=False) as file:
            return write(cast(TextIO, PrintableStream(file)) if file.isatty() else file)
    except BrokenPipeError:
        raise typer.Exit from None
    except OSError as error:
        raise HoneyguideError(f"cannot write to standard output: {error.strerror}") from None


def _report_damage(folder: Path, damaged: int) -> None:
    they_are = "are left out because they are" if damaged > 1 else "is left out because it is"
    typer.echo(
        f"honeyguide: {counted(damaged, 'page')} {they_are} damaged:"
        f" 'honeyguide check {shlex.quote(str(folder))}' says more",
        err=True,
    )
