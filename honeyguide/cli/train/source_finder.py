"""honeyguide train source_finder: train a finder of list pages on sites."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from honeyguide.cli.flags import Contact, Encoder, RandomSeed
from honeyguide.cli.progress import progress_bar
from honeyguide.cli.train.output import ModelFile, Replace, check_place
from honeyguide.errors import HoneyguideError

if TYPE_CHECKING:
    from honeyguide.source_finder.training.finder import TrainedFinder


def source_finder(
    out: ModelFile,
    kind: Annotated[str, typer.Option("--kind", help="What the lists contain.")] = "events",
    sites: Annotated[
        str,
        typer.Option(
            "--sites",
            help="Sites with known list pages: a world, or a file with lines"
            ' {"home": ..., "sources": [...]}.',
        ),
    ] = "organisations:train",
    unlabelled: Annotated[
        str,
        typer.Option(
            "--unlabelled", help="Other sites: a world, a file with one address a line, or none."
        ),
    ] = "organisations:unlabelled",
    encoder: Encoder = "joined:wordllama+ngrams:1024",
    epochs: Annotated[
        int,
        typer.Option(
            "--epochs", min=0, help="Rounds of pre-training; 0 with --shown learns without clicks."
        ),
    ] = 50,
    nets: Annotated[
        int, typer.Option("--nets", min=1, help="Train this many networks and average them.")
    ] = 5,
    shown: Annotated[
        bool,
        typer.Option(
            "--shown",
            help="Learn from all links of the labelled sites first: name every list page.",
        ),
    ] = False,
    browser: Annotated[
        bool, typer.Option("--browser", help="Also learn from where a browser draws links.")
    ] = False,
    contact: Contact = "",
    random_seed: RandomSeed = 0,
    replace: Replace = False,
) -> None:
    """Train a finder of list pages; use it with `honeyguide find --kind FILE`."""
    import asyncio
    import dataclasses
    import signal

    check_place(out, replace)
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

        async def run() -> "TrainedFinder":
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
