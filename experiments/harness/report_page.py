"""Build a report in Markdown from headings, paragraphs, tables and pictures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.figure import Figure

from experiments.harness.ratios import Interval


@dataclass
class Page:
    """A Markdown page and the folder of its pictures."""

    folder: Path
    _blocks: list[str] = field(default_factory=list)

    def heading(self, text: str) -> None:
        """Add the heading of a section."""
        self._blocks.append(f"## {text}")

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self._blocks.append(text)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Add a table; columns of numbers are right-aligned."""
        numeric = [all(not isinstance(row[i], str) for row in rows) for i in range(len(columns))]
        line = "|".join("---:" if is_number else "---" for is_number in numeric)
        body = "\n".join(f"| {' | '.join(map(cell, row))} |" for row in rows)
        self._blocks.append(f"| {' | '.join(columns)} |\n|{line}|\n{body}")

    def figure(self, name: str, caption: str, figure: Figure) -> None:
        """Save a picture beside the page and show it."""
        figure.savefig(self.folder / name, format="png", dpi=70)
        self._blocks.append(f"![{caption}]({name})")

    def markdown(self) -> str:
        """Return the whole page."""
        return "\n\n".join(self._blocks) + "\n"


def cell(value: object) -> str:
    """Format a value for a table; a dash for None and NaN."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, Interval):
        known = value.low < value.high  # one run of one task has no interval
        return f"{value.ratio:.2f}" + f" ({value.low:.2f} to {value.high:.2f})" * known
    if isinstance(value, float):
        return (
            f"{value:,.0f}"
            if abs(value) >= 100
            else f"{value:.2f}"
            if abs(value) < 10
            else f"{value:.1f}"
        )
    return f"{value:,}" if isinstance(value, int) else str(value)


def percent(share: float) -> str:
    """Format a share as a percentage; a dash for NaN."""
    return "–" if math.isnan(share) else f"{share:.0%}"
