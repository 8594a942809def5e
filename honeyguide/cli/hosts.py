"""honeyguide hosts: show the hosts of a crawl, what they brought and what they cost."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from honeyguide.cli import flags

if TYPE_CHECKING:
    from honeyguide.storage.host_rows import HostRow

COLUMNS = ("pages", "relevant", "yield", "errors", "requests", "bytes", "waiting", "rests", "host")


def hosts(
    folder: flags.Folder,
    count: Annotated[int, typer.Option("--count", min=1, help="Hosts to show.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON a host.")] = False,
) -> None:
    """Show requests, errors, rests, yield, bytes and robots.txt of each host of a crawl."""
    import msgspec

    from honeyguide.storage.host_rows import host_rows

    rows = host_rows(folder, lambda sentence: typer.echo(f"honeyguide: {sentence}", err=True))
    if as_json:
        lines: Iterator[str] = (msgspec.json.encode(row).decode() for row in rows)
    else:
        lines = _table(rows, count)
    for line in lines:
        typer.echo(line)


def _table(rows: Sequence["HostRow"], count: int) -> Iterator[str]:
    table = [COLUMNS, *(tuple(map(str, _cells(row))) for row in rows[:count])]
    widths = [max(len(row[place]) for row in table) for place in range(len(COLUMNS) - 1)]
    for *numbers, host in table:
        cells = (cell.rjust(width) for cell, width in zip(numbers, widths, strict=True))
        yield "  ".join((*cells, host))
    if len(rows) > count:
        yield f"and {len(rows) - count:,} more: --count shows them, --json all"


def _cells(row: "HostRow") -> tuple[Any, ...]:
    from honeyguide.cli.why_text import duration
    from honeyguide.engine.machine import format_size

    rests = duration(row.rests) if row.rests > 0 else ""
    asked = f"{row.rests_asked} asked" if row.rests_asked else ""
    robots = [f"robots.txt forbids {row.refused:,}"] if row.refused else []
    robots += [f"Crawl-delay {row.crawl_delay:g} s"] if row.crawl_delay else []
    return (
        f"{row.pages:,}",
        f"{row.relevant:,}",
        f"{row.share:.0%}",
        f"{sum(row.failed.values()):,}",
        f"{row.requests:,}",
        format_size(row.bytes),
        f"{row.waiting:,}",
        ", ".join(filter(None, (rests, asked))) or "-",
        row.host + (f" ({', '.join(robots)})" if robots else ""),
    )
