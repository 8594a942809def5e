"""Say what was found in a sentence that is made from the results."""

from collections.abc import Sequence

from experiments.harness.report_page import cell
from experiments.harness.results import Results


def told(sentence: str, *figures: str) -> str:
    """Return the sentence with the figures in its braces; "" if one of them is missing."""
    return sentence.format(*figures) if all(figures) else ""


def times(
    results: Results, part: str, entries: Sequence[str], base: str, what: str = "relevant"
) -> str:
    """List how many times the base's figure each entry has, with 95 % intervals; "" without."""
    found = {entry: results.interval(part, entry, base, what) for entry in entries}
    return ", ".join(f"{entry} {cell(ratio)}" for entry, ratio in found.items() if ratio)
