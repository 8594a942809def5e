"""Flags that say how to follow a crawl: its log and its metrics."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from honeyguide.cli import help_groups as groups

if TYPE_CHECKING:
    from honeyguide.cli.watching import Followed

LogLevel = Annotated[
    str,
    groups.output_flag(
        "--log-level",
        help="Log what happens, to standard error: debug (each page), info, warning or error."
        " [default: no log; with --log-file, info]",
        show_default=False,
    ),
]
LogFormat = Annotated[
    str, groups.output_flag("--log-format", help="How lines of the log look: text or json.")
]
LogFile = Annotated[
    Path | None,
    groups.output_flag(
        "--log-file",
        help="Write the log to this file; after 10 MB a new one is begun, five old ones are kept.",
        show_default=False,
    ),
]
Metrics = Annotated[
    Path | None,
    groups.output_flag(
        "--metrics",
        help="Write Prometheus metrics to this file every five seconds.",
        show_default=False,
    ),
]


def followed_by(level: str, form: str, file: Path | None, metrics: Path | None) -> "Followed":
    """What these flags say."""
    from honeyguide.cli.watching import Followed
    from honeyguide.storage.crawl_log import LogSettings

    return Followed(LogSettings(level, form, file), metrics)
