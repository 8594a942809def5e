"""honeyguide bench: compare agents on one task."""

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from honeyguide.cli import flags
from honeyguide.cli import help_groups as groups
from honeyguide.cli.progress import progress_bar
from honeyguide.cli.run_folder import NOTHING_FETCHED
from honeyguide.cli.seed_names import read_names
from honeyguide.cli.terminal import console
from honeyguide.errors import HoneyguideError, nothing_fetched
from honeyguide.text.words import printable

DEFAULT_AGENTS = "best_first,breadth_first,random"
GONE = "Replaced by `python -m experiments`."

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from honeyguide.bench.compare import Comparison


def experiments_moved(arguments: str) -> HoneyguideError:
    """Return the error that names what replaces suites of experiments."""
    return HoneyguideError(
        "suites of experiments are no longer part of the installed program: run "
        f"`python -m experiments {arguments}` in a clone of the source"
    )


def _refuse_suite(suite: str) -> str:
    if suite:
        raise experiments_moved(shlex.quote(suite))
    return suite


def bench(
    out: flags.Out,
    world: flags.World = "",
    seeds: flags.Seeds = [],  # noqa: B006 - a bench without seeds gets an error of its own
    topic: flags.Topic = "",
    like: flags.Like = [],  # noqa: B006 - never changed
    judge: flags.Judge = "topic",
    encoder: flags.Encoder = "wordllama",
    idf_sample: flags.IdfSample = "",
    agents: Annotated[
        str | None,
        groups.part_flag(
            "--agents",
            help="The agents to compare, with commas between them.",
            show_default=DEFAULT_AGENTS,
        ),
    ] = None,
    survey: flags.Survey = 0,
    budget: flags.Budget = 1000,
    runs: Annotated[
        int,
        groups.limit_flag("--runs", min=1, help="Run each agent this many times."),
    ] = 5,
    in_flight: flags.InFlight = None,
    delay: flags.Delay = None,
    patience: flags.Patience = None,
    random_seed: flags.RandomSeed = 0,
    replace: Annotated[
        bool,
        groups.output_flag("--replace", help="Replace earlier results."),
    ] = False,
    config: flags.Config = None,
    suite: Annotated[
        str,
        typer.Option("--suite", help=GONE, hidden=True, is_eager=True, callback=_refuse_suite),
    ] = "",
    of_suite: Annotated[
        list[str], typer.Option("--data", "--part", "--workers", help=GONE, hidden=True)
    ] = [],  # noqa: B006 - never changed
    quick: Annotated[bool, typer.Option("--quick", help=GONE, hidden=True)] = False,
) -> None:
    """Compare agents on the same web, with the same topic, seeds, judge and budget."""
    from honeyguide.bench.report import FILES, write_report
    from honeyguide.disk.output_paths import check_empty

    if of_suite or quick:
        raise experiments_moved("NAME")
    _check_folder(out)
    names = agent_names(DEFAULT_AGENTS if agents is None else agents)
    if not world:
        raise HoneyguideError("name the web to crawl with --world, such as --world synthetic")
    if not any((out / name).exists() for name in FILES):
        check_empty(out, "a comparison")
    elif not replace:
        raise HoneyguideError(
            f"{out} has results: name another folder with --out, or --replace them"
        )
    from honeyguide.bench.compare import compare
    from honeyguide.plan import Plan

    plan = Plan(
        topic=topic,
        seeds=read_names(seeds, world),
        like=tuple(like),
        world=world,
        judge=judge,
        encoder=flags.with_idf_sample(encoder, idf_sample),
        survey=survey,
        budget=budget,
        in_flight=in_flight,
        delay=delay,
        patience=patience,
        random_seed=random_seed,
    )
    with progress_bar() as bar:
        comparison = compare(plan, names, runs, bar_per_agent(bar, budget * runs))
    written = write_report(comparison, out, _command())
    print_comparison(comparison)
    print_results(written)
    if 0 < sum(sum(runs.pages) for runs in comparison.runs) == comparison.failures.total():
        typer.echo(f"honeyguide: {nothing_fetched(comparison.failures)}", err=True)
        raise typer.Exit(NOTHING_FETCHED)


def _command() -> str:
    """Return the command line for the report; arguments need not be UTF-8."""
    return printable(shlex.join(["honeyguide", *sys.argv[1:]]))


def _check_folder(out: Path) -> None:
    from honeyguide.disk.output_paths import check_folder
    from honeyguide.storage.database import FILE

    check_folder(out)
    if (out / FILE).exists():
        raise HoneyguideError(f"{out} holds a crawl; name another folder with --out")


def agent_names(agents: str) -> tuple[str, ...]:
    """Split agents at commas; a bare key=value is one more setting of the agent before it."""
    names: list[str] = []
    for piece in filter(None, map(str.strip, agents.split(","))):
        key, is_setting, _ = piece.partition("=")
        if names and is_setting and ":" not in key:
            names[-1] += f",{piece}"
        else:
            names.append(piece)
    if not names:
        raise HoneyguideError(
            "name the agents with --agents; `honeyguide list agents` shows them all"
        )
    return tuple(names)


def bar_per_agent(bar: "Progress", total: int) -> Callable[[str, int], None]:
    """Show a progress bar for each agent, from when it starts."""
    tasks: dict[str, TaskID] = {}

    def advance(agent: str, pages: int) -> None:
        if agent not in tasks:
            tasks[agent] = bar.add_task(agent, total=total, news="")
        bar.advance(tasks[agent], pages)

    return advance


def print_comparison(comparison: "Comparison") -> None:
    """Print the comparison as a table."""
    from rich.table import Table

    from honeyguide.bench.report import best_first, cells

    table = Table(title=f"{comparison.plan.topic}: relevant pages in {comparison.plan.budget}")
    table.add_column("agent")
    for column in ("relevant", "sd", "of the oracle", "pages", "seconds"):
        table.add_column(column, justify="right")
    for runs in best_first(comparison):
        table.add_row(*cells(comparison, runs))
    console().print(table)


def print_results(written: Sequence[Path]) -> None:
    """Print which files were written, and how to get the picture if it was not."""
    typer.echo(f"results: {', '.join(map(str, written))}")
    if not any(path.suffix == ".png" for path in written):
        typer.echo("curves.png needs matplotlib: pip install 'honeyguide[plots]'", err=True)
