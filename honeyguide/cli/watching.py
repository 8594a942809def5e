"""Follow a crawl from the command line: a live view or heartbeats, a log, a file of metrics."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from honeyguide.cli.live_view import live_view
from honeyguide.cli.terminal import console
from honeyguide.errors import HoneyguideError

if TYPE_CHECKING:
    from honeyguide.storage.crawl_log import LogSettings
    from honeyguide.storage.figures import Tally

BEAT = 10.0  # seconds between two heartbeats


@dataclass(frozen=True, slots=True)
class Followed:
    """What a user says about how to follow a crawl."""

    log: "LogSettings"
    metrics: Path | None = None  # a file of Prometheus metrics
    title: str = ""  # of the live view


@contextmanager
def followed(folder: Path, tally: "Tally", how: Followed) -> Iterator[None]:
    """Show and log how far a crawl is, within a block."""
    from honeyguide.storage.crawl_log import logging_to

    screen = console(err=True)
    has_view = screen.is_terminal and not screen.is_dumb_terminal
    with ExitStack() as stack:
        stack.enter_context(logging_to(how.log, heartbeats=not has_view))
        if has_view:
            stack.enter_context(live_view(tally, how.title or str(folder)))
        stack.enter_context(_reporting(folder, tally, how.metrics))
        yield


@contextmanager
def _reporting(folder: Path, tally: "Tally", metrics: Path | None) -> Iterator[None]:
    """Log heartbeats and write the file of metrics, in a thread."""
    from honeyguide.storage.metrics import EVERY, write_metrics

    name, ended = folder.resolve().name, threading.Event()
    if metrics is not None:
        write_metrics(metrics, {name: tally.figures()})  # an error now is one before the crawl

    def beat() -> None:
        tick, seconds = min(EVERY, BEAT), 0.0
        while not ended.wait(tick):
            seconds += tick
            _write(metrics, name, tally)
            if seconds >= BEAT:
                seconds = 0.0
                _tell(tally)

    thread = threading.Thread(target=beat, name="honeyguide heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        _write(metrics, name, tally, is_running=False)


def _write(metrics: Path | None, name: str, tally: "Tally", is_running: bool = True) -> None:
    """Write the file of metrics; a crawl goes on if that fails."""
    import logging
    from dataclasses import replace

    from honeyguide.storage.crawl_log import tell
    from honeyguide.storage.metrics import write_metrics

    if metrics is None:
        return
    try:
        write_metrics(metrics, {name: replace(tally.figures(), is_running=is_running)})
    except HoneyguideError as error:
        tell("error", str(error), logging.ERROR)


def _tell(tally: "Tally") -> None:
    from dataclasses import asdict

    from honeyguide.storage.crawl_log import HEARTBEAT, tell

    figures = tally.figures()
    known = {name: value for name, value in asdict(figures).items() if name != "is_running"}
    tell(HEARTBEAT, figures.sentence(), **known)
