"""honeyguide crawl: find relevant pages."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from honeyguide.cli import flags
from honeyguide.cli.progress import progress_bar


def crawl(
    out: Annotated[Path, typer.Option("--out", help="Where results go.", show_default=False)],
    world: flags.World,
    seeds: flags.Seeds = [],  # noqa: B006 - a crawl without seeds is told so in one sentence
    topic: flags.Topic = "",
    judge: flags.Judge = "topic",
    encoder: flags.Encoder = "wordllama",
    agent: Annotated[
        str, typer.Option("--agent", help="What chooses links; `honeyguide list agents`.")
    ] = "best_first",
    budget: flags.Budget = 1000,
    in_flight: flags.InFlight = 1,
    delay: flags.Delay = 0.0,
    patience: flags.Patience = 0.0,
    random_seed: flags.RandomSeed = 0,
    config: flags.Config = None,
) -> None:
    """Crawl from the seeds and bring back the pages that are relevant to the topic."""
    from honeyguide.contracts import Step, Visit
    from honeyguide.crawl import simulate
    from honeyguide.plan import Plan
    from honeyguide.results import Results

    results = Results(out)
    plan = Plan(
        topic=topic,
        seeds=tuple(seeds),
        world=world,
        judge=judge,
        encoder=encoder,
        agent=agent,
        budget=budget,
        in_flight=in_flight,
        delay=delay,
        patience=patience,
        random_seed=random_seed,
    )
    opened = plan.open()
    navigator = opened.navigator()
    with progress_bar() as bar, results:
        task = bar.add_task(agent, total=budget, news="")

        def note(visit: Visit, step: Step, now: float) -> None:
            results.note(visit, step, now)
            bar.update(task, advance=1, news=f"{navigator.memory.relevant_found} relevant")

        outcome = simulate(navigator, opened.world, opened.seeds, budget, in_flight, note)
        results.finish(outcome, asdict(plan))
    typer.echo(
        f"{outcome.relevant} relevant pages among {outcome.pages} fetched ({outcome.reason});"
        f" results: {out}"
    )
