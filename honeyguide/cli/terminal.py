"""The one way to a terminal: text from the web is shown there, never obeyed."""

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from honeyguide.text.words import printable


class PrintableStream(io.TextIOBase):
    """A text stream that escapes control characters; it offers no buffer to write past it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """That of the stream."""
        return self.stream.encoding or "utf-8"

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """That of the stream."""
        return self.stream.errors

    def write(self, text: str) -> int:
        """Write a text, with escapes for what the stream's encoding cannot say, too."""
        shown = printable(text.replace("\r\n", "\n"))  # CSV ends its lines with both
        self.stream.write(shown.encode(self.encoding, "backslashreplace").decode(self.encoding))
        return len(text)

    def flush(self) -> None:
        """Hand on what waits."""
        if not self.stream.closed:
            self.stream.flush()

    def isatty(self) -> bool:
        """Whether a person reads it."""
        return self.stream.isatty()

    def fileno(self) -> int:
        """The number of the stream's file."""
        return self.stream.fileno()

    def writable(self) -> bool:
        """Always."""
        return True


class PrintableConsole(Console):
    """A console whose own colours come through, and nothing that its texts ask for."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Escape a text before its width is measured."""
        return super().render_str(printable(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Escape the text of every segment, whatever made it."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


def console(err: bool = False, **settings: Any) -> Console:
    """A console on standard output or standard error that takes brackets for brackets."""
    stream: Any = sys.stderr if err else sys.stdout
    if isinstance(stream, PrintableStream):
        stream = stream.stream  # the console escapes: the stream would escape its colours, too
    return PrintableConsole(file=stream, markup=False, emoji=False, highlight=False, **settings)


def guard_streams() -> None:
    """Let everything that this process writes to its standard streams be escaped."""
    sys.stdout, sys.stderr = _guarded(sys.stdout), _guarded(sys.stderr)


@contextmanager
def guarded_streams() -> Iterator[None]:
    """The same until the end of a block, for streams that something else has replaced."""
    before = sys.stdout, sys.stderr
    guard_streams()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _guarded(stream: Any) -> Any:
    is_safe = stream is None or isinstance(stream, PrintableStream)
    return stream if is_safe else PrintableStream(stream)
