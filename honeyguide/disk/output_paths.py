"""Check output paths before a long job starts."""

import os
from collections.abc import Container
from pathlib import Path

from honeyguide.errors import HoneyguideError


def check_writable(path: Path) -> None:
    """Raise a HoneyguideError if no file can be written there."""
    reason = ""
    if path.is_dir():
        reason = "it is a folder"
    elif not path.parent.is_dir():
        reason = f"there is no folder {path.parent}"
    elif not all(os.access(place, os.W_OK) for place in (path.parent, path) if place.exists()):
        reason = "that is not allowed"
    if reason:
        raise HoneyguideError(f"cannot write {path}: {reason}")


def check_folder(path: Path) -> None:
    """Raise a HoneyguideError if the folder cannot be created, or not be written to."""
    places = (path, *path.absolute().parents)
    # Path.exists raises where permission is denied
    there = next(place for place in places if os.path.exists(place))  # noqa: PTH110
    if not there.is_dir():
        raise HoneyguideError(f"{there} is a file, not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise HoneyguideError(f"cannot write to {path}: that is not allowed in {there}")


def check_empty(path: Path, what: str, own: Container[str] = ()) -> None:
    """Refuse a folder with other things in it; `what` is to be written, `own` names may be there.

    A folder that may not be read is refused, too: nobody knows what is in it.
    """
    if not path.is_dir():
        return
    try:
        others = sorted(each.name for each in path.iterdir() if each.name not in own)
    except OSError as error:
        raise HoneyguideError(f"cannot look into {path}: {error.strerror}") from None
    if others:
        more = "" if len(others) == 1 else f" and {len(others) - 1:,} more"
        raise HoneyguideError(
            f"{path} holds other things ({others[0]}{more}): {what} goes into a new or empty folder"
        )
