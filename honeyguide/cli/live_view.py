"""The live view of a crawl on a terminal: rate, harvest, hosts, latest relevant pages, failures."""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from honeyguide.cli.progress import duration
from honeyguide.cli.terminal import console, guarded_streams
from honeyguide.text.words import counted, printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from honeyguide.storage.figures import Figures, Tally

FEWEST_LINES = 9  # of a terminal that has room for tables
FEWEST_COLUMNS = 60
MOST_ROWS = 12  # of a table
SECOND = 1.0  # seconds between two pictures; each takes about 5 ms
BARS = "▁▂▃▄▅▆▇█"


@contextmanager
def live_view(tally: "Tally", title: str) -> Iterator[None]:
    """Show how far a crawl is within a block; what is printed meanwhile scrolls above."""
    from rich.live import Live

    screen, begin = console(err=True), monotonic()
    view = View(tally, title, screen, lambda: monotonic() - begin)
    live = Live(
        get_renderable=view.render,
        console=screen,
        refresh_per_second=1 / SECOND,
        transient=True,
        # what goes into a file or a pipe must not go to the terminal
        redirect_stdout=sys.stdout.isatty(),
    )
    with live, guarded_streams():  # it replaces the standard streams
        yield


class View:
    """Draws the figures of a crawl to fit the terminal as it is now."""

    def __init__(
        self, tally: "Tally", title: str, screen: "Console", seconds: Callable[[], float]
    ) -> None:
        self._tally = tally
        self._title = printable(title)
        self._screen = screen
        self._seconds = seconds  # since the beginning
        self._size: tuple[int, int] | None = None  # of the last picture

    def render(self) -> "RenderableType":
        """The picture now; one line where there is no room for more."""
        from rich.console import Group

        figures, (width, height) = self._tally.figures(), self._size_now()
        if height < FEWEST_LINES or width < FEWEST_COLUMNS:
            return Group(_line(figures.sentence()))
        rows = min(height - 7, MOST_ROWS)
        return Group(
            self._head(figures, width),
            _progress(figures, self._seconds(), width),
            self._harvest(figures, width),
            _line(""),
            self._tables(rows, width),
            _line(_failures(figures), "yellow"),
        )

    def _size_now(self) -> tuple[int, int]:
        """Columns and lines; what a terminal of another size has wrapped is cleared."""
        from rich.control import Control

        size = self._screen.size
        if self._size not in (None, size):
            self._screen.control(Control.clear(), Control.home())
        self._size = size
        return size

    def _head(self, figures: "Figures", width: int) -> "RenderableType":
        state = "paused" if figures.is_paused else "running"
        time = f"{state} {duration(self._seconds())}"
        room = max(width - len(time) - 1, 0)
        return _line(f"{_cut(self._title, room):<{room}} {time}", "bold")

    def _harvest(self, figures: "Figures", width: int) -> "RenderableType":
        brought = f"{figures.relevant:,} relevant, {figures.harvest:.0%} of the last 100 "
        others = (
            f" {figures.waiting:,} waiting, {counted(figures.hosts, 'host')},"
            f" {figures.in_flight} in flight, {figures.memory >> 20:,} MB"
        )
        room = width - len(brought) - len(others)
        shares = self._tally.harvests()
        return _line(brought + sparkline(shares[-room:] if room > 0 else []) + others, "green")

    def _tables(self, rows: int, width: int) -> "RenderableType":
        from rich.table import Table

        beside = Table.grid(padding=(0, 3), expand=True)
        beside.add_column(width=min(44, width // 2))
        beside.add_column(ratio=1)
        beside.add_row(self._hosts(rows), self._pages(rows))
        return beside

    def _hosts(self, rows: int) -> "RenderableType":
        from rich.table import Table

        table = Table(box=None, padding=(0, 1, 0, 0), expand=True, header_style="dim")
        table.add_column("hosts", ratio=1, no_wrap=True, overflow="ellipsis")
        for name in ("pages", "relevant"):
            table.add_column(name, justify="right", no_wrap=True)
        for host, brought in self._tally.top_hosts(rows - 1):
            table.add_row(_text(host), f"{brought.pages:,}", f"{brought.relevant:,}")
        return table

    def _pages(self, rows: int) -> "RenderableType":
        from rich.table import Table

        table = Table(box=None, padding=0, expand=True, header_style="dim")
        table.add_column("latest relevant pages", ratio=1, no_wrap=True, overflow="ellipsis")
        for title, url in list(self._tally.last_relevant)[: -rows - 1 : -1][: rows - 1]:
            table.add_row(_text(f"{title or '(no title)'}  {url}"))
        return table


def _progress(figures: "Figures", seconds: float, width: int) -> "RenderableType":
    """A bar, the count and the rate, and how long it will take at this rate."""
    left = figures.budget - figures.pages
    ends = f", {duration(left / figures.rate)} left" if figures.rate and left > 0 else ""
    said = f" {figures.pages:,} of {figures.budget:,} pages, {figures.rate:.1f} a second{ends}"
    room = max(width - len(said), 0)
    done = math.floor(room * min(figures.pages / max(figures.budget, 1), 1.0))
    return _line(f"{'━' * done}{'─' * (room - done)}{said}", "cyan")


def _failures(figures: "Figures") -> str:
    from honeyguide.storage.figures import failed_sentence

    return failed_sentence(figures.failures)


def _line(said: str, style: str = "") -> "RenderableType":
    from rich.text import Text

    return Text(printable(said), style, no_wrap=True, overflow="ellipsis", end="\n")


def _text(said: str) -> "RenderableType":
    from rich.text import Text

    return Text(printable(said.replace("\n", " ")), no_wrap=True, overflow="ellipsis")


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: max(room - 1, 0)] + "…"


def sparkline(shares: Sequence[float]) -> str:
    """Shares as bars, of which the highest is the best share, or one in five if all are lower."""
    best = max([*shares, 0.2])
    return "".join(BARS[round(share / best * (len(BARS) - 1))] for share in shares)
