"""Memory sizes: parse and show them, measure the machine's and this process's."""

import os
import re
from pathlib import Path

from honeyguide.errors import HoneyguideError

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
LEAST_MEMORY = 512 << 20  # bytes that a crawl takes before its first page
MOST_MEMORY = 1 << 57  # bytes that 64-bit processors can address
_size = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE).fullmatch


def parse_size(text: str) -> int:
    """Parse "512M" or "1.5 GB" into bytes, capped at what 64-bit processors can address."""
    found = _size(text.strip())
    if found is None:
        raise HoneyguideError(f"{text!r} is not a size of memory: write it as 512M or 2G")
    return int(min(float(found[1]) * UNITS[found[2].upper()], MOST_MEMORY))


def check_limit(text: str) -> None:
    """Raise a HoneyguideError if a memory limit is below 512M or beyond any machine."""
    size = parse_size(text)
    if size < LEAST_MEMORY:
        raise HoneyguideError(f"{text} is too little memory for a crawl: at least 512M is needed")
    if size >= MOST_MEMORY:
        raise HoneyguideError(f"{text} is more memory than any machine has: write 512M or 2G")


def format_size(size: int) -> str:
    """Format bytes for people: 1610612736 is "1.5 GB"."""
    unit, bytes_of = next(
        (each for each in reversed(UNITS.items()) if size >= each[1]), ("", UNITS[""])
    )
    return f"{size / bytes_of:.4g} {unit}B"


def memory_size(root: Path = Path("/")) -> int | None:
    """Bytes that this process may use: the smaller of the machine's and its control group's."""
    limits = list(_group_limits(root))
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(limits, default=None)


def resident_size(root: Path = Path("/")) -> int | None:
    """Resident memory of this process in bytes; None where /proc does not exist."""
    try:
        pages = (root / "proc/self/statm").read_text().split()[1]
    except (OSError, IndexError):
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _group_limits(root: Path) -> list[int]:
    """The memory limits of this process's control groups (versions 1 and 2) and their parents."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    found: list[int] = []
    for _, controllers, name in (line.split(":", 2) for line in lines if line.count(":") >= 2):
        if controllers == "":
            found += _limits_of(root / "sys/fs/cgroup", name, "memory.max")
        elif "memory" in controllers.split(","):
            found += _limits_of(root / "sys/fs/cgroup/memory", name, "memory.limit_in_bytes")
    return found


def _limits_of(tree: Path, name: str, file: str) -> list[int]:
    group = Path(name.strip("/"))
    places = [tree / folder / file for folder in (group, *group.parents)]
    texts = [place.read_text().strip() for place in places if place.is_file()]
    return [int(text) for text in texts if text.isdigit() and int(text) < 1 << 60]
