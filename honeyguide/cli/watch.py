"""honeyguide watch: report what is new on source pages, each item once."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from honeyguide.cli import flags
from honeyguide.cli.run_folder import NOTHING_FETCHED
from honeyguide.errors import explained

if TYPE_CHECKING:
    from honeyguide.source_finder.watch import Item

FEED_LENGTH = 100  # items


def watch(
    sources: Annotated[
        Path, typer.Argument(help="A file with one URL a line, or the output of 'find --json'.")
    ],
    out: Annotated[
        Path, typer.Option("--out", help="The file to add new items to, as JSON lines.")
    ] = Path("items.jsonl"),
    rss: Annotated[
        Path | None, typer.Option("--rss", help="Also write an RSS feed to this file.")
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Visit the pages that are due, then stop: for cron.")
    ] = False,
    delay: flags.SiteDelay = 1.0,
    world: Annotated[str, typer.Option("--world", help="The web that has the pages.")] = "web",
    contact: flags.Contact = "",
    allow_private: flags.AllowPrivate = False,
    resolve: flags.Resolve = "",
) -> None:
    """Visit source pages again and again, and report each new item once."""
    import asyncio

    from honeyguide.cli.sites import open_sites
    from honeyguide.disk.output_paths import check_writable
    from honeyguide.source_finder import watch as watching
    from honeyguide.storage.lock import Lock

    for place in filter(None, (out, rss)):
        check_writable(place)
    sites = open_sites(world, delay, contact=contact, allow_private=allow_private, resolve=resolve)
    addresses = watching.read_sources(sources)
    state, lock = (out.with_name(f"{out.name}.{end}") for end in ("state", "lock"))
    held = Lock(out, lock)  # two processes would report items twice

    async def run() -> watching.Watch:
        try:
            written = watching.read_items(out)
            kept = watching.Watch(state, addresses)
            async for fresh in watching.follow(kept, sites, once):
                new = watching.not_yet_written(fresh, written)
                _append(out, new)
                written.extend(new)
                if rss and (new or not rss.exists()):
                    watching.write_rss(rss, written[: -FEED_LENGTH - 1 : -1], addresses[0])
            return kept
        finally:
            held.release()
            await sites.close()

    watched = asyncio.run(run()).sources
    failed = [source for source in watched if source.failure]
    for source in failed:
        why = explained(source.failure)
        typer.echo(f"honeyguide: {source.url} cannot be read: {why}", err=True)
    if len(failed) == len(watched):
        raise typer.Exit(NOTHING_FETCHED)


def _append(out: Path, items: "list[Item]") -> None:
    """Print new items and add them to the file."""
    with out.open("a", encoding="utf-8") as file:
        for item in items:
            file.write(json.dumps(asdict(item), ensure_ascii=False) + "\n")
            typer.echo(f"{item.title}: {item.url}")
