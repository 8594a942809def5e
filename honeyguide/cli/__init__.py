"""The command line: one file for each command, named like it. What Python users would miss is not
here.
"""

import os
import sys
from typing import Any

import typer

from honeyguide.cli import (
    bench,
    check,
    control,
    crawl,
    dashboard,
    demo,
    export,
    find,
    flags,
    frontier,
    hosts,
    import_,
    list_,
    regions,
    report,
    resume,
    robots,
    serve,
    show,
    status,
    teach,
    terminal,
    train,
    watch,
    why,
)
from honeyguide.cli import help_groups as groups
from honeyguide.errors import HoneyguideError
from honeyguide.version import VERSION

MANY_FLAGS = ("crawl", "resume", "bench")  # commands whose help shows flags in groups
app = typer.Typer(
    name="honeyguide",
    cls=groups.GroupedCommands,
    help="A focused web crawler that learns, while it crawls, which links are worth following.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for _group, _name, _command, _summary in (
    (groups.CRAWL, "crawl", crawl.crawl, "Crawl from seed pages for pages about a topic."),
    (groups.CRAWL, "resume", resume.resume, "Continue a crawl that was stopped or killed."),
    (groups.CRAWL, "status", status.status, "Show how far a crawl is."),
    (groups.CRAWL, "control", control.control, "Pause, stop or steer a crawl while it runs."),
    (groups.CRAWL, "teach", teach.teach, "Say which pages are relevant; the crawl learns."),
    (groups.CRAWL, "dashboard", dashboard.dashboard, "Show crawls on a web page, and steer them."),
    (groups.CRAWL, "why", why.why, "Say why a page was fetched, or a link was not."),
    (groups.CRAWL, "frontier", frontier.frontier, "Show the best waiting links, with reasons."),
    (groups.CRAWL, "hosts", hosts.hosts, "Show what each host brought, and what it cost."),
    (groups.CRAWL, "check", check.check, "Verify the folder of a crawl, and repair it."),
    (groups.CRAWL, "list", list_.list_names, "List agents, judges, worlds, ... or labels."),
    (groups.PAGES, "export", export.export, "Write the pages of a crawl into one file."),
    (groups.PAGES, "report", report.report, "Show the owner of a site what a crawl requested."),
    (groups.PAGES, "robots", robots.robots, "Say whether robots.txt allows a URL, and why."),
    (groups.RECORDED_WEBS, "serve", serve.serve, "Serve a generated web over HTTP."),
    (groups.RESEARCH, "bench", bench.bench, "Compare agents on one task."),
    (groups.RESEARCH, "demo", demo.demo, "Compare agents on generated webs in plain English."),
    (groups.SOURCE_PAGES, "find", find.find, "Find the pages where sites publish their events."),
    (groups.SOURCE_PAGES, "watch", watch.watch, "Report each new item of source pages once."),
    (groups.SOURCE_PAGES, "regions", regions.regions, "Show the lists of records on a page."),
):
    app.command(
        _name,
        cls=groups.GroupedCommand if _name in MANY_FLAGS else None,
        rich_help_panel=_group,
        short_help=_summary,
    )(_command)
app.add_typer(import_.app, name="import", rich_help_panel=groups.RECORDED_WEBS)
app.add_typer(show.app, name="show", rich_help_panel=groups.RESEARCH)
app.add_typer(train.app, name="train", rich_help_panel=groups.RESEARCH)


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


# the base class of all errors about flags, wherever this version of typer keeps it
FlagError: Any = typer.BadParameter.mro()[2]
INTERRUPTED = 130  # the exit code after Ctrl-C


def main() -> None:
    """Run the command line: an error is one sentence and an exit code, never a traceback."""
    # before numpy is imported: threads of small products wait for each other on a busy machine
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    terminal.guard_streams()
    terminal.print_warnings()
    try:
        code = app(standalone_mode=False)
    except FlagError as error:
        code = _print_error(error.format_message(), 2)
    except HoneyguideError as error:
        code = _print_error(str(error), 1)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:  # some versions of typer raise, others return the code
        _print_error("stopped", INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _print_error(sentence: str, code: int) -> int:
    typer.echo(f"honeyguide: {' '.join(sentence.split())}", err=True)
    return code
