"""honeyguide show: show what a crawl has learnt, or the links of a recorded web."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from honeyguide.cli import flags
from honeyguide.cli.terminal import console
from honeyguide.errors import HoneyguideError

if TYPE_CHECKING:
    from honeyguide.bench.link_statistics import LinkStatistics

WIDE = 130  # columns that a table with headings of one line needs
app = typer.Typer(help="Show what a crawl has learnt, or the links of a recorded web.")


@app.callback(invoke_without_command=True)
def _show(context: typer.Context) -> None:
    """Show what a crawl has learnt, or the links of a recorded web."""
    flags.show_help(context)


@app.command("policy")
def policy(folder: flags.Folder) -> None:
    """Show what the gate of a crawl has learnt, state by state."""
    from honeyguide.storage import exports

    rows = exports.policy(folder)
    if not rows:
        raise HoneyguideError(
            f"{folder} has no policy to show: it was crawled without --gate, or has not stopped yet"
        )
    screen = console()
    is_narrow = screen.is_terminal and screen.width < WIDE
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 1 if is_narrow else 2, 0, 0))
    for column, value in rows[0].items():
        # where there is little room, a heading takes several lines
        words = [*column.split(), *(_shown(row[column]) for row in rows)]
        table.add_column(
            column,
            justify="right" if isinstance(value, int | float) else "left",
            width=max(map(len, words)) if is_narrow else None,
        )
    for row in rows:
        table.add_row(*map(_shown, row.values()))
    (screen if is_narrow else console(soft_wrap=True, width=WIDE)).print(table)


@app.command("links", short_help="Count the links of a recorded web.")
def links(
    web: Annotated[Path, typer.Argument(help="A recorded web.", show_default=False)],
    curves: Annotated[
        Path | None,
        typer.Option(
            "--curves",
            help="Also write the links of the pages with the most: a .csv file, or a .png plot.",
        ),
    ] = None,
    top: Annotated[
        int, typer.Option("--top", min=1, help="Pages in the curves, those with the most links.")
    ] = 1000,
) -> None:
    """Count the pages and links of a recorded web, and show how links are distributed."""
    from honeyguide.bench.link_statistics import link_statistics
    from honeyguide.recorded.graph import Graph

    if curves is not None and curves.suffix not in (".csv", ".png"):
        raise HoneyguideError(f"--curves {curves} must end in .csv or .png")
    found = link_statistics(Graph.open(web))
    table = found.table()
    widths = [max(len(row[column]) for row in table) for column in (0, 1)]
    for name, number in table:
        typer.echo(f"{name:{widths[0]}}  {number:>{widths[1]}}")
    if curves is not None:
        _write_curves(found, curves, top)
        typer.echo(f"curves of the first {min(top, len(found.outlinks)):,} pages: {curves}")


def _write_curves(found: "LinkStatistics", path: Path, top: int) -> None:
    try:
        if path.suffix == ".csv":
            path.write_text(found.curves_csv(top), encoding="utf-8")
            return
        from honeyguide.bench.plots import draw_link_curves

        draw_link_curves(*found.curves(top), path)
    except ModuleNotFoundError:
        raise HoneyguideError(
            "a plot needs an extra: pip install 'honeyguide[plots]', or write a .csv file"
        ) from None
    except OSError as error:
        raise HoneyguideError(f"cannot write {path}: {error.strerror}") from None


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
