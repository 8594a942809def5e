"""honeyguide list: list agents, judges, worlds and other parts, or the labels of a web."""

from typing import Annotated

import typer

from honeyguide.cli.bench import experiments_moved
from honeyguide.cli.terminal import console
from honeyguide.errors import HoneyguideError, unknown


def list_names(
    what: Annotated[
        str,
        typer.Argument(
            help="agents, judges, worlds, ...; without it, everything that can be listed."
        ),
    ] = "",
    world: Annotated[
        str, typer.Option("--world", help="For labels: the web, such as graph:PATH.")
    ] = "",
) -> None:
    """List the parts of one kind with what they do, or the labels of a web with their counts."""
    from honeyguide.registry import FAMILIES, broken, missing, parts

    kinds = {f"{kind}s": kind for kind in FAMILIES}
    if not what:
        typer.echo("\n".join(sorted([*kinds, "labels"])))
        return
    if what in ("label", "labels"):
        _list_labels(world)
        return
    if what in ("suite", "suites"):
        raise experiments_moved("--list")
    kind = kinds.get(what) or (what if what in FAMILIES else None)
    if kind is None:
        raise unknown("list", what, [*kinds, "labels"])
    rows = {name: part.summary for name, part in parts(kind).items()}
    rows |= {
        name: f"(needs pip install 'honeyguide[{extra}]')" for name, extra in missing(kind).items()
    }
    _print(rows | {name: f"(broken: {why})" for name, why in broken(kind).items()})


def _print(rows: dict[str, str]) -> None:
    """Print names and what they mean in two columns."""
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    for row in rows.items():
        table.add_row(*row)
    console(soft_wrap=True).print(table)


def _list_labels(world: str) -> None:
    from honeyguide.judges.label import Label
    from honeyguide.registry import make

    if not world:
        raise HoneyguideError("name the web with --world graph:PATH or --world synthetic")
    labels = make("world", world, judge=Label("any")).labels()
    if not labels:
        raise HoneyguideError(f"world {world!r} has no labels")
    for label, count in sorted(labels.items(), key=lambda item: (-item[1], item[0])):
        typer.echo(f"{count:>8}  {label}")
