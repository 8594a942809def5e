"""The log of a crawl: one line for each event that an operator cares about, as text or JSON."""

import json
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from honeyguide.errors import HoneyguideError
from honeyguide.text.words import printable

LOG = logging.getLogger("honeyguide.crawl")
LOG.addHandler(logging.NullHandler())  # users of Python add handlers of their own
LEVELS = ("debug", "info", "warning", "error")
FORMATS = ("text", "json")
FILE_BYTES = 10_000_000  # of a log file before the next one is begun
KEPT_FILES = 5  # older log files that are kept
HEARTBEAT = "heartbeat"  # the event of the line that comes every ten seconds


def tell(event: str, message: str, level: int = logging.INFO, **fields: Any) -> None:
    """Log an event of a crawl: a name that programs look for, a sentence, and its figures."""
    if LOG.isEnabledFor(level):
        LOG.log(level, "%s", message, extra={"event": event, "fields": fields})


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What a user says about the log."""

    level: str = ""  # of LEVELS; empty: heartbeats alone, or with a file, info
    format: str = "text"  # of FORMATS
    file: Path | None = None  # None: standard error

    def __post_init__(self) -> None:
        for what, value, known in (("level", self.level, LEVELS), ("format", self.format, FORMATS)):
            if value and value not in known:
                raise HoneyguideError(f"a log {what} is {', '.join(known)}, not {value!r}")

    @property
    def shows_events(self) -> bool:
        """Whether the user asked for a log, not only for heartbeats."""
        return bool(self.level or self.file)


@contextmanager
def logging_to(settings: LogSettings, heartbeats: bool = True) -> Iterator[None]:
    """Write the log within a block; without a level or a file, only `heartbeats` are written."""
    handler = _handler(settings)
    handler.setFormatter(_Json() if settings.format == "json" else _Text(settings.shows_events))
    if not settings.shows_events:
        handler.addFilter(lambda record: heartbeats and event_of(record) == HEARTBEAT)
    before = LOG.level, LOG.propagate
    LOG.setLevel((settings.level or "info").upper())
    LOG.propagate = False  # the sentences of other loggers are printed as they were
    LOG.addHandler(handler)
    try:
        yield
    finally:
        LOG.removeHandler(handler)
        handler.close()
        LOG.level, LOG.propagate = before


def event_of(record: logging.LogRecord) -> str:
    """The event that a record tells of; "log" if it is another library's."""
    return str(getattr(record, "event", "log"))


class _Standard(logging.Handler):
    """Writes to standard error, whatever that is now: a live view replaces it."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr, flush=True)  # noqa: T201


class _Text(logging.Formatter):
    """A line such as "2026-01-01T00:00:00Z INFO start crawl begins agent=guide"."""

    def __init__(self, is_whole: bool) -> None:
        super().__init__()
        self._is_whole = is_whole

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record; control characters are escaped."""
        if not self._is_whole:
            return printable(record.getMessage())
        fields = {} if event_of(record) == HEARTBEAT else getattr(record, "fields", {})
        said = "".join(f" {name}={_word(value)}" for name, value in fields.items())
        line = f"{_moment(record)} {record.levelname} {event_of(record)}: {record.getMessage()}"
        return printable((line + said).replace("\n", " "))


class _Json(logging.Formatter):
    """A JSON object a line: time, level, event, message and the figures of the event."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record; what is not ASCII is escaped."""
        known = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "event": event_of(record),
            "message": record.getMessage(),
        }
        return json.dumps({**getattr(record, "fields", {}), **known}, default=str)


def _handler(settings: LogSettings) -> logging.Handler:
    if settings.file is None:
        return _Standard()
    try:
        return RotatingFileHandler(
            settings.file,
            maxBytes=FILE_BYTES,
            backupCount=KEPT_FILES,
            encoding="utf-8",
            errors="backslashreplace",
        )
    except OSError as error:
        raise HoneyguideError(f"cannot write {settings.file}: {error.strerror}") from None


def _moment(record: logging.LogRecord) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + (
        f".{int(record.msecs):03}Z"
    )


def _word(value: Any) -> str:
    """A figure as one word; texts with spaces are quoted."""
    if isinstance(value, float):
        return f"{value:.4g}"
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return json.dumps(text, ensure_ascii=False) if not text or " " in text else text
