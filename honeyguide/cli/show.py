"""honeyguide show: show what a crawl has learnt."""

import typer

from honeyguide.cli import flags
from honeyguide.cli.terminal import console
from honeyguide.errors import HoneyguideError

WIDE = 130  # columns that a table with headings of one line needs
app = typer.Typer(help="Show what a crawl has learnt.")


@app.callback(invoke_without_command=True)
def _show(context: typer.Context) -> None:
    """Show what a crawl has learnt."""
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


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
