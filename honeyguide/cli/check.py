"""honeyguide check: verify the folder of a crawl, and repair it."""

import json
from typing import Annotated

import typer

from honeyguide.cli import flags
from honeyguide.cli.progress import progress_bar
from honeyguide.text.words import counted


def check(
    folder: flags.Folder,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Rebuild what can be rebuilt, and say what was rebuilt."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON.")] = False,
) -> None:
    """Verify the database, snapshots, policies, WARC files and indexes of a crawl."""
    from honeyguide.storage.check import Check
    from honeyguide.storage.repair import repair as mend

    with progress_bar() as bar:
        task = bar.add_task("checking", total=None, news="")

        def report(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or None)

        done, findings = mend(folder, report) if repair else ([], Check(folder, report).run())
    damaged = [finding for finding in findings if finding.is_damage]
    if as_json:
        said = [
            {"kind": each.kind, "what": each.what, "damage": each.is_damage} for each in findings
        ]
        typer.echo(json.dumps({"well": not damaged, "repaired": done, "findings": said}))
    else:
        for sentence in done:
            typer.echo(f"repaired: {sentence}")
        for finding in findings:
            typer.echo(finding.what if finding.is_damage else f"note: {finding.what}")
        typer.echo(f"{folder}: {counted(len(damaged), 'finding') if damaged else 'all is well'}")
    raise typer.Exit(1 if damaged else 0)
