"""Say soon when seeds cannot be fetched, and when no host answers at all."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from honeyguide.errors import explained

if TYPE_CHECKING:
    from honeyguide.contracts import Visit
    from honeyguide.engine.loop import Crawl
    from honeyguide.storage.store import RecordingNavigator

Tell = Callable[[str], None]  # takes a sentence
MOST_SEEDS = 10  # named one by one when they fail
MOST_TRIES = 3  # of one seed that are told
MOST_LINKS = 3  # named when none answers
SILENCE = 8.0  # seconds without any answer until that is said


class SeedFailures:
    """Tells for each seed that failed why it did and whether it is tried again."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._told: list[str] = []

    def note(self, recorded: "RecordingNavigator", visit: "Visit") -> None:
        """Look at a visit that was absorbed."""
        link = visit.link
        is_seed = not link.depth and not link.source
        if not visit.failure or not is_seed or self._told.count(link.url) > MOST_TRIES:
            return
        self._told.append(link.url)
        if len(self._told) <= MOST_SEEDS:
            self._tell(f"{link.url} cannot be fetched: {_why(recorded, visit)}")
        elif len(self._told) == MOST_SEEDS + 1:
            self._tell("more seeds cannot be fetched: `honeyguide status` counts the failures")


def _why(recorded: "RecordingNavigator", visit: "Visit") -> str:
    """The failure of a seed, and when there is another try."""
    memory, why = recorded.memory, explained(visit.failure)
    if memory.is_visited(int(memory.urls.find([visit.link.url])[0])):
        return why
    wait = visit.host_delay or 0.0
    return f"{why}; trying again {f'in {wait:.0f} s' if wait >= 1 else 'soon'}"


class Silence:
    """Tells which links are waited for if nothing is answered for some seconds."""

    def __init__(self, tell: Tell, seconds: float | None = None) -> None:
        self._tell = tell
        self._seconds = SILENCE if seconds is None else seconds
        self._timer: threading.Timer | None = None

    def begin(self, crawl: "Crawl") -> None:
        """Wait for the first answer of a live crawl."""
        if not crawl.world.live:
            return
        self._timer = threading.Timer(self._seconds, self._say, (crawl.navigator,))
        self._timer.daemon = True
        self._timer.start()

    def close(self) -> None:
        """Tell nothing any more: there was an answer, or the crawl has ended."""
        if self._timer is not None:
            self._timer.cancel()

    def _say(self, recorded: "RecordingNavigator") -> None:
        links = list(recorded.leases)
        more = f" and {len(links) - MOST_LINKS} more" if len(links) > MOST_LINKS else ""
        if links:
            what = f"no answer from {', '.join(links[:MOST_LINKS])}{more}"
        else:
            what = "no host may be asked again yet, as they failed or wanted a pause,"
        self._tell(f"{what} after {self._seconds:g} s: waiting; Ctrl-C ends the crawl")
