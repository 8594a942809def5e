"""honeyguide resume: continue a crawl that was stopped or killed."""

from typing import Annotated

from honeyguide.cli import flags
from honeyguide.cli import help_groups as groups
from honeyguide.cli.run_folder import run_folder

OtherBudget = Annotated[
    int | None,
    groups.limit_flag(
        "--budget",
        min=1,
        help="Stop after this many pages, counting those fetched before. [default: as before]",
    ),
]


def resume(
    folder: flags.Folder,
    budget: OtherBudget = None,
    max_relevant: flags.MaxRelevant = None,
    max_seconds: flags.MaxSeconds = None,
    max_bytes: flags.MaxBytes = None,
    max_barren: flags.MaxBarren = None,
    max_memory: flags.OtherMaxMemory = flags.NO_SIZE,
) -> None:
    """Continue a crawl that was killed, interrupted, or stopped at a limit."""
    changes = {
        name: value
        for name, value in locals().items()
        if value is not None and value != "" and name != "folder"
    }
    run_folder(folder, **changes)
