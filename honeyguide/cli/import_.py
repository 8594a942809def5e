"""honeyguide import: make recorded webs from other formats, one command for each."""

import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from honeyguide.cli import flags
from honeyguide.cli.progress import progress_bar
from honeyguide.errors import HoneyguideError
from honeyguide.text.words import counted

app = typer.Typer(help="Make a recorded web from files of other formats.")

Source = Annotated[Path, typer.Argument(help="The file or folder to read.", show_default=False)]
Out = Annotated[Path, typer.Argument(help="The folder to write.", show_default=False)]


@app.callback(invoke_without_command=True)
def _show_help(context: typer.Context) -> None:
    """Make a recorded web from files of other formats."""
    flags.show_help(context)


@app.command("jsonl", short_help="Import JSON lines with id, title, text, links and labels.")
def jsonl(source: Source, out: Out) -> None:
    """Import a .jsonl or .jsonl.zst file, one page a line: id, title, text, links, labels."""
    from honeyguide.recorded.importers.jsonl import import_jsonl

    _import(import_jsonl, source, out)


@app.command("html", short_help="Import a folder or tar archive of HTML files.")
def html(source: Source, out: Out) -> None:
    """Import a folder or tar archive (.tar, .tar.gz, .tar.zst) of a site's HTML files."""
    from honeyguide.recorded.importers.html import import_html

    _import(import_html, source, out)


@app.command("warc")
def warc(
    sources: Annotated[
        list[Path],
        typer.Argument(help="WARC or WAT files, or folders of them.", show_default=False),
    ],
    out: Out,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Stop at a damaged file instead of skipping it."),
    ] = False,
    join_variants: Annotated[
        bool,
        typer.Option(
            "--join-variants",
            help="Take http and https, www. or none, a last slash or none, and redirects for one"
            " page.",
        ),
    ] = False,
) -> None:
    """Import WARC or WAT files, of a crawl or of Common Crawl.

    Damaged files are skipped with a message.
    """
    from honeyguide.recorded.importers.warc import import_warc

    lines: list[str] = []
    work = partial(import_warc, strict=strict, join_variants=join_variants, skipped=lines.append)
    try:
        _import(work, sources, out)
    finally:
        for line in lines:
            typer.echo(line, err=True)


@app.command("wikipedia", short_help="Import a dump of Wikipedia or another MediaWiki.")
def wikipedia(
    source: Source,
    out: Out,
    sample: Annotated[
        float, typer.Option("--sample", help="Take only this share of the pages, drawn at random.")
    ] = 1.0,
    pagelinks: Annotated[
        Path | None,
        typer.Option("--pagelinks", help="The wiki's own table of links, pagelinks.sql.gz."),
    ] = None,
    namespaces: Annotated[
        list[int],
        typer.Option(
            "--namespace", help="Take the pages of this namespace, by number; repeat for more."
        ),
    ] = [0],  # noqa: B006 - typer copies it
    random_seed: flags.RandomSeed = 0,
) -> None:
    """Import a dump of a MediaWiki: pages-articles.xml, .xml.bz2, .xml.gz or .xml.zst."""
    from honeyguide.recorded.importers.wikipedia import import_wikipedia

    work = partial(
        import_wikipedia,
        sample=sample,
        pagelinks=pagelinks,
        namespaces=namespaces,
        random_seed=random_seed,
    )
    _import(work, source, out)


@app.command("subgraph", short_help="Cut the pages around some targets out of a recorded web.")
def subgraph(
    source: Annotated[Path, typer.Argument(help="A recorded web.", show_default=False)],
    out: Out,
    targets: Annotated[
        str,
        typer.Option(
            "--targets", help="Domains with commas between them, or a file with one a line."
        ),
    ] = "",
    column: Annotated[
        str,
        typer.Option(
            "--column", help="Of a CSV file with targets: its name, or its number from 1."
        ),
    ] = "",
    label: Annotated[
        str, typer.Option("--label", help="Instead of --targets: pages with this label.")
    ] = "",
    hops: Annotated[
        int,
        typer.Option("--hops", min=0, help="Take pages up to this many links away from a target."),
    ] = 2,
) -> None:
    """Take from a recorded web the pages that lead to some targets, and what they link to."""
    from honeyguide.judges.targets import Targets
    from honeyguide.recorded.importers.subgraph import cut_subgraph

    judge = Targets(targets, column) if targets else None
    is_target = None if judge is None else lambda page: judge(page).relevant

    def work(source: Path, out: Path, progress: Any) -> dict[str, int]:
        return cut_subgraph(source, out, is_target, label, hops, progress)

    _import(work, source, out)


def _import(work: Callable[..., dict[str, Any]], source: Path | list[Path], out: Path) -> None:
    with _locked(out), progress_bar() as bar:
        task = bar.add_task("reading", total=None, news="")

        def report(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total or None)

        counts = work(source, out, report)
    typer.echo(f"{out}: " + ", ".join(_with_noun(count, name) for name, count in counts.items()))
    typer.echo(f"crawl it with --world graph:{out}")


def _with_noun(count: int, name: str) -> str:
    is_plural = name.isalpha() and name.endswith("s")
    return counted(count, name[:-1]) if is_plural else f"{count:,} {name}"


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Hold the lock of a place; remove what unfinished imports left there, before and after."""
    from honeyguide.storage.lock import Lock

    if out.exists():
        raise HoneyguideError(f"{out} already exists: choose another place for the graph")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HoneyguideError(f"cannot write to {out}: {error.strerror}") from None
    file = out.with_name(f".{out.name}.lock")
    lock = Lock(out, file)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends it as Ctrl-C does
    try:
        _remove_drafts(out)
        yield
    finally:
        _remove_drafts(out)  # a signal may come before the writer can clean up
        signal.signal(signal.SIGTERM, before)
        lock.release()
        file.unlink(missing_ok=True)


def _remove_drafts(out: Path) -> None:
    """Remove unfinished imports to a place whose lock is held."""
    from honeyguide.recorded.writer import drafts

    for draft in drafts(out):
        shutil.rmtree(draft, ignore_errors=True)
