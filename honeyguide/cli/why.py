"""honeyguide why: say why a page was fetched, a link waits, or was never taken."""

from typing import Annotated

import typer

from honeyguide.cli import flags


def why(
    folder: flags.Folder,
    url: Annotated[str, typer.Argument(help="A page or a link of the crawl.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON.")] = False,
) -> None:
    """Say why a crawl fetched a page, lets a link wait, or never took it; it may be running."""
    import msgspec

    from honeyguide.cli import why_text
    from honeyguide.storage.why import why as reasons

    found = reasons(folder, url, lambda sentence: typer.echo(f"honeyguide: {sentence}", err=True))
    lines = [msgspec.json.encode(found).decode()] if as_json else why_text.lines(found)
    for line in lines:
        typer.echo(line)
