"""The file that a training writes."""

from pathlib import Path
from typing import Annotated

import typer

from honeyguide.disk.output_paths import check_writable
from honeyguide.errors import HoneyguideError

ModelFile = Annotated[Path, typer.Option("--out", help="The file to write.", show_default=False)]
Replace = Annotated[bool, typer.Option("--replace", help="Overwrite the file.")]


def check_free(out: Path, replace: bool) -> None:
    """Raise an error if the file exists and may not be overwritten."""
    if out.exists() and not replace:
        raise HoneyguideError(f"{out} already exists: choose another place, or say --replace")


def check_place(out: Path, replace: bool) -> None:
    """Raise the same error, or say that no file can be written there, before the training."""
    check_free(out, replace)
    check_writable(out)
