"""honeyguide train: what is learnt from examples before a crawl."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from honeyguide.cli.flags import Encoder, RandomSeed, show_help
from honeyguide.cli.progress import progress_bar
from honeyguide.errors import HoneyguideError

if TYPE_CHECKING:
    from honeyguide.source_finder.training.finder import Trained

app = typer.Typer(help="Learn from examples before a crawl.")


@app.callback(invoke_without_command=True)
def train(context: typer.Context) -> None:
    """Learn from examples before a crawl."""
    show_help(context)


FORMS = "JSONL, text with one page a line, or a folder of text or HTML files; repeat for more."
Positive = Annotated[
    list[Path],
    typer.Option("--positive", help=f"Pages like those sought: {FORMS}", show_default=False),
]
Negative = Annotated[
    list[Path], typer.Option("--negative", help="Other pages, likewise.", show_default=False)
]


@app.command("judge", short_help="Learn from pages of both kinds what is relevant.")
def judge(
    positive: Positive,
    negative: Negative,
    out: Annotated[Path, typer.Option("--out", help="The file to make.", show_default=False)],
    encoder: Encoder = "wordllama",
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite the file.")] = False,
) -> None:
    """Train a page classifier; use it with --judge classifier:FILE."""
    from honeyguide.registry import make
    from honeyguide.training.judge import train_judge
    from honeyguide.training.pages import read_pages

    if out.exists() and not replace:
        raise HoneyguideError(f"{out} already exists: choose another place, or say --replace")
    with progress_bar() as bar:
        task = bar.add_task("reading", total=None, news="")

        def report(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        trained = train_judge(
            read_pages(positive), read_pages(negative), make("encoder", encoder), encoder, report
        )
    trained.model.save(out)
    held_out = trained.quality
    typer.echo(f"trained on {trained.positives:,} positive and {trained.negatives:,} other pages")
    typer.echo(
        f"on pages held out: accuracy {held_out.accuracy:.3f}, precision {held_out.precision:.3f}, "
        f"recall {held_out.recall:.3f}, AUC {held_out.auc:.3f}, "
        f"calibration error {held_out.calibration_error:.3f}"
    )
    typer.echo(f"words that speak for a page: {', '.join(trained.words) or 'none'}")
    typer.echo(f"{out}: use it with --judge classifier:{out}")


@app.command("source_finder", short_help="Learn from sites where they list things.")
def source_finder(
    out: Annotated[Path, typer.Option("--out", help="The file to make.", show_default=False)],
    kind: Annotated[str, typer.Option("--kind", help="What the lists are of.")] = "events",
    sites: Annotated[
        str,
        typer.Option(
            "--sites",
            help='Labelled sites: a world, or JSON lines {"home": ..., "sources": [...]}.',
        ),
    ] = "organisations:train",
    unlabelled: Annotated[
        str, typer.Option("--unlabelled", help="Others: a world, or one address a line; or none.")
    ] = "organisations:unlabelled",
    encoder: Encoder = "joined:wordllama+ngrams:1024",
    epochs: Annotated[
        int, typer.Option("--epochs", min=0, help="Of pre-training; 0, with --shown: no clicks.")
    ] = 50,
    nets: Annotated[int, typer.Option("--nets", min=1, help="Trained apart, then averaged.")] = 5,
    shown: Annotated[
        bool,
        typer.Option("--shown", help="Links are lessons before any click: name every source."),
    ] = False,
    browser: Annotated[
        bool, typer.Option("--browser", help="Learn where a browser draws links, too.")
    ] = False,
    contact: Annotated[
        str, typer.Option("--contact", help="Web or e-mail address shown to servers.")
    ] = "",
    random_seed: RandomSeed = 0,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite the file.")] = False,
) -> None:
    """Train a finder of list pages on sites; use it with find --kind FILE."""
    import asyncio
    import dataclasses
    import signal

    if out.exists() and not replace:
        raise HoneyguideError(f"{out} already exists: choose another place, or say --replace")
    if not epochs and not shown:
        raise HoneyguideError("without --shown there must be at least one epoch of clicks")
    try:
        from honeyguide.source_finder.training.finder import FinderTraining
        from honeyguide.source_finder.training.sources import PreTraining
    except ModuleNotFoundError:
        raise HoneyguideError("training needs an extra: pip install 'honeyguide[deep]'") from None
    from honeyguide.cli.sites import labelled_place, unlabelled_place
    from honeyguide.registry import make

    place, judge = labelled_place(sites, kind, contact)
    others = unlabelled_place(unlabelled, contact) if unlabelled not in ("", "none") else None
    training = FinderTraining(
        kind=kind,
        encoder_name=encoder,
        encoder=make("encoder", encoder),
        pre=PreTraining(epochs=epochs),
        nets=nets,
        shown=shown,
        random_seed=random_seed,
    )
    with progress_bar() as bar:

        def report(what: str) -> Callable[[int, int, str], None]:
            task = bar.add_task(what, total=None, news="")
            return lambda done, of, news: bar.update(task, completed=done, total=of, news=news)

        async def run() -> "Trained":
            # asyncio would only ask the task to end where it waits, and learning never waits
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if not browser:
                return await training.run(place, judge, others, report)
            from honeyguide.web.layout import open_layout

            async with open_layout() as layout:
                seeing = dataclasses.replace(training, boxes=layout)
                return await seeing.run(place, judge, others, report)

        trained = asyncio.run(run())
    trained.model.save(out)
    held = trained.held_out
    typer.echo(
        f"page scorer: {trained.pages:,} pages; on pages of other sites accuracy "
        f"{held.accuracy:.3f}, precision {held.precision:.3f}, recall {held.recall:.3f}"
    )
    typer.echo(f"links less likely than {trained.model.threshold:.3f} are not clicked")
    typer.echo(f"{out}: use it with 'honeyguide find --kind {out}'")


@app.command("dqn", short_help="Practise on webs before a crawl.")
def dqn(
    out: Annotated[Path, typer.Option("--out", help="The policy to make.", show_default=False)],
    topics: Annotated[
        list[str],
        typer.Option(
            "--topic",
            help="What to practise on: TOPIC, or TOPIC=SEED PAGE; repeat for more.",
            show_default=False,
        ),
    ],
    world: Annotated[str, typer.Option("--world", help="graph:PATH or synthetic:pages=N.")],
    judge: Annotated[
        str, typer.Option("--judge", help="What counts as relevant; {topic} stands for the topic.")
    ] = "topic",
    agent: Annotated[
        str, typer.Option("--agent", help="dqn, or another that learns step by step.")
    ] = "dqn",
    encoder: Encoder = "wordllama",
    budget: Annotated[int, typer.Option("--budget", min=1, help="Pages of each crawl.")] = 1000,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Times that all are crawled.")] = 1,
    logs: Annotated[
        Path | None, typer.Option("--logs", help="Folder for TensorBoard; by default OUT.logs.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a stopped one.")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite the file.")] = False,
    random_seed: RandomSeed = 0,
) -> None:
    """Train a deep Q-network on recorded or generated webs; use it with --policy FILE."""
    from honeyguide.plan import Plan
    from honeyguide.training.pretraining import Training

    if out.exists() and not replace:
        raise HoneyguideError(f"{out} already exists: choose another place, or say --replace")
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
