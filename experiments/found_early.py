"""How many relevant pages runs had found within a number of pages, exactly."""

from collections.abc import Sequence

import numpy as np

from experiments.harness.ledger import Record
from experiments.harness.ratios import Interval, bootstrap
from experiments.harness.results import Results


def within(run: Record, pages: int) -> int:
    """Count the relevant pages among the first so many pages of a run."""
    return sum(place <= pages for place in run["hits"])


def found_within(results: Results, part: str, task: str, entry: str, pages: int) -> list[float]:
    """List the count of each run of an entry on a task."""
    return [float(within(run, pages)) for run in results.runs(part, task, entry)]


def mean_within(results: Results, part: str, task: str, entry: str, pages: int) -> float:
    """Return the mean count over runs; NaN without runs."""
    found = found_within(results, part, task, entry, pages)
    return float(np.mean(found)) if found else float("nan")


def ratio_within(
    results: Results, part: str, entries: Sequence[str], pages: int
) -> Interval | None:
    """Compare the first entry with the second, over the tasks that both ran."""
    counts = [
        [found_within(results, part, task, entry, pages) for entry in entries]
        for task in results.tasks(part)
    ]
    pairs = [(ours, base) for ours, base in counts if ours and base]
    return bootstrap(pairs, np.random.default_rng(0)) if pairs else None
