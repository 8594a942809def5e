"""honeyguide train: learn from examples before a crawl, one file for each command."""

import typer

from honeyguide.cli.flags import show_help
from honeyguide.cli.train import dqn, judge, source_finder

app = typer.Typer(help="Learn from examples before a crawl.")


@app.callback(invoke_without_command=True)
def train(context: typer.Context) -> None:
    """Learn from examples before a crawl."""
    show_help(context)


for _name, _command, _summary in (
    ("judge", judge.judge, "Train a judge on relevant and other pages."),
    ("dqn", dqn.dqn, "Train an agent on recorded or generated webs."),
    ("source_finder", source_finder.source_finder, "Train a finder of list pages on sites."),
):
    app.command(_name, short_help=_summary)(_command)
