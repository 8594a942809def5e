"""honeyguide resume: continue a crawl that was stopped or killed."""

from typing import Annotated

from honeyguide.cli import access_flags, flags
from honeyguide.cli import help_groups as groups
from honeyguide.cli.run_folder import judge_again, run_folder

OtherBudget = Annotated[
    int | None,
    groups.limit_flag(
        "--budget",
        min=1,
        help="Stop after this many pages, counting those fetched before. [default: as before]",
    ),
]


OtherJudge = Annotated[
    str,
    groups.look_for_flag(
        "--judge",
        help="Judge all pages again with this judge, and go on with it. [default: as before]",
        show_default=False,
        autocompletion=groups.names_of("judge"),
    ),
]


def resume(
    folder: flags.Folder,
    judge: OtherJudge = "",
    budget: OtherBudget = None,
    max_relevant: flags.MaxRelevant = None,
    max_seconds: flags.MaxSeconds = None,
    max_bytes: flags.MaxBytes = None,
    max_barren: flags.MaxBarren = None,
    max_memory: flags.OtherMaxMemory = flags.NO_SIZE,
    header: access_flags.Header = [],  # noqa: B006 - never changed
    cookie: access_flags.Cookie = [],  # noqa: B006 - never changed
    auth_file: access_flags.AuthFile = "",
    proxy: access_flags.Proxy = "",
    client_cert: access_flags.ClientCert = "",
    client_key: access_flags.ClientKey = "",
    ca_file: access_flags.CaFile = "",
) -> None:
    """Continue a crawl that was killed, interrupted, or stopped at a limit."""
    changes = {
        name: value
        for name, value in locals().items()
        if value is not None and value not in ("", []) and name not in ("folder", "judge")
    }
    if judge:
        judge_again(folder, judge)
    run_folder(folder, **changes)
