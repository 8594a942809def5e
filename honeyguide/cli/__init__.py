"""The command line."""

import os
import sys
from typing import Any

import typer

from honeyguide.cli import bench, check, crawl, demo, flags, regions, report, terminal
from honeyguide.cli import find as finding
from honeyguide.cli import import_ as importing
from honeyguide.cli import list_ as listing
from honeyguide.cli import serve as serving
from honeyguide.cli import show as showing
from honeyguide.cli import status as inspecting
from honeyguide.cli import train as training
from honeyguide.cli import watch as watching
from honeyguide.errors import HoneyguideError
from honeyguide.version import VERSION

app = typer.Typer(
    name="honeyguide",
    help="A focused web crawler that learns, while it crawls, which links are worth following.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("crawl", short_help="Crawl from seeds for pages about a topic.")(crawl.crawl)
app.command("resume", short_help="Go on with a crawl that was stopped or killed.")(crawl.resume)
app.command("status")(inspecting.status)
app.command("export")(inspecting.export)
app.command("check", short_help="Verify a crawl's folder, and repair it.")(check.check)
app.command("report", short_help="Show a site's owner what a crawl asked of the site.")(
    report.report
)
app.command("robots", short_help="Say whether a URL may be fetched, and why.")(inspecting.robots)
app.command("regions")(regions.regions)
app.command("find", short_help="Find the pages where sites publish their events.")(finding.find)
app.command("watch", short_help="Report what is new on source pages, each item once.")(
    watching.watch
)
app.command("serve", short_help="Serve a generated web over HTTP, to try a crawler on.")(
    serving.serve
)
app.command("bench", short_help="Compare agents on one task.")(bench.bench)
app.command("demo", short_help="Crawl a generated web over HTTP with three agents.")(demo.demo)
app.command("list", short_help="List agents, judges, worlds, ... or labels.")(listing.list_names)
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
    terminal.guard_streams()
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
