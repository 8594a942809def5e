"""honeyguide teach: say which pages of a crawl are relevant, and let it learn from that."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from honeyguide.cli import flags
from honeyguide.cli.progress import progress_bar
from honeyguide.text.words import counted

if TYPE_CHECKING:
    from honeyguide.training.crawl_teaching import Question, Teaching

EVERY = 5  # answers after which it says how sure it has become
APPLIED = 10  # answers after which a running crawl is given the judge
KEYS = "[y]es [n]o [s]kip [u]ndo [q]uit"
PROMPT = "relevant? "


def teach(
    folder: flags.Folder,
    answers: Annotated[
        Path | None,
        typer.Option(
            "--answers",
            help='Take answers from a file: {"url": ..., "relevant": true} a line.',
            show_default=False,
        ),
    ] = None,
) -> None:
    """Say which pages of a crawl are relevant; its judge and its agent learn from that.

    Works on a crawl that runs, too. Answers are kept: go on at any time.
    """
    from honeyguide.training.crawl_teaching import Teaching

    with progress_bar() as bar:
        task = bar.add_task("pages read", total=None, news="")
        teaching = Teaching(
            folder,
            print_error,
            lambda done, total: bar.update(task, completed=done, total=total),
        )
    if answers is not None:
        typer.echo(f"{counted(teaching.answer_from(answers), 'answer')} taken from {answers}")
        for remark in teaching.remarks():
            typer.echo(remark)
    else:
        _ask(teaching, folder)
    _apply(teaching)


def _ask(teaching: "Teaching", folder: Path) -> None:
    """Ask until the person quits; Ctrl-C keeps the answers and teaches nothing."""
    if earlier := len(teaching.answers):
        typer.echo(f"{counted(earlier, 'answer')} from before")
    typer.echo(KEYS)
    try:
        while (question := teaching.question()) is not None:
            if not _take(teaching, question):
                return
        typer.echo("there is no other page to ask about")
    except (KeyboardInterrupt, typer.Abort):
        kept = counted(len(teaching.answers), "answer")
        typer.echo(f"\n{kept} kept: go on with honeyguide teach {shlex.quote(str(folder))}")
        raise typer.Exit(130) from None


def _take(teaching: "Teaching", question: "Question") -> bool:
    """Ask about a page; return whether to go on."""
    _show(question)
    said = _answer()
    if said == "u":
        undone = teaching.undo()
        typer.echo(f"undone: {undone}" if undone else "there is nothing to undo")
    elif said == "s":
        teaching.skip(question.url)
    elif said in ("y", "n"):
        teaching.answer(question.url, said == "y")
        _tell(teaching)
    return said != "q"


def _tell(teaching: "Teaching") -> None:
    """Say how sure the judge is, and give it to a running crawl, after each few answers."""
    count = len(teaching.answers)
    if count % EVERY == 0:
        typer.echo(f"\n{teaching.sureness()}")
        for remark in teaching.remarks():
            typer.echo(remark)
    if count % APPLIED == 0 and teaching.is_running:
        teaching.apply(wait=False)
        teaching.refresh()


def _apply(teaching: "Teaching") -> None:
    if teaching.is_applied:
        typer.echo("no new answer: nothing has changed")
    elif not teaching.answers:
        typer.echo("no answer is left: nothing has changed")
    else:
        if teaching.is_running:
            typer.echo("the running crawl judges its pages again ...")
        typer.echo(str(teaching.apply()))


def _show(question: "Question") -> None:
    verdict = "relevant" if question.relevant else "not relevant"
    typer.echo(f"\n{question.title or '(no title)'}\n{question.url}")
    if question.passage:
        typer.echo(f'"{question.passage}"')
    typer.echo(f"now: {verdict} ({question.probability:.2f})")


def _answer() -> str:
    """The first letter of a line that says y, n, s, u or q; the end of the input is q."""
    while True:
        typer.echo(PROMPT, nl=False)
        line = sys.stdin.readline()
        if not line:
            typer.echo("")
            return "q"
        if not sys.stdin.isatty():
            typer.echo(line.rstrip("\n"))
        letter = line.strip().lower()[:1]
        if letter and letter in "ynsuq":
            return letter
        typer.echo(KEYS)


def print_error(sentence: str) -> None:
    """Print a sentence to standard error."""
    typer.echo(f"honeyguide: {sentence}", err=True)
