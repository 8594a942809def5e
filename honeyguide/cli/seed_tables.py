"""Seeds in files of tables: a column of CSV, a key of JSON lines, the sites of an OPML file."""

import csv
import html
import io
import json
import re
from pathlib import Path

from honeyguide.disk.line_files import read_text
from honeyguide.errors import HoneyguideError

TABLES = (".csv", ".tsv", ".jsonl", ".json", ".opml")
# columns that hold addresses: the first of these that a table has is read
COLUMNS = "url link href website homepage web site address domain".split()
_outlines = re.compile(r"<outline\b[^>]*>", re.IGNORECASE).findall
_attributes = re.compile(
    r"""\b(htmlUrl|xmlUrl)\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE
).findall
_is_address = re.compile(r"\s*(\w+://\S+|[\w-]+(\.[\w-]+)+(/\S*)?)\s*").fullmatch


def is_table(name: str) -> bool:
    """Whether a file's name says that it is a table of seeds."""
    return name.lower().endswith(TABLES)


def names_in_table(path: Path, column: str = "") -> list[str]:
    """The pages that a table names; `column` says where, if its name is not a usual one."""
    text, ending = read_text(path), path.suffix.lower()
    if ending == ".opml":
        found = _sites(text)
    elif ending in (".jsonl", ".json"):
        found = [_value(path, row, column) for row in _rows(path, text)]
    else:
        found = _cells(path, text, column)
    names = [name.strip() for name in found if name.strip()]
    if not names:
        raise HoneyguideError(f"{path} names no page to start from")
    return names


def _cells(path: Path, text: str, column: str) -> list[str]:
    separator = max(",;\t", key=text.partition("\n")[0].count)
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=separator) if any(row)]
    if not rows:
        return []
    head = [cell.strip() for cell in rows[0]]
    names = [name.lower() for name in head]
    if column:
        place, first = head.index(_known(path, head, column)), 1
    elif usual := [names.index(name) for name in COLUMNS if name in names]:
        place, first = usual[0], 1
    else:  # no head line: the first column with addresses
        place, first = next((n for n, cell in enumerate(head) if _is_address(cell)), 0), 0
    return [row[place] for row in rows[first:] if len(row) > place]


def _rows(path: Path, text: str) -> list[object]:
    """The rows of one JSON list, or of JSON lines."""
    if text.lstrip().startswith("["):
        return list(_parsed(text, str(path)))
    lines = enumerate(text.splitlines(), 1)
    return [_parsed(line, f"line {n} of {path}") for n, line in lines if line.strip()]


def _parsed(text: str, where: str) -> list[object]:
    try:
        parsed: list[object] = json.loads(text)
    except (ValueError, RecursionError):
        raise HoneyguideError(f"{where} is not JSON") from None
    return parsed


def _value(path: Path, row: object, column: str) -> str:
    """A row's page: the row itself, or what an object has in its column."""
    if isinstance(row, str):
        return row
    if not isinstance(row, dict):
        raise HoneyguideError(f"{path} has {str(row)[:40]!r} where a page or an object should be")
    keys = {str(key).lower(): key for key in row}
    usual = next((keys[name] for name in COLUMNS if name in keys), "")
    value = row.get(_known(path, list(row), column) if column else usual, "")
    return value if isinstance(value, str) else ""


def _known(path: Path, columns: list[str], column: str) -> str:
    if column not in columns:
        raise HoneyguideError(f"{path} has no column {column!r}; it has {', '.join(columns)}")
    return column


def _sites(text: str) -> list[str]:
    """The site of each outline; of one that names its feed alone, the start page of the host."""
    found = []
    for outline in _outlines(text):
        given = {name.lower(): html.unescape(a or b) for name, a, b in _attributes(outline)}
        feed = re.match(r"https?://[^/]+", given.get("xmlurl", ""))
        found.append(given.get("htmlurl") or (f"{feed[0]}/" if feed else ""))
    return list(dict.fromkeys(found))
