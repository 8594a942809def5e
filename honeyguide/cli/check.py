"""honeyguide check: verify the folder of a crawl, and repair it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from honeyguide.cli import flags
from honeyguide.cli.progress import progress_bar
from honeyguide.text.words import counted

if TYPE_CHECKING:
    from honeyguide.storage.check import Finding


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
        for finding in sorted(findings, key=lambda each: not each.is_damage):  # notes come last
            typer.echo(finding.what if finding.is_damage else f"note: {finding.what}")
        typer.echo(f"{folder}: {_summary(folder, damaged, repair)}")
    raise typer.Exit(1 if damaged else 0)


def _summary(folder: Path, damaged: list["Finding"], repaired: bool) -> str:
    """Count the findings, and say how to repair them unless that was just done."""
    from honeyguide.storage.database import repair_hint

    if not damaged:
        return "all is well"
    count = counted(len(damaged), "finding")
    if repaired:
        return f"{count} left after the repair"
    can_help = any(finding.is_repairable for finding in damaged)
    return count + repair_hint(folder) if can_help else count
