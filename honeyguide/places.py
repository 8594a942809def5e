"""Places that files go to, looked at before the work is done."""

import os
from pathlib import Path

from honeyguide.errors import HoneyguideError


def check_writable(path: Path) -> None:
    """Say so at once when no file can be written there."""
    reason = ""
    if path.is_dir():
        reason = "it is a folder"
    elif not path.parent.is_dir():
        reason = f"there is no folder {path.parent}"
    elif not all(os.access(place, os.W_OK) for place in (path.parent, path) if place.exists()):
        reason = "that is not allowed"
    if reason:
        raise HoneyguideError(f"cannot write {path}: {reason}")
