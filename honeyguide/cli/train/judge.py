"""honeyguide train judge: train a page classifier on relevant and other pages."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from honeyguide.cli.flags import Encoder, RandomSeed
from honeyguide.cli.progress import progress_bar
from honeyguide.cli.train.output import ModelFile, Replace, check_place
from honeyguide.errors import HoneyguideError

if TYPE_CHECKING:
    from honeyguide.training.judge import Fit

FORMATS = "JSONL, text with one page a line, or a folder of text or HTML files; repeat for more."
Positive = Annotated[
    list[Path],
    typer.Option("--positive", help=f"Relevant pages: {FORMATS}", show_default=False),
]
Negative = Annotated[
    list[Path],
    typer.Option("--negative", help="Other pages, in the same formats.", show_default=False),
]


def judge(
    positive: Positive,
    negative: Negative,
    out: ModelFile,
    encoder: Encoder = "wordllama",
    network: Annotated[
        bool, typer.Option("--network", help="Train a small neural network; needs the extra deep.")
    ] = False,
    random_seed: RandomSeed = 0,
    replace: Replace = False,
) -> None:
    """Train a page classifier; use it with --judge classifier:FILE."""
    from honeyguide.registry import make
    from honeyguide.training.judge import train_judge
    from honeyguide.training.pages import read_pages

    check_place(out, replace)
    learner = _learner(network, random_seed)
    with progress_bar() as bar:
        task = bar.add_task("reading", total=None, news="")

        def report(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        trained = train_judge(
            read_pages(positive),
            read_pages(negative),
            make("encoder", encoder),
            encoder,
            report,
            learner,
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


def _learner(network: bool, random_seed: int) -> "Fit":
    """What is trained: a network, or a logistic regression, which draws nothing at random."""
    from honeyguide.training.judge import fit_linear

    if not network:
        return fit_linear
    try:
        from honeyguide.training.network_judge import fit_network
    except ModuleNotFoundError:
        raise HoneyguideError("--network needs an extra: pip install 'honeyguide[deep]'") from None
    return partial(fit_network, random_seed=random_seed)
