"""honeyguide export: write the pages of a crawl into one file, or into a folder of files."""

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
        typer.Option(
            "--out",
            help="The file to write (a folder for markdown); - is standard output.",
            show_default=False,
        ),
    ],
    format: Annotated[
        str,
        typer.Option(
            "--format",
            help="jsonl, csv, parquet, warc, markdown (a file a page) or markdown-jsonl."
            " [default: by the name of the file]",
        ),
    ] = "",
    relevant: Annotated[
        bool, typer.Option("--relevant", help="Write only the relevant pages.")
    ] = False,
    min_relevance: Annotated[
        float,
        typer.Option(
            "--min-relevance", help="Write only pages with at least this relevance, 0 to 1."
        ),
    ] = 0.0,
) -> None:
    """Write the pages of a crawl into one file, or as Markdown into a folder."""
    from honeyguide.storage import exports

    format = format or exports.format_of(out)
    is_piped = str(out) == "-"
    with progress_bar() as bar:
        task = bar.add_task("pages", total=None, news="")

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        if is_piped:
            found = _pipe(
                lambda file: exports.stream(folder, format, file, relevant, advance, min_relevance)
            )
        else:
            found = exports.export(folder, format, out, relevant, advance, min_relevance)
    typer.echo(f"{counted(found.pages, 'page')}: {out}", err=is_piped)
    if found.bodiless:
        _report_bodiless(found.bodiless)
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


def _report_bodiless(count: int) -> None:
    they_are = "their text is" if count > 1 else "its text is"
    typer.echo(
        f"honeyguide: {counted(count, 'page')} without a stored body: {they_are} written without"
        " links, lists and tables",
        err=True,
    )


def _report_damage(folder: Path, damaged: int) -> None:
    they_are = "are left out because they are" if damaged > 1 else "is left out because it is"
    typer.echo(
        f"honeyguide: {counted(damaged, 'page')} {they_are} damaged:"
        f" 'honeyguide check {shlex.quote(str(folder))}' says more",
        err=True,
    )
