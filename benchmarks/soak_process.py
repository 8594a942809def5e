"""The command line in processes that begin at once, say what they do, and can be killed there.

A process is forked from one that has imported everything, so it begins in milliseconds.
"""

import functools
import importlib
import os
import resource
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

MIN_VISITS = 60  # between two snapshots: most crawls pass several
LONGEST = 600.0  # seconds until a process is given up that does not end by itself
# what is worth being killed in: module, class, function, and what it is called here; a phase may
# be found in several places
PHASES = (
    ("honeyguide.storage.crawl_folder", "", "create_crawl", "begin"),
    ("honeyguide.storage.store", "Store", "__init__", "open"),
    ("honeyguide.storage.store", "Store", "replay", "replay"),
    ("honeyguide.storage.store", "Store", "snapshot", "snapshot"),
    ("honeyguide.storage.ledger", "Ledger", "snapshot", "adopt"),
    ("honeyguide.storage.snapshots", "Snapshots", "_drop_older", "adopt"),
    ("honeyguide.storage.ledger", "Ledger", "commit", "commit"),
    ("honeyguide.storage.store", "Store", "close", "close"),
    ("honeyguide.storage.crawl_folder", "", "save_policy", "policy"),
)
_marks = -1  # where this process says what it does
_offset = 0.0  # seconds that the clock is wrong
_true_time = time.time


def prepare() -> list[str]:
    """Import everything and have it say what it does; returns the phases that do not exist."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command `honeyguide` does
    time.time = lambda: _true_time() + _offset  # before anybody takes it by name
    found = {phase for *place, phase in PHASES if _marked(*place, phase)}
    snapshots = importlib.import_module("honeyguide.storage.snapshots")
    assert isinstance(snapshots.MIN_VISITS, int)
    snapshots.MIN_VISITS = MIN_VISITS
    importlib.import_module("honeyguide.cli")
    importlib.import_module("honeyguide.storage.exports")
    importlib.import_module("honeyguide.registry").make("encoder", "wordllama")  # read once
    return sorted({phase for *_, phase in PHASES} - found)


def _marked(module: str, owner: str, name: str, phase: str) -> bool:
    place = importlib.import_module(module)
    place = getattr(place, owner, None) if owner else place
    original = getattr(place, name, None)
    if original is None:
        return False

    @functools.wraps(original)
    def marking(*arguments: Any, **named: Any) -> Any:
        _mark(f"+{phase}")
        try:
            return original(*arguments, **named)
        finally:
            _mark(f"-{phase}")
            if phase == "replay":
                _mark(f"forced {arguments[0].differing}")

    setattr(place, name, marking)
    return True


def _mark(what: str) -> None:
    if _marks >= 0:
        os.write(_marks, f"{time.monotonic()} {what}\n".encode())


class Running:
    """A process, what it does, and what it has said."""

    def __init__(self, pid: int, marks: int, said: Path) -> None:
        self.pid = pid
        self.forced = 0  # choices that its replay had to force
        self.lengths: dict[str, float] = {}  # seconds, by phase
        self._marks = marks
        self._said = said
        self._begun: dict[str, float] = {}
        self._rest = b""
        self._is_over = False

    def reaches(self, phase: str, occurrence: int = 1) -> bool:
        """Whether a phase begins, for the n-th time, before the process ends."""
        deadline = time.monotonic() + LONGEST
        while not self._is_over and time.monotonic() < deadline:
            for what in self._news(deadline):
                occurrence -= what == f"+{phase}"
                if not occurrence:
                    return True
        return False

    def lasts(self, seconds: float) -> bool:
        """Whether the process is still there after so many seconds."""
        deadline = time.monotonic() + seconds
        while not self._is_over and time.monotonic() < deadline:
            self._news(deadline)
        return not self._is_over

    def kill(self) -> None:
        """kill -9."""
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> tuple[int, str]:
        """Its exit code, negative when it was killed, and all that it said."""
        self.lasts(LONGEST)
        if not self._is_over:
            self.kill()
        os.close(self._marks)
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return code, self._said.read_text(errors="replace")

    def _news(self, deadline: float) -> list[str]:
        patience = max(0.0, deadline - time.monotonic())
        if not select.select([self._marks], [], [], patience)[0]:
            return []
        data = os.read(self._marks, 65_536)
        self._is_over = not data
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [self._note(*line.decode().split(" ", 1)) for line in lines]

    def _note(self, when: str, what: str) -> str:
        if what.startswith("+"):
            self._begun[what[1:]] = float(when)
        elif what.startswith("-"):
            self.lengths[what[1:]] = float(when) - self._begun.get(what[1:], float(when))
        else:
            self.forced += int(what.split()[1])
        return what


def start(
    arguments: Sequence[str],
    said: Path,
    max_file_size: int = 0,  # bytes; 0: the disk has room
    offset: float = 0.0,  # seconds that its clock is wrong
    jump: tuple[float, float] = (0.0, 0.0),  # after so many seconds, the clock is wrong by as many
) -> Running:
    """Run the command line in a process of its own."""
    ours, theirs = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if not pid:
        os.close(ours)
        _obey(theirs, said, max_file_size, offset, jump, lambda: _run(arguments))
    os.close(theirs)
    return Running(pid, ours, said)


def _obey(
    marks: int,
    said: Path,
    max_file_size: int,
    offset: float,
    jump: tuple[float, float],
    run: Callable[[], int],
) -> None:
    global _marks, _offset
    _marks, _offset = marks, offset
    code = 70
    try:
        file = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        if max_file_size:
            limit = max_file_size, resource.RLIM_INFINITY
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        if jump[0]:
            timer = threading.Timer(jump[0], _be_wrong_by, (jump[1],))
            timer.daemon = True
            timer.start()
        code = run()
    finally:
        os._exit(code)


def _be_wrong_by(seconds: float) -> None:
    global _offset  # noqa: PLW0603 this process is its own
    _offset = seconds


def _run(arguments: Sequence[str]) -> int:
    from honeyguide.cli import main  # noqa: PLC0415 after time.time was replaced

    sys.argv = ["honeyguide", *arguments]
    code: Any = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 70
    for file in (sys.stdout, sys.stderr):
        file.flush()
    return code if isinstance(code, int) else 0
