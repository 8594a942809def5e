"""Escape control characters in everything that is printed to a terminal."""

import io
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from honeyguide.text.words import printable

if TYPE_CHECKING:
    from rich.console import Console


class PrintableStream(io.TextIOBase):
    """A text stream that escapes control characters; it has no buffer that would bypass this."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Same as the stream's."""
        return self.stream.encoding or "utf-8"

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """Same as the stream's."""
        return self.stream.errors

    def write(self, text: str) -> int:
        """Write a text; escape what the encoding of the stream cannot express, too."""
        shown = printable(text.replace("\r\n", "\n"))  # CSV ends its lines with both
        self.stream.write(shown.encode(self.encoding, "backslashreplace").decode(self.encoding))
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        if not self.stream.closed:
            self.stream.flush()

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self.stream.isatty()

    def fileno(self) -> int:
        """Return the file descriptor of the stream."""
        return self.stream.fileno()

    def writable(self) -> bool:
        """Always."""
        return True


def console(err: bool = False, **settings: Any) -> "Console":
    """Return a console on standard output or standard error, without markup in brackets."""
    from honeyguide.cli.printable_console import PrintableConsole

    stream: Any = sys.stderr if err else sys.stdout
    if isinstance(stream, PrintableStream):
        stream = stream.stream  # the console escapes: the stream would escape its colours, too
    return PrintableConsole(file=stream, markup=False, emoji=False, highlight=False, **settings)


def guard_streams() -> None:
    """Escape everything that this process writes to its standard streams."""
    sys.stdout, sys.stderr = _guarded(sys.stdout), _guarded(sys.stderr)


class _Printed(logging.Handler):
    """Prints what honeyguide logs like its other sentences."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a message to standard error, whatever that is now."""
        print(f"honeyguide: {record.getMessage()}", file=sys.stderr, flush=True)  # noqa: T201


def print_warnings() -> None:
    """Print warnings of the package to standard error, one line each."""
    logging.getLogger("honeyguide").addHandler(_Printed(logging.WARNING))


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Escape the standard streams within a block, whatever has replaced them."""
    before = sys.stdout, sys.stderr
    guard_streams()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _guarded(stream: Any) -> Any:
    is_safe = stream is None or isinstance(stream, PrintableStream)
    return stream if is_safe else PrintableStream(stream)
