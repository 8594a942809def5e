"""honeyguide frontier: show the best waiting links of a crawl, its hosts and URL patterns."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from honeyguide.cli import flags
from honeyguide.text.words import counted

if TYPE_CHECKING:
    from honeyguide.engine.view import FrontierView

PARTS = 3  # reasons of a link


def frontier(
    folder: flags.Folder,
    count: Annotated[int, typer.Option("--count", min=1, max=1000, help="Links to show.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON.")] = False,
) -> None:
    """Show the best waiting links of a crawl with their reasons, by host and by pattern."""
    import msgspec

    from honeyguide.storage.best_links import best_links

    view = best_links(
        folder, count, lambda sentence: typer.echo(f"honeyguide: {sentence}", err=True)
    )
    for line in [msgspec.json.encode(view).decode()] if as_json else _lines(view):
        typer.echo(line)


def _lines(view: "FrontierView") -> Iterator[str]:
    from honeyguide.cli.why_text import duration, parts_lines

    in_flight = f", {len(view.in_flight):,} in flight" if view.in_flight else ""
    yield f"{counted(view.waiting, 'link')} wait on {counted(view.host_count, 'host')}{in_flight}"
    for link in view.links:
        rests = f"  (its host rests for {duration(link.rests)})" if link.rests > 0 else ""
        yield f"{_score(link.score)}  {link.url}{rests}"
        yield from (f"    {line}" for line in parts_lines(link.parts, PARTS))
    if view.hosts:
        yield "by host"
    for host in view.hosts:
        rests = f", rests for {duration(host.rests)}" if host.rests > 0 else ""
        waiting = counted(host.waiting, "link")
        yield f"  {_score(host.best)}  {host.host}: {waiting}{rests}"
    if view.forms:
        yield "by pattern, of the best links"
    for form in view.forms:
        yield f"  {_score(form.best)}  {form.form}: {counted(form.waiting, 'link')}"


def _score(score: float | None) -> str:
    return " seed" if score is None else f"{score:5.2f}"
