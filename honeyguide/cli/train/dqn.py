"""honeyguide train dqn: train a deep Q-network on recorded or generated webs."""

from pathlib import Path
from typing import Annotated

import typer

from honeyguide.cli.flags import Encoder, RandomSeed
from honeyguide.cli.progress import progress_bar
from honeyguide.cli.train.output import ModelFile, Replace, check_free


def dqn(
    out: ModelFile,
    topics: Annotated[
        list[str],
        typer.Option(
            "--topic",
            help="A topic to train on: TOPIC, or TOPIC=SEED PAGE; repeat for more.",
            show_default=False,
        ),
    ],
    world: Annotated[
        str, typer.Option("--world", help="The web to train on: graph:PATH or synthetic:pages=N.")
    ],
    judge: Annotated[
        str,
        typer.Option(
            "--judge", help="What decides whether a page is relevant; {topic} stands for the topic."
        ),
    ] = "topic",
    agent: Annotated[
        str,
        typer.Option(
            "--agent", help="The agent to train: dqn, or another that learns step by step."
        ),
    ] = "dqn",
    encoder: Encoder = "wordllama",
    budget: Annotated[int, typer.Option("--budget", min=1, help="Pages of each crawl.")] = 1000,
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, help="Crawl all topics this many times.")
    ] = 1,
    logs: Annotated[
        Path | None,
        typer.Option("--logs", help="The folder for TensorBoard logs. [default: OUT.logs]"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a training that was stopped.")
    ] = False,
    replace: Replace = False,
    random_seed: RandomSeed = 0,
) -> None:
    """Train a deep Q-network on recorded or generated webs; use it with --policy FILE."""
    from honeyguide.plan import Plan
    from honeyguide.training.pretraining import Training

    check_free(out, replace)
    pairs = [topic.partition("=") for topic in topics]
    plans = tuple(
        Plan(
            topic=topic,
            seeds=(seed or topic,),
            world=world,
            judge=judge.replace("{topic}", topic),
            encoder=encoder,
            agent=agent,
            budget=budget,
            random_seed=random_seed,
        )
        for topic, _, seed in pairs
    )
    with progress_bar() as bar:
        task = bar.add_task("training", total=None, news="")

        def report(done: int, total: int, news: str) -> None:
            bar.update(task, completed=done, total=total, news=news)

        found = Training(plans, rounds, out, logs).run(resume, report)
    typer.echo(f"relevant pages, crawl by crawl: {', '.join(map(str, found))}")
    typer.echo(f"{out}: use it with --agent {agent} --policy {out}")
