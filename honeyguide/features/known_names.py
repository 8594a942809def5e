"""Read the names that URLs are not cut at: those of companies, for example."""

from pathlib import Path

from honeyguide.disk.line_files import read_lines
from honeyguide.features.segmenting import NONE, Names, known_names


def read_names(path: str) -> Names:
    """The known names of a file with a name or a domain on each line; none without a file."""
    return known_names(read_lines(Path(path))) if path else NONE
