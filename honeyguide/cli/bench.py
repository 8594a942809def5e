"""honeyguide bench: agents compared on one task, or on all those of a suite."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress, TaskID
from rich.table import Table

from honeyguide.cli import flags
from honeyguide.cli.crawl import Out
from honeyguide.cli.progress import progress_bar
from honeyguide.cli.terminal import console
from honeyguide.errors import HoneyguideError, nothing_fetched
from honeyguide.text.words import printable

FOR_BOTH = ("out", "agents", "config")
OF_A_SUITE = ("suite", "data", "parts", "quick", "workers")
USUAL = "best_first,breadth_first,random"
FILES = ("results.json", "report.md", "curves.png")

if TYPE_CHECKING:
    from honeyguide.bench.compare import Comparison


def bench(
    context: typer.Context,
    out: Out,
    world: flags.World = "",
    seeds: flags.Seeds = [],  # noqa: B006 - a bench without seeds is told so in one sentence
    topic: flags.Topic = "",
    like: flags.Like = [],  # noqa: B006 - never changed
    judge: flags.Judge = "topic",
    encoder: flags.Encoder = "wordllama",
    agents: Annotated[
        str | None,
        typer.Option(
            "--agents", help="Names with commas; of a suite, only these.", show_default=USUAL
        ),
    ] = None,
    survey: flags.Survey = 0,
    budget: flags.Budget = 1000,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Runs of each agent.")] = 5,
    in_flight: flags.InFlight = None,
    delay: flags.Delay = None,
    patience: flags.Patience = None,
    random_seed: flags.RandomSeed = 0,
    replace: Annotated[bool, typer.Option("--replace", help="Replace earlier results.")] = False,
    suite: Annotated[
        str, typer.Option("--suite", help="Run a suite of experiments; `honeyguide list suites`.")
    ] = "",
    data: Annotated[
        Path | None, typer.Option("--data", help="Of a suite: the folder of its recorded webs.")
    ] = None,
    parts: Annotated[
        list[str], typer.Option("--part", help="Of a suite: only this part; repeat for more.")
    ] = [],  # noqa: B006 - never changed
    quick: Annotated[
        bool, typer.Option("--quick", help="Of a suite: a small version, in minutes.")
    ] = False,
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="Of a suite: processes at work.")
    ] = 1,
    config: flags.Config = None,
) -> None:
    """Compare agents: the same web, topic, seeds, judge and budget for all."""
    _check_folder(out)
    _check_flags(context, bool(suite))
    names = () if agents is None else _names(agents)
    if suite:
        _run_suite(suite, data, out, tuple(parts), quick, names, workers)
        return
    if not world:
        raise HoneyguideError("bench what? say --world for one task, or --suite for many")
    if not replace and any((out / name).exists() for name in FILES):
        raise HoneyguideError(
            f"{out} has results: name another folder with --out, or --replace them"
        )
    from honeyguide.bench.compare import compare
    from honeyguide.bench.report import write_report
    from honeyguide.plan import Plan

    plan = Plan(
        topic=topic,
        seeds=tuple(seeds),
        like=tuple(like),
        world=world,
        judge=judge,
        encoder=encoder,
        survey=survey,
        budget=budget,
        in_flight=in_flight,
        delay=delay,
        patience=patience,
        random_seed=random_seed,
    )
    with progress_bar() as bar:
        comparison = compare(plan, names or _names(USUAL), runs, bar_per_agent(bar, budget * runs))
    write_report(comparison, out, _command())
    print_comparison(comparison)
    typer.echo(f"results: {', '.join(str(out / name) for name in FILES)}")
    if 0 < sum(sum(runs.pages) for runs in comparison.runs) == comparison.failures.total():
        typer.echo(f"honeyguide: {nothing_fetched(comparison.failures)}", err=True)


def _command() -> str:
    """What was typed, for a report; an argument may be no UTF-8."""
    return printable(shlex.join(["honeyguide", *sys.argv[1:]]))


def _check_flags(context: typer.Context, is_suite: bool) -> None:
    """A flag that would not be heard is refused: a suite has its own tasks, a task no parts."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is None or source.name == "DEFAULT" or parameter.name in FOR_BOTH:
            continue
        if is_suite != (parameter.name in OF_A_SUITE):
            of = "one task, not of a suite" if is_suite else "a suite: say --suite NAME too"
            raise HoneyguideError(f"{parameter.opts[0]} is a flag of {of}")


def _check_folder(out: Path) -> None:
    from honeyguide.disk.output_paths import check_folder
    from honeyguide.storage.database import FILE

    check_folder(out)
    if (out / FILE).exists():
        raise HoneyguideError(f"{out} holds a crawl; name another folder with --out")


def _names(agents: str) -> tuple[str, ...]:
    """Agents with commas between them; a bare key=value is one more setting of the one before."""
    names: list[str] = []
    for piece in filter(None, map(str.strip, agents.split(","))):
        key, is_setting, _ = piece.partition("=")
        if names and is_setting and ":" not in key:
            names[-1] += f",{piece}"
        else:
            names.append(piece)
    if not names:
        raise HoneyguideError("which agents? say --agents with names from `honeyguide list agents`")
    return tuple(names)


def _run_suite(
    name: str,
    data: Path | None,
    out: Path,
    parts: tuple[str, ...],
    quick: bool,
    agents: tuple[str, ...],
    workers: int,
) -> None:
    from honeyguide.bench.suite import Trial, find_suite
    from honeyguide.bench.suite_run import Order, run_suite

    order = Order(
        suite=find_suite(name),
        data=data,
        out=out,
        quick=quick,
        parts=parts,
        agents=agents,
        workers=workers,
        command=_command(),
    )
    with progress_bar() as bar:
        task = bar.add_task("trials", total=None, news="")

        def advance(trial: Trial, of: int) -> None:
            news = f"{trial.part}: {trial.entry.name}, {trial.task.name}"
            bar.update(task, advance=1, total=of, news=news)

        report = run_suite(order, advance, lambda sentence: typer.echo(sentence, err=True))
    typer.echo(f"results: {report}, {report.with_name('results.json')}")


def bar_per_agent(bar: Progress, total: int) -> Callable[[str, int], None]:
    """A progress bar for each agent, made when it starts."""
    tasks: dict[str, TaskID] = {}

    def advance(agent: str, pages: int) -> None:
        if agent not in tasks:
            tasks[agent] = bar.add_task(agent, total=total, news="")
        bar.advance(tasks[agent], pages)

    return advance


def print_comparison(comparison: "Comparison") -> None:
    """The table that a person reads."""
    from honeyguide.bench.report import best_first, cells

    table = Table(title=f"{comparison.plan.topic}: relevant pages in {comparison.plan.budget}")
    table.add_column("agent")
    for column in ("relevant", "sd", "of the oracle", "pages", "seconds"):
        table.add_column(column, justify="right")
    for runs in best_first(comparison):
        table.add_row(*cells(comparison, runs))
    console().print(table)
