"""Restore a crawl that does not run, to look at it; nothing is written."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import zstandard

from honeyguide.disk.serialise import DamagedError, text_to_bytes
from honeyguide.engine.navigator import Navigator
from honeyguide.errors import HoneyguideError
from honeyguide.registry import only_outside
from honeyguide.storage import recent
from honeyguide.storage.database import CHECKED, about, count_rows, format_of, reading
from honeyguide.storage.recent import Recent, absorbed_from
from honeyguide.storage.replay import Event, Journal, Replay
from honeyguide.storage.snapshots import Snapshots
from honeyguide.storage.stored_plan import (
    Warn,
    announced_outside,
    ignore_warning,
    stored_plan,
    with_own_files,
)

_MISFITS = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, DamagedError)
_CLOCK = 1e9  # seconds: a live crawl's clock counts from 1970, a simulated one from its start
_compress = zstandard.ZstdCompressor(level=1).compress


class Restored(NamedTuple):
    """A crawl as it stands."""

    navigator: Navigator
    now: float  # seconds on the crawl's own clock


def restored(folder: Path, warn: Warn = ignore_warning) -> Restored:
    """The crawl in a folder, from its newest snapshot and the events since."""
    plan = with_own_files(folder, stored_plan(folder))
    with only_outside(announced_outside(plan, warn)):
        navigator = plan.open().navigator()
    try:
        now = _replay(folder, navigator)
    except _MISFITS as error:
        raise HoneyguideError(
            f"{folder} cannot be looked at: its data does not fit its settings"
            f" ({type(error).__name__}: {error})"
        ) from error
    return Restored(navigator, max(now, time.time()) if now > _CLOCK else now)


def _replay(folder: Path, navigator: Navigator) -> float:
    with reading(folder) as database:
        database.execute("BEGIN")  # one consistent view
        if format_of(database) < CHECKED:
            raise HoneyguideError(
                f"{folder} is of an older version: 'honeyguide resume {folder}' brings it up to"
                " date, then it can be looked at"
            )
        journal, replay = Journal(database, folder), Replay(navigator)
        events, _ = count_rows(database)
        journal.last, journal.unchecked = events, about(database)["unchecked"]
        judged, change = journal.last_judge()
        n, now = 0, 0.0
        saved = Snapshots(folder, database).newest()
        if saved is not None and saved[1] >= judged:
            state, n, now = saved
            navigator.load(state)
        for event in journal.events(n):
            if event.n < judged:
                replay.apply_anew(event, change.verdicts)
            else:
                replay.apply(event)
            now = event.now
    for event in _recent(folder, events):
        replay.apply(event)
        now = event.now
    return now


def _recent(folder: Path, after: int) -> Iterator[Event]:
    """The events of a killed process that its database does not have."""
    for event in recent.read(folder, after):
        if not recent.is_valid(event):
            return
        yield _event(event)


def _event(event: Recent) -> Event:
    n, kind, now, rest = event
    if kind == "visit":
        visit = absorbed_from(rest)
        page = visit.visit.page
        text = _compress(text_to_bytes(page.text)) if page else None
        return Event(n, kind, now, None, _compress(visit.packed), text)
    url = str(rest[0]) if kind in ("take", "bound", "order") else None
    data = _compress(rest[1]) if kind == "order" else None
    return Event(n, kind, now, url, data, None)
