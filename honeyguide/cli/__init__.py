"""The command line."""

import os
import sys
from typing import Any

import typer

from honeyguide.cli import (
    bench,
    crawl,
    demo,
    finding,
    flags,
    importing,
    inspecting,
    listing,
    regions,
    serving,
    showing,
    training,
    watching,
)
from honeyguide.errors import HoneyguideError
from honeyguide.version import VERSION

app = typer.Typer(
    name="honeyguide",
    help="A focused web crawler that learns, while it crawls, which links are worth following.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("crawl")(crawl.crawl)
app.command("resume")(crawl.resume)
app.command("status")(inspecting.status)
app.command("export")(inspecting.export)
app.command("robots")(inspecting.robots)
app.command("regions")(regions.regions)
app.command("find")(finding.find)
app.command("watch")(watching.watch)
app.command("serve")(serving.serve)
app.command("bench")(bench.bench)
app.command("demo")(demo.demo)
app.command("list")(listing.list_names)
app.add_typer(importing.app, name="import")
app.add_typer(showing.app, name="show")
app.add_typer(training.app, name="train")


@app.callback(invoke_without_command=True)
def version(
    context: typer.Context,
    show: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """A focused web crawler that learns, while it crawls, which links are worth following."""
    if show:
        typer.echo(f"honeyguide {VERSION}")
        raise typer.Exit
    flags.show_help(context)


# what every complaint about flags derives from, wherever this typer keeps it
FlagError: Any = typer.BadParameter.mro()[2]
INTERRUPTED = 130  # the exit code after Ctrl-C


def main() -> None:
    """Run the command line: bad input gets one sentence and an exit code, never a traceback."""
    # before numpy is imported: threads of small products wait for each other on a busy machine
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        code = app(standalone_mode=False)
    except FlagError as error:
        code = _complain(error.format_message(), 2)
    except HoneyguideError as error:
        code = _complain(str(error), 1)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:  # some versions of typer raise, others give the code back
        _complain("stopped", INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _complain(sentence: str, code: int) -> int:
    typer.echo(f"honeyguide: {' '.join(sentence.split())}", err=True)
    return code
