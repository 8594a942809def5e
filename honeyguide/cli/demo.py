"""honeyguide demo: a focused crawl of a generated web, against crawls that do not look."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from honeyguide.cli.bench import bar_per_agent, print_comparison
from honeyguide.cli.progress import progress_bar
from honeyguide.errors import HoneyguideError

AGENTS = ("best_first", "breadth_first", "random")
BUDGET = 1000


def demo(
    out: Annotated[Path, typer.Option("--out", help="Where results go.")] = Path("demo-results"),
    replace: Annotated[bool, typer.Option("--replace", help="Replace an earlier demo.")] = False,
) -> None:
    """Crawl a generated web for geology, beside breadth-first and random on the same budget."""
    from honeyguide.bench.report import write_report
    from honeyguide.bench.runner import compare
    from honeyguide.plan import Plan

    if out.exists():
        if not (replace and (out / "results.json").exists()):
            raise HoneyguideError(f"{out} exists; name another folder with --out, or --replace it")
        shutil.rmtree(out)
    plan = Plan(
        topic="geology",
        seeds=("geology",),
        world="synthetic:pages=20000",
        judge="label:geology",
        budget=BUDGET,
        in_flight=16,
    )
    typer.echo(f"A focused crawl for {plan.topic!r} on a generated web of 20,000 pages.")
    with progress_bar() as bar:
        comparison = compare(plan, AGENTS, 3, bar_per_agent(bar, 3 * BUDGET))
    write_report(comparison, out, "honeyguide demo")
    print_comparison(comparison)
    typer.echo(f"results: {out / 'report.md'}, {out / 'curves.png'}, {out / 'results.json'}")
