"""Pages named on the command line: one by one, with commas between them, or in a file."""

import re
from collections.abc import Iterable
from pathlib import Path

from honeyguide.cli.seed_tables import is_table, names_in_table
from honeyguide.disk.line_files import STANDARD_INPUT, read_lines
from honeyguide.errors import HoneyguideError

# endings of files that are no top-level domains
LIST_ENDINGS = (
    ".txt",
    ".csv",
    ".tsv",
    ".lst",
    ".list",
    ".urls",
    ".json",
    ".jsonl",
    ".opml",
)
_comment = re.compile(r"(?:^|\s)#.*").sub  # a # within a URL begins its fragment
_before_url = re.compile(r"\s*,\s*(?=https?://)").split


def read_names(said: Iterable[str], world: str) -> tuple[str, ...]:
    """Names of pages as they are, and those in files: one a line (# begins a comment), or a table.

    On the live web a name that is a file is one; elsewhere pages may be called like files, so that
    only the ending of a name tells.
    """
    is_live = world.partition(":")[0] == "web"
    return tuple(name for each in said for name in _names(each.strip(), is_live))


def _names(said: str, is_live: bool) -> list[str]:
    if said.startswith("hubs:"):
        return [_hubs(said.removeprefix("hubs:").strip())]
    if Path(said) == STANDARD_INPUT or _is_file(said, is_live):
        return names_in_table(Path(said)) if is_table(said) else _names_in(Path(said))
    path, _, column = said.rpartition(":")
    if is_table(path) and _is_file(path, is_live):
        return names_in_table(Path(path), column)
    if is_live and _should_be_file(said):
        raise HoneyguideError(f"there is no file {said} to read; a URL begins with https://")
    return [name for each in _before_url(said) for name in (_hosts(each) if is_live else [each])]


def _hubs(listed: str) -> str:
    """The hub pages of a file or a list, as one seed; none of them need be in the world."""
    from honeyguide.worlds.hubs import BETWEEN, NAME

    return f"{NAME}:{BETWEEN.join(_names(listed, is_live=True))}"


def _is_file(said: str, is_live: bool) -> bool:
    is_named_so = is_live or said.lower().endswith(LIST_ENDINGS)
    try:
        return bool(said) and is_named_so and Path(said).is_file()
    except (OSError, ValueError):  # too long for a file's name, or a null character
        return False


def _should_be_file(said: str) -> bool:
    """Whether a name is the path of a text file, rather than a URL without its scheme."""
    host, slash, _ = said.partition("/")
    is_path = not slash or host in (".", "..", "~") or "." not in host
    return "://" not in said and is_path and said.lower().endswith(LIST_ENDINGS)


def _names_in(path: Path) -> list[str]:
    found = [name for line in read_lines(path) if (name := _comment("", line).strip())]
    if not found:
        raise HoneyguideError(f"{path} has comments and no page to start from")
    return found


def _hosts(said: str) -> list[str]:
    """Split where a host has a comma, which no host can have; in a path it may be part of a URL."""
    scheme, separator, rest = said.partition("://") if "://" in said else ("", "", said)
    host, comma, _ = re.split(r"[/?#]", rest, maxsplit=1)[0].partition(",")
    if not comma:
        return [said] if said else []
    others = rest[len(host) + 1 :].strip()
    return [f"{scheme}{separator}{host.strip()}", *_hosts(others)]
