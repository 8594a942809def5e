"""honeyguide find: find the pages where sites publish their events."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from honeyguide.cli import flags
from honeyguide.cli.progress import progress_bar
from honeyguide.cli.run_folder import NOTHING_FETCHED
from honeyguide.cli.seed_names import read_names
from honeyguide.errors import HoneyguideError
from honeyguide.text.words import are, counted, encodable, printable

if TYPE_CHECKING:
    from honeyguide.source_finder.find import Answer, Finder

COLUMNS = ("home", "source", "probability", "clicks", "stopped", "complaint")
Show = Callable[["Answer"], None]


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
            "--kind",
            help="What to find: events, news, or a file of 'honeyguide train source_finder'.",
        ),
    ] = "events",
    like: Annotated[
        list[str] | None,
        typer.Option(
            "--like", help="Find pages like this one, without a model; may be given several times."
        ),
    ] = None,
    max_clicks: Annotated[
        int,
        typer.Option(
            "--max-clicks", "--clicks", min=1, help="Visit at most this many pages of a site."
        ),
    ] = 10,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            min=0,
            max=1,
            help="Click no link that promises less; the default is the model's own rule.",
            show_default=False,
        ),
    ] = None,
    stopping: Annotated[
        str,
        typer.Option(
            "--stopping",
            help="When to stop: calibrated, thorough (click until a page is found), or equation5.",
        ),
    ] = "calibrated",
    feedback: Annotated[
        bool,
        typer.Option("--feedback", help="Learn from each page found which other links to try."),
    ] = False,
    workers: Annotated[
        int, typer.Option("--workers", min=1, max=256, help="Search this many sites at a time.")
    ] = 8,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for each site.")
    ] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print a table with a row for each page found.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Also add one JSON object a site to this file; sites that it has are skipped.",
            show_default=False,
        ),
    ] = None,
    delay: flags.SiteDelay = 1.0,
    world: Annotated[
        str, typer.Option("--world", help="The web to look at: web, or organisations:SET.")
    ] = "web",
    contact: flags.Contact = "",
    allow_private: flags.AllowPrivate = False,
    resolve: flags.Resolve = "",
) -> None:
    """Find the pages where sites publish their events, with as few clicks as possible."""
    from honeyguide.cli.sites import open_sites
    from honeyguide.source_finder.find import Finder

    if as_json and as_csv:
        raise HoneyguideError("give --json or --csv, not both")
    finder = Finder(
        model=kind, clicks=max_clicks, threshold=threshold, delay=delay, feedback=feedback,
        stopping=stopping, workers=workers,
    )  # fmt: skip
    sites = open_sites(world, delay, contact=contact, allow_private=allow_private, resolve=resolve)
    show = _json_line if as_json else _csv_row if as_csv else _sentences
    if as_csv:
        typer.echo(_csv(COLUMNS))
    with _kept(out) as (known, keep):
        addresses, wrong = _addresses(read_names(homes, world))
        for answer in wrong:
            show(answer)
        todo = [home for home in addresses if home not in known]
        if len(todo) < len(addresses):
            skipped = len(addresses) - len(todo)
            said = f"{counted(skipped, 'site')} {are(skipped)} in {out} already"
            typer.echo(f"honeyguide: {said}", err=True)
        answers = _search(finder, todo, sites, _both(show, keep), like)
    if not addresses and not wrong:
        raise HoneyguideError("name the home page of a site, such as https://example.org/")
    if todo and all(answer.complaint for answer in answers):
        typer.echo("honeyguide: no site could be looked at", err=True)
        raise typer.Exit(NOTHING_FETCHED)


def _search(
    finder: "Finder", homes: list[str], sites: Any, tell: Show, like: list[str] | None
) -> "list[Answer]":
    """Search all sites with a progress bar."""
    import asyncio

    async def run(on_answer: Show) -> "list[Answer]":
        try:
            ready = await finder.like(like, sites) if like else finder
            return await ready.find(homes, sites, on_answer)
        finally:
            await sites.close()

    with progress_bar() as bar:
        task = bar.add_task("sites", total=len(homes), news="")
        found = 0

        def told(answer: "Answer") -> None:
            nonlocal found
            found += bool(answer.sources)
            bar.update(task, advance=1, news=f"{found} found")
            tell(answer)

        return asyncio.run(run(told))


@contextmanager
def _kept(out: Path | None) -> Iterator[tuple[set[str], Show]]:
    """Yield the home pages that a file has already, and a function that adds an answer to it."""
    if out is None:
        yield set(), lambda answer: None
        return
    known = _answered(out)
    try:
        file = out.open("a", encoding="utf-8")
    except OSError as error:
        raise HoneyguideError(f"cannot write {out}: {error.strerror}") from None
    with file:
        yield known, lambda answer: _append(file, answer)


def _append(file: TextIO, answer: "Answer") -> None:
    file.write(json.dumps(_row(answer), ensure_ascii=False) + "\n")
    file.flush()


def _answered(out: Path) -> set[str]:
    """Return the homes of a file's lines; a last line that was cut off is removed."""
    try:
        body = out.read_bytes() if out.exists() else b""
        whole = body[: body.rfind(b"\n") + 1]
        if len(whole) < len(body):
            out.write_bytes(whole)
    except OSError as error:
        raise HoneyguideError(f"cannot read {out}: {error.strerror}") from None
    try:
        return {json.loads(line)["home"] for line in whole.splitlines() if line.strip()}
    except (ValueError, KeyError, TypeError):
        raise HoneyguideError(f"{out} is not a file of 'honeyguide find --out'") from None


def _both(one: Show, other: Show) -> Show:
    def tell(answer: "Answer") -> None:
        other(answer)
        one(answer)

    return tell


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


def _row(answer: "Answer") -> dict[str, Any]:
    """Return an answer as it is written in JSON."""
    sources = [{"url": s.url, "probability": round(s.probability, 4)} for s in answer.sources]
    row: dict[str, Any] = {"home": answer.home, "sources": sources, "clicks": answer.clicks}
    if answer.complaint:
        return row | {"complaint": answer.complaint}
    clicked = [
        {
            "url": click.url,
            "anchor": encodable(click.anchor),
            "expected": round(click.expected, 4),
            "page": round(click.page, 4),
            **({"failure": click.failure} if click.failure else {}),
        }
        for click in answer.clicked
    ]
    return row | {"clicked": clicked, "stopped": answer.stopped}


def _json_line(answer: "Answer") -> None:
    typer.echo(json.dumps(_row(answer), ensure_ascii=False))


def _csv_row(answer: "Answer") -> None:
    end = [answer.clicks, answer.stopped, answer.complaint]
    for source in answer.sources:
        typer.echo(_csv([answer.home, source.url, f"{source.probability:.4f}", *end]))
    if not answer.sources:
        typer.echo(_csv([answer.home, "", "", *end]))


def _csv(values: Iterable[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()


def _sentences(answer: "Answer") -> None:
    if answer.complaint:
        typer.echo(f"honeyguide: {answer.complaint}", err=True)
        return
    found = "no source page" if not answer.sources else ""
    typer.echo(f"{answer.home}: {found or 'found'} with {counted(answer.clicks, 'click')}")
    for source in answer.sources:
        typer.echo(f"  {source.url} ({source.probability:.2f})")
    for number, click in enumerate(answer.clicked, 1):
        seen = click.failure or f"page {click.page:.2f}"
        said = encodable(click.anchor)[:40] or click.url
        typer.echo(printable(f"    {number}. {said!r}: expected {click.expected:.2f}, {seen}"))
    typer.echo(f"    stopped: {answer.stopped}")
