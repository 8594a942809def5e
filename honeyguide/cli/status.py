"""honeyguide status, export, robots: look at a crawl, take its pages away, ask for rules."""

import asyncio
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO, cast

import typer

from honeyguide.cli import flags
from honeyguide.cli import status_text as standing
from honeyguide.cli.progress import progress_bar
from honeyguide.cli.terminal import PrintableStream
from honeyguide.errors import HoneyguideError
from honeyguide.text.words import counted

if TYPE_CHECKING:
    from honeyguide.storage.exports import Exported

Folder = Annotated[Path, typer.Argument(help="Where a crawl was begun.", show_default=False)]


def status(
    folder: Folder,
    as_json: Annotated[
        bool, typer.Option("--json", help="One line of JSON; times are seconds since 1970.")
    ] = False,
) -> None:
    """Say how a crawl stands, while it runs or after."""
    from honeyguide.storage import exports

    known = exports.status(folder)
    for line in [json.dumps(known)] if as_json else standing.lines(known):
        typer.echo(line)


def export(
    folder: Folder,
    out: Annotated[
        Path,
        typer.Option("--out", help="The file to make; - is standard output.", show_default=False),
    ],
    format: Annotated[
        str,
        typer.Option(
            "--format", help="jsonl, csv, parquet or warc; by default what the file's name ends in."
        ),
    ] = "",
    relevant: Annotated[bool, typer.Option("--relevant", help="Relevant pages only.")] = False,
) -> None:
    """Write what a crawl found into one file."""
    from honeyguide.storage import exports

    format = format or exports.format_of(out)
    is_piped = str(out) == "-"
    with progress_bar() as bar:
        task = bar.add_task("pages", total=None, news="")

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        if is_piped:
            found = _pipe(lambda file: exports.stream(folder, format, file, relevant, advance))
        else:
            found = exports.export(folder, format, out, relevant, advance)
    typer.echo(f"{counted(found.pages, 'page')}: {out}", err=is_piped)
    if found.damaged:
        they_are = (
            "are left out because they are" if found.damaged > 1 else "is left out because it is"
        )
        typer.echo(
            f"honeyguide: {counted(found.damaged, 'page')} {they_are} damaged:"
            f" 'honeyguide check {shlex.quote(str(folder))}' says more",
            err=True,
        )
        raise typer.Exit(1)


def _pipe(write: Callable[[TextIO], "Exported"]) -> "Exported":
    """Write to standard output in UTF-8, whatever the terminal's; who reads may have enough."""
    try:
        with open(1, "w", encoding="utf-8", newline="", closefd=False) as file:
            return write(cast(TextIO, PrintableStream(file)) if file.isatty() else file)
    except BrokenPipeError:
        raise typer.Exit from None
    except OSError as error:
        raise HoneyguideError(f"cannot write to standard output: {error.strerror}") from None


def robots(
    url: Annotated[str, typer.Argument(help="A web address.", show_default=False)],
    file: Annotated[
        Path | None, typer.Option("--file", help="A robots.txt to go by instead of the site's.")
    ] = None,
    user_agent: Annotated[
        str, typer.Option("--user-agent", help="As which crawler?")
    ] = "honeyguide",
    allow_private: flags.AllowPrivate = False,
    resolve: flags.Resolve = "",
) -> None:
    """Say whether a URL may be fetched, and which rule of its site's robots.txt decides."""
    from honeyguide import urls
    from honeyguide.web import http
    from honeyguide.web.connections import FixedAddresses
    from honeyguide.web.robots import Robots
    from honeyguide.web.robots_txt import Decision, RobotsTxt

    canonical = urls.canonical(url)
    if canonical is None:
        raise HoneyguideError(f"{url!r} is no web address")

    hosts = FixedAddresses(resolve) if resolve else None

    async def ask() -> Decision:
        # whoever's rules are read, the one who asks for them is honeyguide
        name = http.user_agent(http.NOBODY)
        fetcher = http.HttpFetcher(name, allow_private=allow_private, hosts=hosts)
        asker = Robots(fetcher, user_agent)
        try:
            return await asker.decide(canonical)
        finally:
            await asker.close()

    decision = RobotsTxt(_bytes(file), user_agent).decide(canonical) if file else asyncio.run(ask())
    verb = "may" if decision.allowed else "may not"
    where = f" (line {decision.line})" if decision.line else ""
    typer.echo(
        f"{user_agent} {verb} fetch {canonical}: {decision.rule or 'no rule forbids it'}{where}"
    )
    if decision.crawl_delay:
        typer.echo(f"crawl-delay: {decision.crawl_delay:g} s")
    for sitemap in decision.sitemaps:
        typer.echo(f"sitemap: {sitemap}")
    raise typer.Exit(0 if decision.allowed else 3)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise HoneyguideError(f"cannot read {file}: {error.strerror}") from None
