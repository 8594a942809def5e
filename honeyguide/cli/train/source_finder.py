"""honeyguide train source_finder: train a finder of list pages on sites."""

from collections.abc import Callable
from typing import Annotated

import typer

from honeyguide.cli.flags import Contact, Encoder, RandomSeed
from honeyguide.cli.progress import progress_bar
from honeyguide.cli.train.output import ModelFile, Replace, check_place
from honeyguide.errors import HoneyguideError


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
    ] = "organisations:wide",
    encoder: Encoder = "joined:wordllama+ngrams:512",
    epochs: Annotated[
        int, typer.Option("--epochs", min=1, help="Rounds over the links of all sites.")
    ] = 6,
    nets: Annotated[
        int, typer.Option("--nets", min=1, help="Train this many networks and average them.")
    ] = 3,
    pages: Annotated[
        int, typer.Option("--pages", min=2, help="Visit at most this many pages of a site.")
    ] = 40,
    contact: Contact = "",
    random_seed: RandomSeed = 0,
    replace: Replace = False,
) -> None:
    """Train a finder of list pages; use it with `honeyguide find --kind FILE`."""
    import asyncio
    import json
    import signal

    check_place(out, replace)
    try:
        from honeyguide.source_finder.training.finder import FinderTraining, TrainedFinder
        from honeyguide.source_finder.training.page_model import PageModelTraining
        from honeyguide.source_finder.training.value import ValueTraining
    except ModuleNotFoundError:
        raise HoneyguideError("training needs an extra: pip install 'honeyguide[deep]'") from None
    from honeyguide.cli.sites import labelled_group
    from honeyguide.source_finder.model import shared_encoder

    group = labelled_group(sites, kind, contact, pages)
    training = FinderTraining(
        kind=kind,
        encoder_name=encoder,
        encoder=shared_encoder(encoder),
        value=ValueTraining(nets=nets, epochs=epochs, random_seed=random_seed),
        pages=PageModelTraining(nets=nets),
        random_seed=random_seed,
    )
    with progress_bar() as bar:

        def report(what: str) -> Callable[[int, int, str], None]:
            task = bar.add_task(what, total=None, news="")
            return lambda done, of, news: bar.update(task, completed=done, total=of, news=news)

        async def run() -> TrainedFinder:
            # asyncio would only ask the task to end where it waits, and learning never waits
            signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                return await training.run([group], report)
            finally:
                await group.world.close()

        trained = asyncio.run(run())
    trained.model.save(out)
    held = trained.held_out
    typer.echo(
        f"page scorer: {trained.pages:,} pages; on pages of other sites accuracy "
        f"{held.accuracy:.3f}, precision {held.precision:.3f}, recall {held.recall:.3f}"
    )
    typer.echo(f"rules: {json.dumps(trained.summary()['stopping'])} (first click, growth, after)")
    typer.echo(f"{out}: use it with 'honeyguide find --kind {out}'")
