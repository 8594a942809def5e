"""honeyguide status: show how far a crawl is."""

import json
from typing import Annotated

import typer

from honeyguide.cli import flags, status_text


def status(
    folder: flags.Folder,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print one line of JSON; times are seconds since 1970."),
    ] = False,
) -> None:
    """Show how far a crawl is, while it runs or afterwards."""
    from honeyguide.storage import exports

    known = exports.status(folder)
    for line in [json.dumps(known)] if as_json else status_text.lines(known):
        typer.echo(line)
