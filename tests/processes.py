"""Check and wait for processes."""

import time
from collections.abc import Sequence
from pathlib import Path


def runs(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def end(pids: Sequence[int], seconds: float = 60.0) -> bool:
    """Wait until all processes have ended; return whether they did in time."""
    deadline = time.monotonic() + seconds
    while any(map(runs, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(runs, pids))
