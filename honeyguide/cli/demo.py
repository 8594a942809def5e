"""honeyguide demo: compare agents on generated webs in readable English."""

import io
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from honeyguide.cli.bench import bar_per_agent, print_results
from honeyguide.cli.progress import progress_bar
from honeyguide.cli.terminal import console
from honeyguide.errors import HoneyguideError
from honeyguide.text.words import counted

if TYPE_CHECKING:
    from rich.table import Table

    from honeyguide.bench.compare import Comparison
    from honeyguide.plan import Plan

MARKER = "honeyguide-demo"  # a file in every demo folder: no other folder is deleted
WIDTH = 80  # characters of the table
CRAWL = "guide"  # the folder of the one crawl that is kept


def demo(
    out: Annotated[Path, typer.Option("--out", help="The folder for the results.")] = Path(
        "demo-results"
    ),
    replace: Annotated[bool, typer.Option("--replace", help="Replace an earlier demo.")] = False,
    budget: Annotated[
        int, typer.Option("--budget", min=1, help="Pages to fetch with each agent on each web.")
    ] = 300,
    webs: Annotated[
        int, typer.Option("--webs", min=1, max=14, help="Webs to crawl, each with its own topic.")
    ] = 14,
) -> None:
    """Crawl generated webs for a topic each with several agents, and compare what they find."""
    from honeyguide.bench.compare import compare
    from honeyguide.bench.demo import AGENTS, PAGES, merged, tasks, write

    _make_folder(out, replace)
    plans = tasks(webs, budget)
    typer.echo(
        f"{counted(webs, 'generated web')} of {PAGES:,} pages in plain English, each with a topic "
        f"to look for; {len(AGENTS)} agents."
    )
    start = time.perf_counter()
    with progress_bar() as bar:
        advance = bar_per_agent(bar, budget * webs)
        comparison = merged([compare(plan, AGENTS, 1, advance) for plan in plans])
    console().print(_table(comparison))
    typer.echo(_explained(comparison))
    typer.echo(f"It took {time.perf_counter() - start:.0f} seconds.")
    print_results(write(comparison, plans, as_text(comparison), out))
    _keep_crawl(plans[0], out / CRAWL)
    typer.echo(f"the pages: honeyguide export {out / CRAWL} --relevant --out pages.jsonl")


def as_text(comparison: "Comparison") -> str:
    """The table and what it means, as a file and the README have them."""
    text = io.StringIO()
    from rich.console import Console

    Console(file=text, width=WIDTH, color_system=None).print(_table(comparison))
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    return "\n".join([*lines, _explained(comparison)]) + "\n"


def _table(comparison: "Comparison") -> "Table":
    from rich.table import Table

    from honeyguide.bench.demo import COLUMNS, rows, title

    table = Table(title=title(comparison))
    for column in COLUMNS:
        table.add_column(column, justify="left" if column == COLUMNS[0] else "right")
    for row in rows(comparison):
        table.add_row(*row)
    return table


def _explained(comparison: "Comparison") -> str:
    from honeyguide.bench.demo import explained, failures

    return f"{explained()}\n{failures(comparison)}"


def _keep_crawl(plan: "Plan", folder: Path) -> None:
    """Crawl the first web once more, into a folder that the other commands can read."""
    from honeyguide.storage.crawl_folder import INTERRUPTED, create_crawl, run_crawl

    create_crawl(folder, plan)
    if run_crawl(folder, lambda *_: None).outcome.reason == INTERRUPTED:
        raise KeyboardInterrupt


def _make_folder(out: Path, replace: bool) -> None:
    """Make an empty folder for the demo; delete an earlier demo only with --replace."""
    from honeyguide.disk.output_paths import check_folder

    check_folder(out)
    is_demo = (out / MARKER).is_file()
    if out.exists() and not is_demo:
        raise HoneyguideError(f"{out} exists and is no demo; name another folder with --out")
    if is_demo and not replace:
        raise HoneyguideError(f"{out} exists; name another folder with --out, or --replace it")
    try:
        if is_demo:
            shutil.rmtree(out)
        out.mkdir(parents=True)
        (out / MARKER).touch()
    except OSError as error:
        raise HoneyguideError(f"cannot write to {out}: {error.strerror or error}") from None
