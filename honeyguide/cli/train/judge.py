"""honeyguide train judge: train a page classifier on relevant and other pages."""

from pathlib import Path
from typing import Annotated

import typer

from honeyguide.cli.flags import Encoder
from honeyguide.cli.progress import progress_bar
from honeyguide.cli.train.output import ModelFile, Replace, check_place

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
    replace: Replace = False,
) -> None:
    """Train a page classifier; use it with --judge classifier:FILE."""
    from honeyguide.registry import make
    from honeyguide.training.judge import train_judge
    from honeyguide.training.pages import read_pages

    check_place(out, replace)
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
