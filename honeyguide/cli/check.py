"""honeyguide check: whether a crawl's folder is what was written into it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from honeyguide.cli.progress import progress_bar
from honeyguide.text.words import counted

if TYPE_CHECKING:
    from honeyguide.storage.check import Finding


def check(
    folder: Annotated[Path, typer.Argument(help="Where a crawl was begun.", show_default=False)],
    repair: Annotated[
        bool, typer.Option("--repair", help="Rebuild what can be rebuilt, and say what it was.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON.")] = False,
) -> None:
    """Verify the database, journal, snapshots, policies, WARC files and indexes of a crawl."""
    from honeyguide.storage.check import Check
    from honeyguide.storage.repair import repair as mend

    with progress_bar() as bar:
        task = bar.add_task("looking", total=None, news="")

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
        typer.echo(f"{folder}: {_in_all(folder, damaged, repair)}")
    raise typer.Exit(1 if damaged else 0)


def _in_all(folder: Path, damaged: list["Finding"], repaired: bool) -> str:
    """How many findings there are, and what to do about them unless that was just done."""
    from honeyguide.storage.database import cure

    if not damaged:
        return "all is well"
    count = counted(len(damaged), "finding")
    if repaired:
        return f"{count} left after the repair"
    can_help = any(finding.may_be_mended for finding in damaged)
    return count + cure(folder) if can_help else count
