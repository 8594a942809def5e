"""honeyguide regions: show the lists on a page, record by record."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from honeyguide.cli import flags
from honeyguide.errors import HoneyguideError, explained
from honeyguide.text.words import counted

if TYPE_CHECKING:
    from honeyguide.source_finder.regions import Region

SHOWN = 100  # characters of a record


def regions(
    page: Annotated[str, typer.Argument(help="A URL, a file, or - for standard input.")],
    most: Annotated[int, typer.Option("--most", min=1, help="Show at most this many lists.")] = 2,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for each record.")
    ] = False,
    contact: flags.Contact = "",
    allow_private: flags.AllowPrivate = False,
    resolve: flags.Resolve = "",
) -> None:
    """Show the lists of similar records on a page, the largest first."""
    from honeyguide.source_finder.regions import read_regions

    body, url, content_type = _read(page, contact, allow_private, resolve)
    found = read_regions(body, url, content_type)
    if not found:
        raise HoneyguideError(f"there is no list of similar records on {page}")
    for number, region in enumerate(found[:most], 1):
        _show_json(number, region) if as_json else _show(number, region)


def _show(number: int, region: "Region") -> None:
    records, tags = counted(len(region.records), "record"), counted(region.nodes, "tag")
    typer.echo(f"region {number}: {records}, {tags}, {region.path}")
    for record in region.records:
        typer.echo(f"  {record.text[:SHOWN]}")
        for link in record.links[:1]:
            typer.echo(f"    {link.url}")


def _show_json(number: int, region: "Region") -> None:
    for record in region.records:
        links = [{"url": link.url, "text": link.text} for link in record.links]
        row = {"region": number, "text": record.text, "links": links}
        typer.echo(json.dumps(row, ensure_ascii=False))


def _read(page: str, contact: str, allow_private: bool, resolve: str) -> tuple[bytes, str, str]:
    """Return the bytes of a page, its URL if it has one, and its content type."""
    import asyncio

    if not page.strip():
        raise HoneyguideError("name a page: a URL, a file, or - for standard input")
    if page == "-":
        return sys.stdin.buffer.read(), "", ""
    if "://" not in page:
        try:
            return Path(page).read_bytes(), "", ""
        except OSError as error:
            hint = "; a URL begins with https://" if isinstance(error, FileNotFoundError) else ""
            raise HoneyguideError(f"cannot read {page}: {error.strerror}{hint}") from None
    return asyncio.run(_fetch(page, contact, allow_private, resolve))


async def _fetch(
    page: str, contact: str, allow_private: bool, resolve: str
) -> tuple[bytes, str, str]:
    from honeyguide.contracts import Verdict
    from honeyguide.registry import make

    named = {"contact": contact} if contact else {}
    world = make(
        "world", "web", judge=lambda page: Verdict(0.0, False), allow_private=allow_private,
        resolve=resolve, **named,
    )  # fmt: skip
    try:
        visit = await world.visit(world.find(page))
    finally:
        await world.close()
    if visit.failure:
        raise HoneyguideError(f"cannot fetch {page}: {explained(visit.failure)}")
    response = visit.response
    return response.body, response.url, response.headers.get("content-type", "")
