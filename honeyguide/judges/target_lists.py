"""Read lists of target domains and names: from a text, a file with one a line, or a table."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from honeyguide.disk.line_files import read_lines
from honeyguide.errors import HoneyguideError, unknown
from honeyguide.urls.domains import is_top_level

_DELIMITERS = ",;\t"
_TABLES = (".csv", ".tsv")
# endings of files that are no top-level domains
_FILE = re.compile(
    r"\.(csv|tsv|tab|txt|text|list|lst|jsonl?|xlsx?|ods|parquet|gz|bz2|xz|zst)$", re.IGNORECASE
)
_HOST = re.compile(r"[\w-]+(\.[\w-]+)+\.?")


def read_targets(said: str, column: str = "") -> list[str]:
    """The entries of a file, of one column of it, or of a list separated by commas."""
    if not _is_file(said):
        return _listed(said, column)
    path = Path(said)
    try:
        lines = read_lines(path)
    except HoneyguideError:
        if path.stat().st_size:
            raise
        lines = []
    is_table = bool(column) or path.suffix.lower() in _TABLES
    entries = _column(path, lines, column) if is_table else _checked(path, lines)
    return [entry for line in entries if (entry := _tidy(line))]


def domain_in(entry: str) -> str:
    """The host of an entry that is a domain or a URL, without "www."; empty for a name."""
    if re.search(r"\s", entry):
        return ""
    found = host_of(entry)
    return found if _HOST.fullmatch(found) or ":" in found or "://" in entry else ""


def is_surely_a_domain(host: str) -> bool:
    """Whether a host ends in a known top-level domain or is an address; "node.js" is not."""
    last = host.rpartition(".")[2]
    return last.isdigit() or ":" in host or is_top_level(last)


def host_of(url: str) -> str:
    """The host of a URL or domain, in ASCII, without "www."; empty if it has none."""
    try:
        host = urlsplit(url if "://" in url else f"//{url}").hostname or ""
        if not host.isascii():
            host = host.encode("idna").decode("ascii")
    except (ValueError, UnicodeError):
        return ""
    return bare(host)


def bare(host: str) -> str:
    """A host without its last dot and "www."."""
    return host.rstrip(".").removeprefix("www.")


def _is_file(said: str) -> bool:
    try:
        return Path(said).is_file()
    except (OSError, ValueError):  # too long for a file name
        return False


def _listed(said: str, column: str) -> list[str]:
    if column:
        raise HoneyguideError(f"there is no file {said!r} to take the column {column!r} from")
    entries = [entry for piece in said.split(",") if (entry := _tidy(piece))]
    for entry in entries:
        _refuse_file(entry, alone=len(entries) == 1)
    return entries


def _refuse_file(entry: str, alone: bool) -> None:
    """Refuse what names a file: a mistyped file would be a target that no page matches."""
    if not (_FILE.search(entry) or _is_path(entry)):
        return
    if _is_file(entry) and not alone:
        raise HoneyguideError(f"{entry!r} is one of several targets: name one file, and no more")
    raise HoneyguideError(f"there is no file {entry!r} with targets")


def _is_path(entry: str) -> bool:
    """Whether an entry is surely a path: it begins like one, or its folder exists."""
    if "://" in entry or "/" not in entry or domain_in(entry.partition("/")[0]):
        return False
    return entry[0] in "/.~" or Path(entry).parent.is_dir()


def _checked(path: Path, lines: Sequence[str]) -> Sequence[str]:
    """The lines of a list; a table is refused, as none of its lines would match a page."""
    for number, line in enumerate(lines, 1):
        cells = [cell.strip(" \"'") for cell in re.split(f"[{_DELIMITERS}]", _tidy(line))]
        if len(cells) > 1 and any(map(_is_domain_cell, cells)):
            raise HoneyguideError(
                f"line {number} of {path} has several columns: say which has the targets, by name"
                f" or number, as in targets:domains={path},column=1"
            )
    return lines


def _is_domain_cell(cell: str) -> bool:
    found = domain_in(cell)
    return bool(found) and is_surely_a_domain(found)


def _column(path: Path, lines: list[str], column: str) -> list[str]:
    """The cells of one column; the first line is a header if the column is named by it."""
    lines = [line for line in lines if not line.startswith("#")]
    if not lines:
        return []
    delimiter = max(_DELIMITERS, key=lines[0].count)
    rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    header = [cell.strip() for cell in rows[0]]
    if not column:
        if max(map(len, rows)) > 1:
            raise HoneyguideError(
                f"{path} has the columns {', '.join(header)}: say which has the targets, as in"
                f" targets:domains={path},column={header[0]}"
            )
        return [row[0] for row in rows]
    names = [name.lower() for name in header]
    if column.lower() in names:
        at, rows = names.index(column.lower()), rows[1:]
    elif column.isdigit() and 1 <= int(column) <= len(header):
        at = int(column) - 1
    else:
        raise unknown(f"column of {path}", column, header)
    return [row[at] for row in rows if at < len(row)]


def _tidy(entry: str) -> str:
    """An entry without comment, quotes and surrounding white space."""
    return re.split(r"(?:^|\s)#", entry, maxsplit=1)[0].strip().strip("\"'").strip()
