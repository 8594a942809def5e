"""honeyguide find: find the pages where sites publish their events."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from honeyguide.cli import flags
from honeyguide.cli.progress import progress_bar
from honeyguide.cli.run_folder import NOTHING_FETCHED
from honeyguide.cli.seed_names import read_names
from honeyguide.errors import HoneyguideError
from honeyguide.text.words import counted

if TYPE_CHECKING:
    from honeyguide.source_finder.find import Answer


def find(
    homes: Annotated[
        list[str],
        typer.Argument(
            help="The home pages of sites, or a file with one a line.", show_default=False
        ),
    ],
    kind: Annotated[
        str,
        typer.Option(
            "--kind", help="What to find: events, or a file of 'honeyguide train source_finder'."
        ),
    ] = "events",
    clicks: Annotated[
        int, typer.Option("--clicks", min=1, help="Visit at most this many pages of a site.")
    ] = 10,
    feedback: Annotated[
        bool,
        typer.Option("--feedback", help="Learn from each page found which other links to try."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for each site.")
    ] = False,
    delay: flags.SiteDelay = 1.0,
    world: Annotated[
        str, typer.Option("--world", help="The web to look at: web, or organisations:SET.")
    ] = "web",
    contact: flags.Contact = "",
    allow_private: flags.AllowPrivate = False,
    resolve: flags.Resolve = "",
) -> None:
    """Find the pages where sites publish their events, with as few clicks as possible."""
    import asyncio

    from honeyguide.cli.sites import open_sites
    from honeyguide.source_finder.find import Finder

    finder = Finder(model=kind, clicks=clicks, delay=delay, feedback=feedback)
    sites = open_sites(world, delay, contact=contact, allow_private=allow_private, resolve=resolve)

    show = _show_json if as_json else _show
    addresses, wrong = _addresses(read_names(homes, world))
    for answer in wrong:
        show(answer)

    with progress_bar() as bar:
        task = bar.add_task("sites", total=len(addresses), news="")

        def tell(answer: "Answer") -> None:
            bar.advance(task)
            show(answer)

        async def run() -> "list[Answer]":
            try:
                return await finder.find(addresses, sites, tell)
            finally:
                await sites.close()

        answers = asyncio.run(run())
    if not answers and not wrong:
        raise HoneyguideError("name the home page of a site, such as https://example.org/")
    if all(answer.complaint for answer in answers):
        typer.echo("honeyguide: no site could be looked at", err=True)
        raise typer.Exit(NOTHING_FETCHED)


def _addresses(homes: Iterable[str]) -> "tuple[list[str], list[Answer]]":
    """Return the URLs of home pages, each once, and an answer for each that is no URL."""
    from honeyguide.cli.sites import address
    from honeyguide.source_finder.find import Answer

    found, wrong = [], []
    for home in dict.fromkeys(homes):
        try:
            found.append(address(home))
        except HoneyguideError as error:
            wrong.append(Answer(home, complaint=str(error)))
    return list(dict.fromkeys(found)), wrong


def _show_json(answer: "Answer") -> None:
    sources = [{"url": s.url, "probability": round(s.probability, 4)} for s in answer.sources]
    row = {"home": answer.home, "sources": sources, "clicks": answer.clicks}
    row |= {"complaint": answer.complaint} if answer.complaint else {}
    typer.echo(json.dumps(row, ensure_ascii=False))


def _show(answer: "Answer") -> None:
    if answer.complaint:
        typer.echo(f"honeyguide: {answer.complaint}", err=True)
        return
    found = "no source page" if not answer.sources else ""
    typer.echo(f"{answer.home}: {found or 'found'} with {counted(answer.clicks, 'click')}")
    for source in answer.sources:
        typer.echo(f"  {source.url} ({source.probability:.2f})")
