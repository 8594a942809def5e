"""Name the commit of the source that runs."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
UNKNOWN = "unknown"
CHANGED = "+"  # after a commit: the code had changes that were not committed
CODE = ("honeyguide", "experiments", ":!experiments/results", ":!*.md")


def commit() -> str:
    """Return the full hash of the checked-out commit, with a "+" if its code was changed."""
    head = _git("rev-parse", "HEAD")
    changes = _git("status", "--porcelain", "--", *CODE)
    if head is None or changes is None:
        return UNKNOWN
    return head + CHANGED * bool(changes)


def short(name: str) -> str:
    """Return the first twelve digits of a commit, with its "+"."""
    return name[:12] + CHANGED * name.endswith(CHANGED)


def _git(*arguments: str) -> str | None:
    command = ["git", "-C", str(ROOT), *arguments]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return said.stdout.strip()
